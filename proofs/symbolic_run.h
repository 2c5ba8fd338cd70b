// One program run under all choices at once. A tensor is a list of alternatives, each with the choices under which it lies there; a
// cell is an SMT expression; an op is an uninterpreted function of what it reads, as in the reference's terms. One cell a storage,
// so that programs of any size fit: a partial read or write is a function named by its region.
//
// It follows ref/interpreter.h step by step, with "if" turned into "ite". It errs to "differs": what parts of one storage hold is
// told apart by the order of the writes, also where they do not overlap.
#pragma once

#include <z3++.h>

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "ref/schedule.h"
#include "ref/steps.h"

namespace writeback::proofs {

/// A program that this file does not speak of.
class NotModelled : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The choices of a program as SMT variables, the same in all its runs.
class SymbolicChoices {
 public:
  SymbolicChoices(z3::context&, const ref::Steps&);

  /// The semantic choice has this value.
  z3::expr is(std::size_t choice, std::uint32_t value) const { return semantic_[choice][value]; }
  z3::expr lowered(std::size_t choice) const { return lowering_[choice]; }
  /// Every choice has one value.
  z3::expr well_formed() const;
  /// What a model settles, as "v: lowered, r: alias".
  std::string describe(const ref::Steps&, const z3::model&) const;

 private:
  z3::context& context_;
  std::vector<std::vector<z3::expr>> semantic_;
  std::vector<z3::expr> lowering_;
};

class SymbolicRun {
 public:
  SymbolicRun(z3::context&, const ref::Steps&, ref::Regions& one_cell, const SymbolicChoices&);

  /// The meaning: nodes as written, then all values and outputs are read, then the targets are written in output order; in
  /// sequential semantics each value when its turn comes and the outputs last.
  void run_meaning(bool parallel);
  /// The placed program, lowered.
  void run_placed(const ref::Schedule&);

  /// What anybody can see afterwards: outputs, input storages, what asserts saw. Equally many in both runs.
  const std::vector<z3::expr>& outcome() const { return outcome_; }
  /// A copy's value overlaps its target without being it.
  const z3::expr& trapped() const { return trapped_; }

 private:
  struct Alternative {
    z3::expr when;
    ref::Tensor tensor;
  };
  using Alternatives = std::vector<Alternative>;
  struct Storage {
    z3::expr cell;
    ref::RegionId birth;  ///< the region that is all of it
  };
  /// What a node computes: block `number` of its result, and where it goes.
  struct Block {
    std::uint32_t number;
    z3::expr when;
    Alternatives to;
  };

  z3::expr yes() const { return context_.bool_val(true); }
  z3::expr choice(const ref::Step& s, std::uint32_t nth, std::uint32_t value) const;
  z3::expr lowered(const ref::Step&) const;
  static Alternatives under(const z3::expr& when, Alternatives);
  static void append(Alternatives& to, const Alternatives& more) { to.insert(to.end(), more.begin(), more.end()); }

  z3::expr constant(const std::string& name) const { return context_.constant(name.c_str(), content_); }
  z3::expr apply(const std::string& function, const std::vector<z3::expr>& arguments) const;
  z3::expr part(ref::RegionId, const z3::expr& whole) const;
  z3::expr cast(const z3::expr& cell, ref::Leaf from, ref::Leaf to) const;
  bool is_whole(const ref::Tensor&) const;

  const Alternatives& tensor(std::uint32_t leaf) const { return tensors_[tensor_of_[leaf]]; }
  void bind(std::uint32_t leaf, Alternatives);
  std::uint32_t allocate(const z3::expr& cell, ref::RegionId birth);
  Alternatives fresh(ref::RegionId shape);
  z3::expr read(const ref::Tensor&) const;
  z3::expr read(const Alternatives&) const;
  z3::expr read_for(std::uint32_t target, const Alternatives& value, std::uint32_t leaf);
  void write(const Alternatives&, const z3::expr& when, const z3::expr& value);

  void run(const ref::Step&);
  void compute(const ref::Step&);
  void compute_elements(const ref::Step&);
  void evaluate(const ref::Step&, const std::vector<z3::expr>& inputs, const std::vector<Block>&);
  Alternatives results_elsewhere(const ref::Step&, const ref::ResultStep&, std::uint32_t i, std::uint32_t nth);
  void bind_result(const ref::Step&, const ref::ResultStep&, std::uint32_t i, std::uint32_t nth, std::vector<Block>&);
  void require_born_apart(const ref::Step&) const;
  void rebind(const ref::Step&, std::uint32_t leaf, std::uint32_t source);
  Alternatives views(const ref::Step&, std::uint32_t element, const Alternatives& base) const;
  static std::uint32_t choices_of(const ref::ResultStep&);
  std::uint32_t source_leaf(const ref::Step&, const ref::ResultStep&, std::uint32_t i, std::uint32_t which) const;
  z3::expr moved(const ref::Step&, std::uint32_t source, std::uint32_t leaf);
  void move(const ref::Step&);
  void copy_into(const ref::Step&);
  void write_back(const WriteBack&, const Alternatives& value);
  std::uint32_t leaf(ValueId v) const { return steps_.leaves_of(v).first; }
  void see_outputs(const ref::Schedule*);
  void see_inputs();

  z3::context& context_;
  const ref::Steps& steps_;
  ref::Regions& regions_;
  const SymbolicChoices& choices_;
  const z3::sort content_;
  bool lowers_ = false;
  std::span<const std::uint8_t> returned_;
  std::vector<Storage> storages_;
  std::vector<Alternatives> tensors_, temporaries_;
  std::vector<std::uint32_t> tensor_of_;
  std::uint32_t generator_ = 0;
  std::vector<z3::expr> outcome_, observations_;
  z3::expr trapped_;
};

}  // namespace writeback::proofs
