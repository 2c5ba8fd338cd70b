// How PyTorch's text spells what a node calls: `torch.ops.aten.add.Tensor`, ExecuTorch's
// `executorch_exir_dialects_edge__ops_aten_add_Tensor`, `torch.ops.higher_order.cond`, Python names and operators.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "ref/graph/program.h"

namespace writeback::text {

Target read_target(std::string_view spelled);
std::string print_target(const Target&);

/// Interns targets by their spelling, so that each spelling is taken apart once.
class TargetTable {
 public:
  explicit TargetTable(Program& program) : program_(program) {}
  TargetId find(std::string_view spelled);
  /// The function of Python's operator module: "getitem", "add".
  TargetId find_operator(std::string_view function);

 private:
  Program& program_;
  std::unordered_map<std::string_view, TargetId> known_;      // keys are slices of the text that is read
  std::unordered_map<std::string_view, TargetId> operators_;  // keys are literals
};

/// An operator of Python that torch.fx prints as one: `{} + {}` for operator.add.
struct PythonOperator {
  std::string_view function, symbol;
  bool unary = false;
};
/// nullptr where the target is printed as a call.
const PythonOperator* operator_of(const Target&);
/// nullptr where `symbol` is none; the longest symbol at the start of `text`.
const PythonOperator* infix_at(std::string_view text);
const PythonOperator* prefix_at(std::string_view text);

}  // namespace writeback::text
