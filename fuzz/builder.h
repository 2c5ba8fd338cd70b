// A program under construction, and the questions that its statements ask. A question goes to the source of choices or, when a
// program is being encoded, is answered by what that program has and written into a record: generator and encoder are one piece of
// code and cannot drift apart.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/choices.h"
#include "fuzz/generate.h"
#include "ref/graph/program.h"
#include "ref/graph/region.h"

namespace writeback::fuzz {

using Shape = std::vector<std::int64_t>;

/// What the generator knows of a tensor: enough to ask only for what PyTorch would run.
struct Tensor {
  ValueId value{};
  DType dtype = DType::f32;
  Region region;  ///< inside storage `home`
  std::uint32_t home = 0;
  std::uint64_t storages = 0;  ///< bits (modulo 64) of all storages that it may share
  bool exact = true;           ///< `region` is known; not so for results of opaque ops
  bool plain = true;           ///< PyTorch lays it out as `region` says, so that `view` and `as_strided` can be foreseen
  bool frozen = false;         ///< never written, because it holds indices that must stay valid
  bool link = false;           ///< the result of a view_copy, so that another one of it makes a chain
  bool restrided = false;      ///< as_strided has read of its storage, so that it matters how it lies there
  bool view = false;           ///< made by a view op
  bool pinned = false;         ///< never rebound: an input, or one that may be the same object as another value
  bool stale = false;          ///< rebound since: the sizes that the program gives for this name are no longer its own
  std::uint32_t object = 0;    ///< values of one object (an in-place result and its operand) are rebound together

  const Shape& sizes() const { return region.sizes; }
};

bool is_writable(const Tensor&);
/// May be operands of one writing op: they share no cell, or are the same tensor (PyTorch refuses anything between).
bool apart(const Tensor&, const Tensor&);
bool broadcasts_to(const Shape& from, const Shape& to);
std::optional<Shape> broadcast(const Shape&, const Shape&);

/// One kind of node: an op with the questions that its arguments ask. `build` answers false where no operand fits; the node is
/// then a `full` instead.
class Builder;
struct Form {
  Target target;
  std::uint32_t weight;  ///< share of the node records, of the sum of all weights
  bool (*build)(Builder&);
};
std::span<const Form> forms();
/// The index of the form of "aten::add.Tensor"; throws std::out_of_range.
std::uint32_t form_index(std::string_view qualified_name);

/// The names that the generator gives, and the comment that torch prints above a first node without a stack trace.
std::string placeholder_name(InputKind, std::size_t index);
std::string node_name(std::size_t index);
/// Of the branches of the k-th cond: "true_graph_0", "false_graph_0".
std::string branch_name(bool taken, std::size_t k);
/// Of the i-th placeholder and node of a branch.
std::string branch_placeholder_name(std::size_t i);
std::string branch_node_name(std::size_t i);
inline constexpr const char* kFirstComment = "# No stacktrace found for following nodes";

/// Thrown by a builder that encodes where the wanted program has something that no decision gives.
struct NotEncodable {};

class Builder {
 public:
  using Fits = std::function<bool(const Tensor&)>;
  using Answer = std::function<std::optional<std::size_t>()>;

  /// `wanted`: the program to encode, or nullptr to generate.
  explicit Builder(const Sizes&, const Program* wanted = nullptr);

  // Statements. Each takes its decisions from `choices`, or when encoding leaves them in `record`.
  void setting(Choices&);
  void placeholder(InputKind, Choices&);
  void node(Choices&);
  /// A node of an enumeration: each form of the alphabet once, no operand preferred, no annotation.
  void node_of(std::span<const std::uint32_t> alphabet, Choices&);
  void output(Choices&);
  /// Outputs of an enumeration: none, or any value that fits.
  void write_back_of(ValueId target, Choices&);
  void user_output(Choices&);
  const Program& program() const { return program_; }
  Program take() { return std::move(program_); }
  RecordWriter record;

  // What a form asks (arguments in order, positional ones first) and what it says of its results. A pointer that is
  // returned lives until the node is made.
  const Tensor* operand(const Fits&);
  /// One of those that are also rare, one time in `one_in` at least where there is one.
  const Tensor* operand_preferring(const Fits& rare, std::uint32_t one_in, const Fits&);
  const Tensor* keyword(const char* name, const Fits&);
  /// A list of tensors that all fit; `items()` has them, also while the list grows.
  bool list(std::uint32_t least, std::uint32_t most, const Fits&, bool tuple = false);
  const std::vector<const Tensor*>& items() const { return items_; }
  const Shape& shape(const std::vector<Shape>& options);
  std::int64_t integer(std::int64_t first, std::int64_t last);
  void constant(Argument a) { node_.args.push_back(std::move(a)); }
  void constant_keyword(const char* name, Argument a) { node_.kwargs.push_back({name, std::move(a)}); }
  bool element_of_tuple();  ///< the whole of a getitem
  bool has_tensor(const Fits&) const;
  /// Two nodes that name the branches of a cond, made before its own arguments are asked for; their values.
  std::pair<ValueId, ValueId> branches();
  /// A branch that takes `items()` and gives something like the first of them: which of the kinds there are is asked.
  void body(bool taken);

  Tensor fresh(DType, Shape, bool plain = true);
  Tensor view_of(const Tensor& base, Region);
  Tensor may_view(const Tensor& base, Region);
  Tensor opaque(const Tensor& like, std::uint64_t storages);
  void result(Tensor t) { result_ = std::move(t); }
  /// The result is the operand itself, and under all its names it has this region from now on.
  void rebound(const Tensor& operand, const Region&);
  /// as_strided reads of the operand's storage.
  void restride(const Tensor& operand);
  /// The operand is not rebound from now on.
  void pin(const Tensor& operand);
  void results(std::vector<Tensor> elements) { elements_ = std::move(elements); }
  /// Each element of the result depends on the same element of the operands alone: it may carry `# share_alloc:`.
  void elementwise() { elementwise_ = true; }
  bool trusts_custom_ops() const { return trusts_custom_ops_; }
  void declare(const char* schema);

 private:
  struct Value {
    std::optional<Tensor> tensor;
    std::vector<Tensor> elements;
  };

  OutputSpec mutation_of(ValueId target) const;
  void one_or_none(OutputSpec, const Fits&, Choices&);
  std::uint32_t pick(std::size_t n, const Answer&);
  bool flag(std::uint32_t one_in, bool wanted);
  const Tensor* tensor(const Fits&, const Argument* wanted);
  const Argument* wanted_argument() const;
  bool is_wanted(const Fits&, const Argument* wanted) const;
  const Node* wanted_node() const;
  void build(std::uint32_t form);
  void share_allocation();
  void add_node(std::uint32_t form);
  template <typename F>
  void for_each_name(std::uint32_t object, F f);

  Sizes sizes_;
  const Program* wanted_;
  Choices* choices_ = nullptr;
  Program program_;
  std::vector<Value> values_;
  std::vector<TargetId> target_of_form_;
  std::vector<bool> interned_;
  std::uint32_t storages_ = 0, objects_ = 0;
  bool prefer_latest_ = true;  ///< not in an enumeration, which takes each operand once
  bool trusts_custom_ops_ = false;

  // The node being built.
  Node node_;
  std::optional<Tensor> result_;
  std::vector<Tensor> elements_;
  std::vector<const Tensor*> items_, candidates_;
  bool elementwise_ = false;
};

}  // namespace writeback::fuzz
