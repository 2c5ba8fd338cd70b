# Thin: the work is CMake's. `make run` and `make test` first install the Debian packages that are missing, and say so.
BUILD := build/release
MODEL := tests/models/decoder.decomposed.pt2

.PHONY: run test test-long test-sanitized test-bridge prove build bench format lint install clean

run: build
	@.ci/demo $(BUILD)/writeback $(MODEL)

test: packages
	@cmake --preset release
	@cmake --build $(BUILD)
	@ctest --test-dir $(BUILD) --output-on-failure -j $$(nproc) -E Long

# Minutes and more each: the larger bounded theorems, searches for refuted programs.
test-long: test
	@ctest --test-dir $(BUILD) --output-on-failure -R Long

# What reads, places and judges, under the address and undefined-behaviour sanitizers.
SANITIZED := ref_graph_test ref_test impl_test impl_import_test impl_plan_test corpus_test
test-sanitized: packages
	@cmake --preset asan-ubsan
	@cmake --build build/asan-ubsan --target $(SANITIZED)
	@for t in $(SANITIZED); do build/asan-ubsan/tests/$$t --gtest_brief=1 --gtest_filter='-*Long*' || exit 1; done

# The lemmas, and every program of up to six nodes: four minutes.
prove: build
	@$(BUILD)/writeback prove --bound 6

test-bridge:
	@impl/python/test_bridge.sh

build: packages
	@cmake --preset release
	@cmake --build $(BUILD) --target writeback

.PHONY: packages
packages:
	@.ci/install-packages build

bench:
	@.ci/install-packages build bench
	@cmake --preset bench
	@cmake --build build/bench
	@for b in build/bench/tests/bench/*_bench; do $$b $(BENCH_FLAGS) || exit 1; done

format:
	@.ci/install-packages lint
	@git ls-files '*.cpp' '*.h' | xargs clang-format-19 -i

lint:
	@.ci/install-packages build lint
	@cmake --preset clang -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
	@git ls-files '*.cpp' '*.h' | xargs clang-format-19 --dry-run -Werror
	@git ls-files 'ref/*.cpp' 'impl/*.cpp' 'fuzz/*.cpp' 'proofs/*.cpp' | xargs -P $$(nproc) -n 4 clang-tidy-19 --quiet -p build/clang

install: build
	@cmake --build $(BUILD)
	@cmake --install $(BUILD)

clean:
	@rm -rf build
