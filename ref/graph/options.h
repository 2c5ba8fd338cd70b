// What a meaning depends on besides the program: which later passes run, which semantics is promised, whose schemas are believed.
#pragma once

#include <string>
#include <vector>

namespace writeback {

/// executorch: a view_copy may become an alias of its chain's root and `# share_alloc:` results may take an argument's storage
/// after placement. none: the program runs as written.
enum class Lowering : unsigned char { executorch, none };

/// parallel: all values and outputs are read before any target is written (what torch.export promises).
/// sequential: one copy after the other in output order, outputs read last (what ExecuTorch does at the end of the graph).
enum class Semantics : unsigned char { parallel, sequential };

struct Options {
  Lowering lowering = Lowering::executorch;
  Semantics semantics = Semantics::parallel;
  std::vector<std::string> trusted;  ///< namespaces trusted besides aten, prims, dim_order_ops, quantized_decomposed
  std::vector<std::string> schemas;  ///< schema lines (from --schemas files), besides those of the program

  bool operator==(const Options&) const = default;
};

struct Program;

/// The options that a program names for itself (`# options: --lowering none --trust my`), over `base`. Throws InputError on a word
/// that is no option.
Options options_of(const Program&, Options base = {});

}  // namespace writeback
