// Programs from decisions, and decisions from programs. `generate` is total: any records give a well-formed program that PyTorch
// would run (shapes fit, views exist, no write to a region that overlaps itself), and no input is rejected. `encode` is its
// inverse: the same function read the other way round, each decision being looked up in the program instead of drawn.
//
// Programs use a small world on purpose (storages of up to eight cells, two element types): hazards are about which cells
// overlap, and small worlds meet them often.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuzz/choices.h"
#include "ref/graph/options.h"
#include "ref/graph/program.h"

namespace writeback::fuzz {

/// Most statements of each kind that a program is given; records beyond are passed over.
struct Sizes {
  std::uint32_t placeholders = 6;
  std::uint32_t nodes = 16;  ///< node records; a form may make more than one node of it (torch.cond makes three)
  std::uint32_t outputs = 6;
};

Program generate(std::span<const Record>, const Sizes& = {});

/// The program as the generator would write it: its names, the placeholders' kinds in order, nothing that is not used, no comments
/// but the first that torch prints. Generated programs are canonical, also after they were printed and read back.
Program canonical(const Program&);

/// Records from which `generate` makes `canonical(program)`; nullopt where there are none (an op that the generator does not know,
/// a write to a region that overlaps itself).
std::optional<Records> encode(const Program&, const Sizes& = {});

/// The statement kinds, in the order in which the kinds are processed.
enum class Statement : std::uint8_t { setting, parameter, buffer, input, node, output };

/// The first answer of a record of this kind.
std::uint32_t answer_for(Statement);

/// Number of answers to a record's first question.
constexpr std::uint32_t kStatementAnswers = 16;

}  // namespace writeback::fuzz
