#!/bin/bash -eu
# As OSS-Fuzz wants it: targets, seed corpora and options into $OUT, with the compiler, flags and engine of the environment ($CC,
# $CXX, $CFLAGS, $CXXFLAGS, $LIB_FUZZING_ENGINE, $WORK). What runs them has nothing installed: they bring their libraries along.
# The distribution's C++ libraries are built with libstdc++, so the targets are too.
CXXFLAGS="${CXXFLAGS//-stdlib=libc++/}"
targets="placement checker memory text json archive"

cmake -S . -B "$WORK/build" -G Ninja -DCMAKE_BUILD_TYPE=None -DWRITEBACK_FUZZERS=ON -DWRITEBACK_TESTS=OFF \
  -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_C_FLAGS="$CFLAGS" -DCMAKE_CXX_FLAGS="$CXXFLAGS" \
  -DCMAKE_BUILD_RPATH='$ORIGIN/lib' -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags
mkdir -p "$OUT/lib"
for target in $targets; do
  cmake --build "$WORK/build" --target "fuzz_$target"
  cp "$WORK/build/fuzz_$target" "$OUT/"
  ldd "$WORK/build/fuzz_$target" | awk '$3 ~ "^/" && $1 !~ /^(libc|libm|libdl|librt|libpthread|libresolv)\.so/ {print $3}' |
    xargs cp -Lt "$OUT/lib"
  printf '[libfuzzer]\nmax_len = 16384\n' > "$OUT/fuzz_$target.options"
done

# The corpus is kept as programs. The readers of archives and of JSON begin with the small ones of the tests.
for target in placement checker memory text; do
  zip -qj "$OUT/fuzz_${target}_seed_corpus.zip" fuzz/corpus/*.txt
done
find tests/models -name '*.pt2' -size -16k | xargs zip -qj "$OUT/fuzz_archive_seed_corpus.zip"
mkdir -p "$WORK/json"
for archive in tests/models/*.decomposed.pt2; do
  unzip -p "$archive" '*/models/model.json' > "$WORK/json/$(basename "$archive" .pt2).json"
done
find "$WORK/json" -name '*.json' -size -16k | xargs zip -qj "$OUT/fuzz_json_seed_corpus.zip"
