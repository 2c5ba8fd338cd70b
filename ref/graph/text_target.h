// How PyTorch's text spells what a node calls: `torch.ops.aten.add.Tensor`, ExecuTorch's
// `executorch_exir_dialects_edge__ops_aten_add_Tensor`, `torch.ops.higher_order.cond`, Python names and operators.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "ref/graph/program.h"
#include "ref/graph/schema.h"

namespace writeback::text {

/// Where the operator ends and its overload begins in ExecuTorch's spelling is told by the schemas that are known.
Target read_target(std::string_view spelled, const SchemaTable&);
std::string print_target(const Target&);
Target python_target(std::string name);

/// `a.b.0.weight`: parts of letters, digits and `_`.
bool is_attribute_path(std::string_view path);
/// `self.a.b`, with getattr where a part is no name: `getattr(self, "0").weight`.
std::string print_attribute(std::string_view path);

/// The targets of a program by their spelling, so that each spelling is taken apart once.
class TargetTable {
 public:
  TargetTable(Program& program, SchemaTable schemas) : program_(program), schemas_(std::move(schemas)) {}
  /// `spelled` is a slice of the text that is read.
  TargetId find(std::string_view spelled);
  /// The function of Python's operator module: "getitem", "add". A literal.
  TargetId find_operator(std::string_view function);
  TargetId find(const Target&);
  const SchemaTable& schemas() const { return schemas_; }

 private:
  Program& program_;
  SchemaTable schemas_;
  std::unordered_map<std::string_view, TargetId> spelled_, operators_;
  std::unordered_map<std::string, TargetId> printed_;
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

/// A keyword or builtin of Python, or a name that torch.fx's code imports: torch.fx calls no variable so.
bool is_reserved_in_python(std::string_view name);

}  // namespace writeback::text
