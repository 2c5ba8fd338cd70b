// The helpers of the fuzz targets: inputs to programs, and mutation of records as wholes.
#include "fuzz/targets/target.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "fuzz/drivers.h"
#include "fuzz/generate.h"
#include "ref/graph/error.h"
#include "ref/graph/text.h"
#include "ref/graph/well_formed.h"

namespace writeback::fuzz {
namespace {

constexpr std::size_t kMostRecords = 64;

bool is_text(std::string_view bytes) { return bytes.starts_with("ExportedProgram") || bytes.starts_with("# "); }

/// The records of an input; those of a text are its encoding.
Records records_of_input(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of_input(data, size);
  if (is_text(text)) {
    try {
      if (auto records = encode(read_text(text))) return *records;
    } catch (const InputError&) {
    }
  }
  Records records = records_of({data, size});
  if (records.size() > kMostRecords) records.resize(kMostRecords);
  return records;
}

std::size_t write(const Records& records, std::uint8_t* out, std::size_t most) {
  const std::vector<std::uint8_t> bytes = bytes_of(records);
  const std::size_t size = std::min(bytes.size(), most / Record::kBytes * Record::kBytes);
  std::copy_n(bytes.begin(), size, out);
  return size;
}

Record random_record(Random& random) {
  Record r;
  for (std::uint8_t& b : r.bytes) b = static_cast<std::uint8_t>(random.below(256));
  return r;
}

}  // namespace

Program program_of_input(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of_input(data, size);
  if (is_text(text)) {
    try {
      Program program = read_text(text);
      if (breaches(program).empty()) return program;
    } catch (const InputError&) {
    }
  }
  return generate(records_of_input(data, size));
}

void broken(const std::string& claim, const std::string& detail) {
  std::fprintf(stderr, "BROKEN: %s\n%s\n", claim.c_str(), detail.c_str());
  std::abort();
}

std::size_t mutate_records(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  Random random(seed);
  Records records = records_of_input(data, size);
  const auto any = [&] { return random.below(static_cast<std::uint32_t>(records.size())); };
  const auto at = [&](std::size_t i) { return records.begin() + static_cast<std::ptrdiff_t>(i); };
  switch (records.empty() ? 0 : random.below(6)) {
    case 0:
      records.insert(at(random.below(static_cast<std::uint32_t>(records.size() + 1))), random_record(random));
      break;
    case 1:
      records.erase(at(any()));
      break;
    case 2:
      records.insert(at(any()), Record(records[any()]));
      break;
    case 3:
      std::swap(records[any()], records[any()]);
      break;
    case 4:
      records[any()].bytes[random.below(8)] = static_cast<std::uint8_t>(random.below(256));
      break;
    default:
      records[any()].bytes[random.below(Record::kBytes)] ^= static_cast<std::uint8_t>(1U << random.below(8));
      break;
  }
  return write(records, data, most);
}

std::size_t cross_records(const std::uint8_t* a, std::size_t a_size, const std::uint8_t* b, std::size_t b_size, std::uint8_t* out,
                          std::size_t most, unsigned seed) {
  Random random(seed);
  const Records first = records_of_input(a, a_size), second = records_of_input(b, b_size);
  Records records;
  for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
    const Records& from = random.below(2) == 0 ? first : second;
    if (i < from.size()) records.push_back(from[i]);
  }
  return write(records, out, most);
}

}  // namespace writeback::fuzz
