#include "impl/import/archive.h"

#include <algorithm>

#include "ref/graph/error.h"

namespace writeback::impl {
namespace {

/// An entry larger than this that was packed more tightly than kDensest is taken for a bomb.
constexpr std::uint64_t kSuspicious = std::uint64_t{16} << 20;
constexpr std::uint64_t kDensest = 256;
constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;

std::string words_of(zip_error_t& error) {
  switch (zip_error_code_zip(&error)) {
    case ZIP_ER_NOZIP:
      return "its directory is missing";
    case ZIP_ER_INCONS:
      return "its directory and its entries disagree";
    case ZIP_ER_EOF:
    case ZIP_ER_READ:
    case ZIP_ER_SEEK:
      return "it ends too early";
    case ZIP_ER_MEMORY:
      return "it asks for too much memory";
    default:
      return zip_error_strerror(&error);
  }
}

zip_source_t* source_of(std::string_view bytes) {
  zip_error_t error;
  return zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
}

struct CloseFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

/// An entry as a source of bytes; the function has another name since libzip 1.10.
zip_source_t* source_of_entry(zip_t* zip, zip_uint64_t index) {
#if LIBZIP_VERSION_MAJOR > 1 || LIBZIP_VERSION_MINOR >= 10
  return zip_source_zip_file(zip, zip, index, 0, 0, -1, nullptr);
#else
  return zip_source_zip(zip, zip, index, 0, 0, -1);
#endif
}

}  // namespace

bool is_zip(std::string_view bytes) {
  return bytes.substr(0, 4) == std::string_view("PK\3\4", 4) || bytes.substr(0, 4) == std::string_view("PK\5\6", 4);
}

Archive::Archive(std::string_view bytes) { open(source_of(bytes), "archive"); }

void Archive::open(zip_source_t* source, const std::string& name) {
  if (source == nullptr) throw InputError(name, "expected an archive that fits into memory");
  zip_error_t error;
  zip_error_init(&error);
  zip_.reset(zip_open_from_source(source, ZIP_RDONLY, &error));
  if (!zip_) {
    zip_source_free(source);
    const std::string words = words_of(error);
    zip_error_fini(&error);
    throw InputError(name, "expected a whole zip archive: " + words);
  }
  const auto count = static_cast<zip_uint64_t>(zip_get_num_entries(zip_.get(), 0));
  for (zip_uint64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat_index(zip_.get(), i, 0, &stat) != 0 || stat.name == nullptr) {
      throw InputError(name, "expected a name for entry " + std::to_string(i));
    }
    entries_.push_back({stat.name, stat.size, stat.comp_size, stat.comp_method == ZIP_CM_STORE});
  }
}

Archive Archive::open_nested(const Entry& entry, std::uint64_t limit) const {
  Archive nested;
  if (!entry.stored) {
    nested.unpacked_ = std::make_unique<const std::string>(read(entry, limit));
    nested.open(source_of(*nested.unpacked_), entry.name);
    return nested;
  }
  nested.open(source_of_entry(zip_.get(), index_of(entry)), entry.name);
  return nested;
}

const Archive::Entry* Archive::find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

std::string Archive::read(const Entry& entry, std::uint64_t limit) const {
  const auto fail = [&](const std::string& message) { throw InputError(entry.name, message); };
  if (entry.size > limit) fail("expected at most " + std::to_string(limit) + " bytes, found " + std::to_string(entry.size));
  if (entry.size > kSuspicious && entry.size / kDensest > entry.compressed_size)
    fail("expected an entry that does not swell so much");
  // Stored entries are read as they stand: libzip would compare check sums, and torch does not always write them.
  const std::unique_ptr<zip_file_t, CloseFile> file(
      zip_fopen_index(zip_.get(), index_of(entry), entry.stored ? ZIP_FL_COMPRESSED : 0));
  if (!file) fail("expected an entry that can be read: " + words_of(*zip_get_error(zip_.get())));
  // Piece by piece: what the directory claims costs no memory until the bytes are there.
  std::string data;
  while (data.size() < entry.size) {
    const std::size_t done = data.size();
    data.resize(static_cast<std::size_t>(std::min<std::uint64_t>(entry.size, done + kPiece)));
    const zip_int64_t got = zip_fread(file.get(), data.data() + done, data.size() - done);
    if (got < 0) fail("expected an entry that can be read: " + words_of(*zip_file_get_error(file.get())));
    if (got == 0) fail("expected " + std::to_string(entry.size) + " bytes, found " + std::to_string(done));
    data.resize(done + static_cast<std::size_t>(got));
  }
  return data;
}

}  // namespace writeback::impl
