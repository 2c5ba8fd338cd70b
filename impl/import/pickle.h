// Reads which storage each tensor of a torch.save file uses, from the pickle inside it. Nothing of the pickle is ever run: this is
// an interpreter of the few opcodes that torch.save emits for a dict of tensors, which builds plain data; a call of anything that
// it does not know gives a value without meaning, an opcode that it does not know ends the reading.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ref/graph/tensor_meta.h"

namespace writeback::impl {

/// A tensor of a pickle: its storage's key, and its place there in elements. Texts are pieces of the pickle.
struct PickledTensor {
  std::string_view storage;
  DType dtype = DType::unknown;
  std::int64_t storage_elements = 0;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes, strides;
};

/// The entries of the dict that the pickle holds, by key; a value that is no tensor gives nullopt. nullopt as a whole where the
/// pickle is no dict with string keys or uses what is not understood here.
std::optional<std::vector<std::pair<std::string_view, std::optional<PickledTensor>>>> read_pickled_tensors(std::string_view pickle);

}  // namespace writeback::impl
