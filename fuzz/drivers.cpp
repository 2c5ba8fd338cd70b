#include "fuzz/drivers.h"

#include <algorithm>
#include <cstring>

namespace writeback::fuzz {
namespace {

void add(Records& records, Random& random, Statement kind, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    Record record;
    for (std::size_t at = 0; at < Record::kBytes; at += 8) {
      const std::uint64_t bits = random.next();
      std::memcpy(record.bytes.data() + at, &bits, 8);
    }
    record.bytes[0] = static_cast<std::uint8_t>(answer_for(kind));
    records.push_back(record);
  }
}

}  // namespace

Records records_of(std::span<const std::uint8_t> bytes) {
  Records records((bytes.size() + Record::kBytes - 1) / Record::kBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) records[i / Record::kBytes].bytes[i % Record::kBytes] = bytes[i];
  return records;
}

std::vector<std::uint8_t> bytes_of(std::span<const Record> records) {
  std::vector<std::uint8_t> bytes;
  for (const Record& record : records) bytes.insert(bytes.end(), record.bytes.begin(), record.bytes.end());
  return bytes;
}

std::uint64_t Random::next() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

Records random_records(Random& random, const Sizes& sizes) {
  Records records;
  if (random.below(8) == 0) add(records, random, Statement::setting, 1 + random.below(2));
  add(records, random, Statement::parameter, random.below(8) == 0 ? 1 : 0);
  add(records, random, Statement::buffer, random.below(16) == 0 ? 0 : 1 + random.below(3));
  add(records, random, Statement::input, random.below(3));
  const std::uint32_t fewest = std::min(sizes.nodes, std::uint32_t{4});
  add(records, random, Statement::node, fewest + random.below(sizes.nodes - fewest + 1));
  add(records, random, Statement::output, random.below(16) == 0 ? 0 : 1 + random.below(4));
  return records;
}

}  // namespace writeback::fuzz
