// Tells formats apart by their content and fetches the bytes of files. A regular file is mapped, not read: of an archive with
// gigabytes of weights only the few pages that matter are touched.
#include "impl/import/import.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "impl/import/archive.h"
#include "impl/import/training_ir.h"
#include "ref/graph/error.h"
#include "ref/graph/text.h"

namespace writeback::impl {
namespace {

/// A file's bytes for as long as it lives.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw InputError(path, std::string("cannot be opened: ") + std::strerror(errno));
    struct stat stat{};
    if (::fstat(file, &stat) == 0 && stat.st_size > 0) {
      size_ = static_cast<std::size_t>(stat.st_size);
      data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    }
    ::close(file);
    if (data_ == MAP_FAILED) throw InputError(path, std::string("cannot be read: ") + std::strerror(errno));
  }
  ~MappedFile() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

std::string all_of(std::istream& stream) { return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()}; }

bool is_json(std::string_view bytes) {
  if (bytes.substr(0, 3) == "\xEF\xBB\xBF") bytes.remove_prefix(3);
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && bytes[first] == '{';
}

/// JSON alone has no storages, and no lines in which somebody could have named them.
void warn_of_unknown_sharing(Program& program) {
  const auto is_state = [&](const WriteBack& w) { return program.input_specs[index_of(w.target)].kind != InputKind::user_input; };
  const std::vector<WriteBack> writes = writes_of(program);
  if (std::count_if(writes.begin(), writes.end(), is_state) < 2) return;
  program.warnings.emplace_back("JSON tells nothing of shared storages; buffers and parameters are taken for distinct ones");
}

Program read_any(std::string_view bytes, const ImportOptions& options) {
  if (is_zip(bytes)) return read_archive(bytes, options);
  if (!is_json(bytes)) return read_text(bytes);
  Program program = read_json(bytes);
  warn_of_unknown_sharing(program);
  return program;
}

}  // namespace

Program read_program(std::string_view bytes, const std::string& name, const ImportOptions& options) {
  return naming_file(name, [&] {
    Program program = read_any(bytes, options);
    list_in_place_writes(program);
    return program;
  });
}

std::string read_file(const std::string& path) {
  if (path == "-") return all_of(std::cin);
  if (std::filesystem::is_directory(path)) throw InputError(path, "expected a file, found a folder");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw InputError(path, std::string("cannot be opened: ") + std::strerror(errno));
  return all_of(stream);
}

Program read_program_file(const std::string& path, const ImportOptions& options) {
  if (path == "-") return read_program(read_file(path), "standard input", options);
  if (!std::filesystem::is_regular_file(path)) return read_program(read_file(path), path, options);  // a pipe, or nothing
  const MappedFile file(path);
  return read_program(file.bytes(), path, options);
}

}  // namespace writeback::impl
