// Runs a target on files and on the files of folders, for where there is no engine: the seed corpus as a test, a finding under a
// debugger, AFL++ with `@@`.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz/targets/target.h"

namespace {

bool run(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::fprintf(stderr, "%s cannot be read\n", path.c_str()), false;
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 0;
  bool good = argc > 1;
  if (!good) std::fprintf(stderr, "usage: %s FILE-OR-FOLDER...\n", argv[0]);
  for (int i = 1; i < argc; ++i) {
    std::vector<std::filesystem::path> files{argv[i]};
    if (std::filesystem::is_directory(argv[i])) {
      const std::filesystem::directory_iterator folder(argv[i]);
      files.assign(begin(folder), end(folder));
      std::sort(files.begin(), files.end());
    }
    for (const auto& file : files) good = run(file) && good, ++count;
  }
  std::printf("%zu inputs\n", count);
  return good ? 0 : 1;
}
