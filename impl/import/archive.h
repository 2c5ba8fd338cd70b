// A zip archive in memory, read by libzip. Entries come out whole; what an archive may ask for is limited, and damage is an
// InputError that names the entry. Check sums are not verified: torch may leave them 0.
#pragma once

#include <zip.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace writeback::impl {

class Archive {
 public:
  struct Entry {
    std::string name;
    std::uint64_t size = 0;             ///< bytes when read
    std::uint64_t compressed_size = 0;  ///< bytes in the archive
    bool stored = true;
  };

  /// `bytes` must outlive the archive.
  explicit Archive(std::string_view bytes);

  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(std::string_view name) const;
  /// The bytes of an entry of at most `limit` bytes.
  std::string read(const Entry&, std::uint64_t limit) const;
  /// The archive that is an entry of this one; it must not outlive this one. A stored entry is not copied.
  Archive open_nested(const Entry&, std::uint64_t limit) const;

 private:
  struct Discard {
    void operator()(zip_t* zip) const { zip_discard(zip); }
  };

  Archive() = default;
  zip_uint64_t index_of(const Entry& entry) const { return static_cast<zip_uint64_t>(&entry - entries_.data()); }
  /// Takes the source over. `name` stands in messages.
  void open(zip_source_t* source, const std::string& name);

  std::unique_ptr<const std::string> unpacked_;  ///< the bytes of a nested archive that was packed
  std::unique_ptr<zip_t, Discard> zip_;
  std::vector<Entry> entries_;
};

/// True where the bytes start as a zip archive does.
bool is_zip(std::string_view bytes);

}  // namespace writeback::impl
