// Where a generated program's decisions come from. A program is a list of records, one for each statement (a placeholder, a node,
// an output, a setting); all decisions about a statement are read from its record and nothing else, so inserting, erasing or
// splicing records changes those statements and leaves the others what they were. A record that is used up answers 0, and 0 is
// always the simplest answer: shrinking a record towards zeros simplifies its statement.
//
// `pick(n)` is the generator's only source of decisions. Its drivers: a record (bytes of a fuzzing engine, RapidCheck, random
// numbers) and the odometer of exhaustive.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace writeback::fuzz {

/// The decisions of one statement. Answers below 256 take one byte, others two (little end first).
struct Record {
  static constexpr std::size_t kBytes = 16;
  std::array<std::uint8_t, kBytes> bytes{};
  bool operator==(const Record&) const = default;
};
using Records = std::vector<Record>;

/// Answers questions of the form "which of n?", n >= 1.
class Choices {
 public:
  virtual ~Choices() = default;
  virtual std::uint32_t pick(std::uint32_t n) = 0;
};

/// Reads the answers from a record.
class RecordReader final : public Choices {
 public:
  explicit RecordReader(const Record& record) : record_(record) {}
  std::uint32_t pick(std::uint32_t n) override {
    if (n <= 1) return 0;
    std::uint32_t answer = next();
    if (n > 256) answer |= next() << 8;
    return answer % n;
  }

 private:
  std::uint32_t next() { return used_ < Record::kBytes ? record_.bytes[used_++] : 0; }
  const Record& record_;
  std::size_t used_ = 0;
};

/// Writes a record whose reader gives back the answers put in; `fits()` is false once one would be lost.
class RecordWriter {
 public:
  void put(std::uint32_t n, std::uint32_t answer) {
    if (n <= 1) return;
    next(answer & 0xff);
    if (n > 256) next(answer >> 8);
  }
  bool fits() const { return fits_; }
  const Record& record() const { return record_; }

 private:
  void next(std::uint32_t byte) {
    if (used_ < Record::kBytes)
      record_.bytes[used_++] = static_cast<std::uint8_t>(byte);
    else if (byte != 0)
      fits_ = false;
  }
  Record record_;
  std::size_t used_ = 0;
  bool fits_ = true;
};

}  // namespace writeback::fuzz
