// Files of the test tree, and a program without what only one of two spellings can tell.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "ref/graph/error.h"
#include "ref/graph/program.h"

namespace writeback::impl {

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::filesystem::path models() { return std::filesystem::path(WRITEBACK_TESTS_DIR) / "models"; }
inline std::filesystem::path archive_path(const std::string& name) {
  return std::filesystem::path(WRITEBACK_TESTS_DIR) / "impl/import/archives" / name;
}
inline std::string archive_bytes(const std::string& name) { return bytes_of(archive_path(name)); }

/// The message of the InputError that f throws; empty where it throws none.
template <typename F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

inline void drop_comments(Graph& graph) {
  graph.closing_comments.clear();
  for (Node& node : graph.nodes) {
    node.comments.clear();
    node.trailing_comment.clear();
    node.metadata.clear();
  }
  for (Subgraph& subgraph : graph.subgraphs) drop_comments(subgraph.graph);
}

/// Archives keep tuples of operands as lists.
inline void lists_for_tuples(Argument& argument) {
  if (auto* list = std::get_if<ListArgument>(&argument)) {
    list->tuple = false;
    for (Argument& item : list->items) lists_for_tuples(item);
  }
}

inline Program stripped(Program program) {
  drop_comments(program.graph);
  for (Node& node : program.graph.nodes) {
    for (Argument& argument : node.args) lists_for_tuples(argument);
  }
  program.alias_groups.clear();
  program.leading_comments.clear();
  program.warnings.clear();
  return program;
}

}  // namespace writeback::impl
