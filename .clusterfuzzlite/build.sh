#!/bin/bash -eu
# As OSS-Fuzz wants it: targets, seed corpora and options into $OUT, with the compiler, flags and engine of the environment.
cmake -S . -B "$WORK/build" -G Ninja -DCMAKE_BUILD_TYPE=None -DWRITEBACK_FUZZERS=ON -DWRITEBACK_TESTS=OFF \
  -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_CXX_FLAGS="$CXXFLAGS"
for target in placement checker text json archive; do
  ninja -C "$WORK/build" "fuzz_$target"
  cp "$WORK/build/fuzz_$target" "$OUT/"
  printf '[libfuzzer]\nmax_len = 16384\n' > "$OUT/fuzz_$target.options"
done
# The corpus is kept as programs: every target reads or refuses their text.
for target in placement checker text; do
  zip -qj "$OUT/fuzz_${target}_seed_corpus.zip" fuzz/corpus/*.txt
done
