// Operator schemas: the grammar of PyTorch's function signatures with their alias annotations, and the table of all ATen schemas.
// A schema says which argument an op writes (`Tensor(a!)`), which a result aliases (`Tensor(a)`), and where keyword-only starts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ref/graph/program.h"

namespace writeback {

/// `(a!)`, `(a -> *)`, `(a|b)`, `(*)`, `(!)`.
struct AliasAnnotation {
  std::vector<std::string> before;  ///< letters or "*"
  bool write = false;
  std::vector<std::string> after;  ///< empty = the same as before
  bool operator==(const AliasAnnotation&) const = default;
};

struct SchemaType {
  std::string base;    ///< "Tensor", "SymInt", "Scalar", "Dict(str, Tensor)"
  std::string suffix;  ///< "", "?", "[]", "[4]", "?[]", "[]?": as written
  std::optional<AliasAnnotation> alias;
  bool alias_on_list = false;  ///< `t[](a!)`: the list itself is annotated, not its elements
  bool is_list() const { return suffix.find('[') != std::string::npos; }
  bool is_tensor() const { return base == "Tensor"; }
  bool operator==(const SchemaType&) const = default;
};

struct SchemaArgument {
  SchemaType type;
  std::string name;
  std::optional<std::string> default_value;  ///< as written
  bool keyword_only = false;
  bool operator==(const SchemaArgument&) const = default;
};

struct Schema {
  std::string ns, name, overload;  ///< overload "default" where none is written
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaArgument> returns;  ///< names may be empty
  bool variadic = false;                ///< "..." at the end of the arguments
  bool variadic_returns = false;        ///< "-> ..."
  std::vector<std::string> tags;        ///< torch's tags that tell of effects ("inplace_view"); the builtin table has them

  /// Reads `ns::name.overload(args) -> returns`. Throws InputError with the column and what was expected.
  static Schema parse(std::string_view text);
  std::string text() const;
  const SchemaArgument* argument(std::string_view name) const;
  bool operator==(const Schema&) const = default;
};

/// Schemas by target. The table of ATen (and the other trusted namespaces) is compiled in from ref/graph/data/.
class SchemaTable {
 public:
  /// The compiled-in table, parsed on first use of each entry.
  static const SchemaTable& builtin();

  /// The builtin table plus `more` (schema lines; these win over builtin ones of the same name).
  static SchemaTable with(const std::vector<std::string>& more);

  /// nullptr where nothing is known of the op. The pointer lives as long as the table.
  const Schema* find(const Target&) const;
  /// Splits an edge-dialect name's tail ("aten_add_Tensor", "dim_order_ops__to_dim_order_copy_default") by the names it knows.
  std::optional<Target> split_edge_name(std::string_view underscored) const;
  std::size_t size() const;
  /// The qualified names of all entries, sorted.
  std::vector<std::string> names() const;

  struct Impl;

 private:
  explicit SchemaTable(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace writeback
