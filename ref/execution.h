// The two executions that are compared: the meaning of a program, and the program with its copies placed. Both are one run of the
// interpreter; both end in an outcome, the cells that anybody can see afterwards: user outputs, the storages of all inputs, and
// what asserts saw. A placement has the meaning when under every choice the two outcomes are equal.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ref/conflicts.h"
#include "ref/interpreter.h"
#include "ref/schedule.h"

namespace writeback::ref {

template <typename D>
class Execution {
 public:
  using Cell = typename D::Cell;

  Execution(const Steps& steps, Regions& regions, D& domain, Semantics semantics)
      : steps_(steps),
        program_(steps.program()),
        parallel_(semantics == Semantics::parallel),
        interpreter_(steps, regions, domain, blind_),
        write_backs_(write_backs(program_)) {
    for (std::uint32_t i = 0; i < program_.graph.outputs.size(); ++i) {
      if (is_mutation(program_.output_specs[i].kind)) continue;
      for_each_value(program_.graph.outputs[i], [&](ValueId v) {
        const LeafRange range = steps.leaves_of(v);
        for (std::uint32_t k = 0; k < range.count; ++k) outputs_.push_back({i, range.first + k});
      });
    }
  }

  /// Runs the nodes as written; then reads all write-back values and user outputs; then writes the targets in output order. Under
  /// sequential semantics each write-back reads when its turn comes and the outputs are read last. `after(item)` is called after
  /// each node and each write-back.
  template <typename F>
  void run_meaning(std::span<const std::uint8_t> semantic_choices, F&& after) {
    interpreter_.start(semantic_choices);
    for (const Step& s : steps_.steps()) {
      interpreter_.run(s);
      after(Item{Item::Kind::node, static_cast<std::uint32_t>(index_of(s.node))});
    }
    finish(after);
  }

  /// Runs nodes, copies and temporaries in the order of the schedule; `returned` as in Interpreter::start.
  template <typename F>
  void run_placed(const Schedule& schedule, std::span<const std::uint8_t> choices, std::span<const std::uint8_t> returned,
                  F&& after) {
    const Placement& p = schedule.placement();
    interpreter_.start(choices, returned);
    temporaries_.assign(p.temporaries.size(), {});
    for (const Item& item : schedule.items()) {
      switch (item.kind) {
        case Item::Kind::node:
          interpreter_.run(steps_.step(node_id(item.index)));
          break;
        case Item::Kind::temporary: {
          const std::uint32_t of = leaf(p.temporaries[item.index].of);
          temporaries_[item.index] = interpreter_.clone(interpreter_.tensor(of), of);
          break;
        }
        case Item::Kind::copy: {
          const WriteBack& w = write_backs_[item.index];
          const auto& temporary = p.copies[item.index].temporary;
          const Tensor value = temporary ? temporaries_[*temporary] : interpreter_.tensor(leaf(w.value));
          interpreter_.write_back(leaf(w.target), value, leaf(w.value));
          break;
        }
      }
      after(item);
    }
    seen_.clear();
    read_outputs(&p);
  }

  /// The outcome of the last run: outputs, then the input storages one after the other, then observations.
  void outcome(std::vector<Cell>& out) const {
    out = seen_;
    for (std::uint32_t s = 0; s < steps_.input_storages().size(); ++s) {
      const std::span<const Cell> cells = interpreter_.storage(s);
      out.insert(out.end(), cells.begin(), cells.end());
    }
    out.insert(out.end(), interpreter_.observations().begin(), interpreter_.observations().end());
  }

  /// What cell i of the last outcome belongs to: "output z", "target b_a", "input x".
  std::string place_of(std::size_t i, const Symbols& symbols) const {
    for (const OutputLeaf& o : outputs_) {
      if (i < o.count) return "output " + output_name(program_, o.output);
      i -= o.count;
    }
    for (std::uint32_t s = 0; s < steps_.input_storages().size(); ++s) {
      const std::size_t count = interpreter_.storage(s).size();
      if (i < count) return (is_written_back(s) ? "target " : "input ") + symbols.name(steps_.input_storages()[s].name);
      i -= count;
    }
    return "what an assert sees";
  }

  /// User outputs, leaf by leaf, and how many cells each was in the last run.
  struct OutputLeaf {
    std::uint32_t output, leaf;
    std::size_t count = 0;
  };
  const std::vector<OutputLeaf>& outputs() const { return outputs_; }
  std::span<const Cell> output_cells() const { return seen_; }
  Interpreter<D>& interpreter() { return interpreter_; }
  const Interpreter<D>& interpreter() const { return interpreter_; }
  const std::vector<WriteBack>& write_backs_in_order() const { return write_backs_; }
  Tensor temporary(std::uint32_t i) const { return temporaries_[i]; }
  std::uint32_t leaf(ValueId v) const { return steps_.leaves_of(v).first; }

 private:
  bool is_written_back(std::uint32_t storage) const {
    return std::ranges::any_of(write_backs_,
                               [&](const WriteBack& w) { return steps_.inputs()[index_of(w.target)].storage == storage; });
  }

  template <typename F>
  void finish(F& after) {
    values_.clear();
    starts_.clear();
    seen_.clear();
    if (parallel_) {
      for (const WriteBack& w : write_backs_) read_value(w);
      starts_.push_back(values_.size());
      read_outputs(nullptr);
    }
    for (std::uint32_t i = 0; i < write_backs_.size(); ++i) {
      if (!parallel_) read_value(write_backs_[i]);
      const std::size_t first = starts_[i], end = parallel_ ? starts_[i + 1] : values_.size();
      interpreter_.write_cells(interpreter_.tensor(leaf(write_backs_[i].target)), std::span(values_).subspan(first, end - first));
      after(Item{Item::Kind::copy, i});
    }
    if (!parallel_) read_outputs(nullptr);
  }

  void read_value(const WriteBack& w) {
    starts_.push_back(values_.size());
    const std::uint32_t value = leaf(w.value);
    arriving_.clear();
    interpreter_.read_for(leaf(w.target), interpreter_.tensor(value), value, arriving_);
    values_.insert(values_.end(), arriving_.begin(), arriving_.end());
  }

  void read_outputs(const Placement* placement) {
    for (OutputLeaf& o : outputs_) {
      Tensor t = interpreter_.tensor(o.leaf);
      if (placement != nullptr) {
        for (const OutputReadFirst& r : placement->outputs_read_first) {
          if (r.output == o.output) t = temporaries_[r.temporary];
        }
      }
      const std::size_t before = seen_.size();
      interpreter_.read_cells(t, seen_);
      o.count = seen_.size() - before;
    }
  }

  const Steps& steps_;
  const Program& program_;
  const bool parallel_;
  Blind blind_;
  Interpreter<D> interpreter_;
  const std::vector<WriteBack> write_backs_;
  std::vector<OutputLeaf> outputs_;
  std::vector<Tensor> temporaries_;
  std::vector<Cell> seen_, values_, arriving_;
  std::vector<std::size_t> starts_;
};

}  // namespace writeback::ref
