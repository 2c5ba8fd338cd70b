#include "proofs/decode.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ref/graph/text.h"

namespace writeback::proofs {
namespace {

constexpr const char* kSchemas = R"(# options: --trust my
# schema: my::f0(int k) -> Tensor
# schema: my::f1(Tensor a, int k) -> Tensor
# schema: my::f2(Tensor a, Tensor b, int k) -> Tensor
# schema: my::g0.out(int k, *, Tensor(a!) out) -> Tensor(a!)
# schema: my::g1.out(Tensor b, int k, *, Tensor(a!) out) -> Tensor(a!)
# schema: my::h1_(Tensor(a!) self, int k) -> Tensor(a!)
# schema: my::h2_(Tensor(a!) self, Tensor b, int k) -> Tensor(a!)
)";

constexpr const char* kPlaceholderNames[kPlaceholders] = {"b_a", "b_b", "x"};

class Decoder {
 public:
  Decoder(const Encoding& encoding, const z3::model& model) : e_(encoding), model_(model) {}

  Program program();
  Placement placement();

 private:
  /// A reader or copy that is done at a point of the placed run.
  struct Event {
    std::size_t point = 0;
    bool is_copy = false;
    std::size_t reader = 0;
  };

  bool is(const Bool& b) const { return model_.eval(b, true).is_true(); }
  std::size_t which(const std::vector<Bool>& one_hot) const;
  std::size_t when(const Moment& m) const;
  static std::string name(std::size_t value);
  bool whole(std::size_t value) const { return whole_[value]; }
  std::string type(bool whole) const { return whole ? "f32[2, 2]" : "f32[1]"; }
  std::string call(std::size_t n);
  std::string computing_call(const SymbolicNode& x, std::size_t n) const;
  bool uses_temporary(std::size_t r) const { return is(r < kCopies ? e_.copy[r].has_temporary : e_.output_first[r - kCopies]); }
  bool reads(std::size_t r) const;
  std::uint32_t output_index(std::size_t r) const;

  const Encoding& e_;
  const z3::model& model_;
  std::vector<bool> whole_;  ///< of each value
};

std::size_t Decoder::which(const std::vector<Bool>& one_hot) const {
  return static_cast<std::size_t>(std::find_if(one_hot.begin(), one_hot.end(), [&](const Bool& b) { return is(b); }) -
                                  one_hot.begin());
}

std::size_t Decoder::when(const Moment& m) const { return which(m); }  // order-encoded: the first that is true

std::string Decoder::name(std::size_t value) {
  return value < kPlaceholders ? kPlaceholderNames[value] : fmt::format("n{}", value - kPlaceholders);
}

/// A fresh or in-place node: what it reads decides its op.
std::string Decoder::computing_call(const SymbolicNode& x, std::size_t n) const {
  std::vector<std::string> arguments;
  const std::string a = name(which(x.a)), b = name(which(x.b));
  if (is(x.reads_a)) arguments.push_back(a);
  if (is(x.reads_b)) arguments.push_back(b);
  if (is(x.is(Kind::fresh))) {
    const std::size_t operands = arguments.size();
    arguments.push_back(std::to_string(n));
    return fmt::format("my.f{}.default({})", operands, fmt::join(arguments, ", "));
  }
  if (is(x.reads_a)) {
    const std::size_t operands = arguments.size();
    arguments.push_back(std::to_string(n));
    return fmt::format("my.h{}_.default({})", operands, fmt::join(arguments, ", "));
  }
  const std::size_t operands = arguments.size();
  arguments.push_back(std::to_string(n));
  return fmt::format("my.g{}.out({}, out = {})", operands, fmt::join(arguments, ", "), a);
}

std::string Decoder::call(std::size_t n) {
  const SymbolicNode& x = e_.node[n];
  const std::size_t a = which(x.a);
  const std::string of = name(a);
  const std::string sizes = whole(a) ? "[2, 2]" : "[1]";
  switch (static_cast<Kind>(which(x.kind))) {
    case Kind::fresh:
      whole_.push_back(!is(x.half));
      return computing_call(x, n);
    case Kind::in_place:
      whole_.push_back(whole(a));
      return computing_call(x, n);
    case Kind::view:
      whole_.push_back(whole(a) && !is(x.half));
      if (!whole(a) || (!is(x.half) && !is(x.flip))) return fmt::format("aten.alias.default({})", of);
      return is(x.half) ? fmt::format("aten.diagonal.default({}, {})", of, is(x.flip) ? -1 : 1)
                        : fmt::format("aten.t.default({})", of);
    case Kind::may_alias:
      whole_.push_back(whole(a));
      return fmt::format("aten.reshape.default({}, {})", of, sizes);
    case Kind::view_copy:
      whole_.push_back(whole(a));
      return fmt::format("aten.view_copy.default({}, {})", of, sizes);
    case Kind::opaque: {
      const bool base = is(x.result_a) ? whole(a) : !is(x.result_b) || whole(which(x.b));
      whole_.push_back(base && !is(x.half));
      return fmt::format("your.op.default({}, {}, {})", of, name(which(x.b)), n);
    }
  }
  return {};
}

Program Decoder::program() {
  std::string text = kSchemas;
  const bool b_whole = !is(e_.b_half);
  whole_ = {true, b_whole, true};
  if (is(e_.shared)) {
    const bool second = is(e_.b_first);
    text += b_whole ? fmt::format("# alias: b_b = b_a[0; 2, 2; {}]\n", second ? "1, 2" : "2, 1")
                    : fmt::format("# alias: b_b = b_a[{}; 1; 1]\n", second ? 2 : 1);
  }
  text += fmt::format(
      "ExportedProgram:\n    class GraphModule(torch.nn.Module):\n"
      "        def forward(self, b_a: \"f32[2, 2]\", b_b: \"{}\", x: \"f32[2, 2]\"):\n",
      type(b_whole));
  for (std::size_t n = 0; n < e_.nodes(); ++n) {
    const std::string right = call(n);
    text += fmt::format("            {}: \"{}\" = torch.ops.{}\n", name(kPlaceholders + n), type(whole_.back()), right);
  }
  for (std::size_t n = 0; n < e_.nodes(); ++n)
    if (is(e_.node[n].shares)) text = fmt::format("# share_alloc: {} 0\n", name(kPlaceholders + n)) + text;
  std::string outputs, specs;
  for (std::size_t k = 0; k < kCopies; ++k) {
    const std::string value = name(which(e_.reader[k].value));
    outputs += value + ", ";
    specs += fmt::format("    {}: BUFFER_MUTATION target='{}'\n", value, is(e_.copy[k].target_b) ? "b" : "a");
  }
  for (std::size_t r = kCopies; r < kReaders; ++r) {
    if (!reads(r)) continue;
    const std::string value = name(which(e_.reader[r].value));
    outputs += value + ", ";
    specs += fmt::format("    {}: USER_OUTPUT\n", value);
  }
  text += fmt::format(
      "            return ({})\n\nGraph signature: \n    # inputs\n    b_a: BUFFER target='a' persistent=True\n"
      "    b_b: BUFFER target='b' persistent=True\n    x: USER_INPUT\n\n    # outputs\n{}\nRange constraints: {{}}\n",
      outputs.ends_with(", ") ? outputs.substr(0, outputs.size() - 2) : outputs, specs);
  return read_text(text);
}

bool Decoder::reads(std::size_t r) const {
  return r < kCopies ? !is(e_.copy[r].dropped) : which(e_.reader[r].value) < e_.reader[r].value.size();
}

/// Outputs that are not there are left out of the program.
std::uint32_t Decoder::output_index(std::size_t r) const {
  std::uint32_t index = kCopies;
  for (std::size_t other = kCopies; other < r; ++other) index += reads(other) ? 1 : 0;
  return index;
}

Placement Decoder::placement() {
  Placement placement;
  placement.copies.resize(kCopies);
  std::vector<Event> events;
  for (std::size_t r = 0; r < kReaders; ++r) {
    if (r < kCopies) placement.copies[r].in_place = !reads(r);
    if (!reads(r)) continue;
    if (r < kCopies) events.push_back({when(e_.done[r]), true, r});
    if (uses_temporary(r)) events.push_back({when(e_.read[r]), false, r});
  }
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.point < b.point; });
  std::uint32_t order = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto& [point, is_copy, r] = events[i];
    order = i > 0 && events[i - 1].point / kPoints == point / kPoints ? order + 1 : 0;
    const Position at{slot_at(point / kPoints), order};
    if (is_copy) {
      placement.copies[r].at = at;
      continue;
    }
    const auto t = static_cast<std::uint32_t>(placement.temporaries.size());
    placement.temporaries.push_back({fmt::format("t{}", r), value_id(which(e_.reader[r].value)), at});
    if (r < kCopies)
      placement.copies[r].temporary = t;
    else
      placement.outputs_read_first.push_back({output_index(r), t});
  }
  return placement;
}

}  // namespace

Counterexample decode(const Encoding& encoding, const z3::model& model) {
  Decoder decoder(encoding, model);
  return {decoder.program(), decoder.placement()};
}

}  // namespace writeback::proofs
