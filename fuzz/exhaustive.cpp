#include "fuzz/exhaustive.h"

#include "fuzz/builder.h"

namespace writeback::fuzz {
namespace {

/// Answers from a list, then zeros.
class Fixed final : public Choices {
 public:
  explicit Fixed(std::vector<std::uint32_t> answers) : answers_(std::move(answers)) {}
  std::uint32_t pick(std::uint32_t) override { return at_ < answers_.size() ? answers_[at_++] : 0; }

 private:
  std::vector<std::uint32_t> answers_;
  std::size_t at_ = 0;
};

/// How many nodes a form can become where `a` values are of shape [4], `b` of shape [2, 2], and of which shape their results are.
struct Row {
  const char* form;
  enum class Count : std::uint8_t { each, each_in_both_shapes, pairs_of_one_shape, nothing_returned } count;
};

constexpr Row kRows[] = {
    {"aten::neg", Row::Count::each},
    {"aten::add.Tensor", Row::Count::pairs_of_one_shape},
    {"aten::view_copy", Row::Count::each_in_both_shapes},
    {"aten::mul_.Scalar", Row::Count::each},
    {"aten::view", Row::Count::each_in_both_shapes},
    // The small alphabet ends here.
    {"aten::reshape", Row::Count::each_in_both_shapes},
    {"aten::zero_", Row::Count::each},
    {"aten::add_.Tensor", Row::Count::pairs_of_one_shape},
    {"aten::copy_", Row::Count::pairs_of_one_shape},
    {"aten::zeros_like", Row::Count::each},
    {"my::touch", Row::Count::nothing_returned},
};
constexpr std::size_t kSmall = 5;

std::span<const Row> rows(Alphabet a) { return std::span(kRows).first(a == Alphabet::small ? kSmall : std::size(kRows)); }

/// Programs from here on: `left` nodes to come, then the outputs.
std::uint64_t count_from(Alphabet alphabet, std::uint32_t left, std::uint64_t a, std::uint64_t b) {
  if (left == 0) return (a + 1) * (a + 1) * (a + b + 1);
  const std::uint64_t more_a = count_from(alphabet, left - 1, a + 1, b);
  const std::uint64_t more_b = count_from(alphabet, left - 1, a, b + 1);
  std::uint64_t total = 0;
  for (const Row& row : rows(alphabet)) {
    switch (row.count) {
      case Row::Count::each:
        total += a * more_a + b * more_b;
        break;
      case Row::Count::each_in_both_shapes:
        total += (a + b) * (more_a + more_b);
        break;
      case Row::Count::pairs_of_one_shape:
        total += a * a * more_a + b * b * more_b;
        break;
      case Row::Count::nothing_returned:
        total += (a + b) * count_from(alphabet, left - 1, a, b);
        break;
    }
  }
  return total;
}

Builder world(std::uint32_t which) {
  Builder builder(Sizes{});
  Fixed first({}), second(which == 0 ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{3}), input({});
  builder.placeholder(InputKind::buffer, first);
  builder.placeholder(InputKind::buffer, second);
  builder.placeholder(InputKind::user_input, input);
  return builder;
}

}  // namespace

std::uint32_t Odometer::pick(std::uint32_t n) {
  if (at_ == wheels_.size()) wheels_.emplace_back(0, n);
  return wheels_[at_++].first;
}

bool Odometer::next() {
  at_ = 0;
  while (!wheels_.empty() && wheels_.back().first + 1 == wheels_.back().second) wheels_.pop_back();
  if (wheels_.empty()) return false;
  ++wheels_.back().first;
  return true;
}

std::uint64_t count(const Enumeration& e) { return count_from(e.alphabet, e.nodes, 3, 0); }

namespace {

/// Calls `see` for every way of adding `left` nodes of the alphabet, until it answers false.
bool each_extension(const Builder& start, std::span<const std::uint32_t> alphabet, std::uint32_t left,
                    const std::function<bool(const Builder&)>& see) {
  if (left == 0) return see(start);
  Odometer choices;
  do {
    Builder longer = start;
    longer.node_of(alphabet, choices);
    if (!each_extension(longer, alphabet, left - 1, see)) return false;
  } while (choices.next());
  return true;
}

bool each_choice_of_outputs(const Builder& nodes, const std::function<bool(const Program&)>& see) {
  Odometer outputs;
  do {
    Builder whole = nodes;
    whole.write_back_of(value_id(0), outputs);
    whole.write_back_of(value_id(1), outputs);
    whole.user_output(outputs);
    if (!see(whole.program())) return false;
  } while (outputs.next());
  return true;
}

}  // namespace

// Shards are told apart by all nodes but the last, so that what is not of the shard need not be made.
std::uint64_t enumerate(const Enumeration& e, const std::function<bool(const Program&)>& see) {
  std::vector<std::uint32_t> alphabet;
  for (const Row& row : rows(e.alphabet)) alphabet.push_back(form_index(row.form));
  const std::uint32_t first = e.nodes <= 1 ? e.nodes : e.nodes - 1;
  std::uint64_t seen = 0, index = 0;
  const auto count_and_see = [&](const Program& program) { return ++seen, see(program); };
  each_extension(world(e.world), alphabet, first, [&](const Builder& prefix) {
    if (index++ % e.shards != e.shard) return true;
    return each_extension(prefix, alphabet, e.nodes - first,
                          [&](const Builder& nodes) { return each_choice_of_outputs(nodes, count_and_see); });
  });
  return seen;
}

Exhaustion judge_all(Implementation& implementation, const Enumeration& e, const Options& base,
                     const std::function<void(std::uint64_t)>& progress) {
  Exhaustion all;
  enumerate(e, [&](const Program& program) {
    Checks checks;
    checks.explanation = all.cases % 16 == 0;
    Judged judged = judge(implementation, program, options_of(program, base), checks);
    all.skipped += judged.verdict == Verdict::skipped ? 1 : 0;
    if (++all.cases % 65536 == 0 && progress) progress(all.cases);
    if (judged.verdict == Verdict::right || judged.verdict == Verdict::skipped) return true;
    all.failure.emplace(program, std::move(judged));
    return false;
  });
  return all;
}

}  // namespace writeback::fuzz
