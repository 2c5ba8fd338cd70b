// The tree behind a SymInt, for the files that read, print, compute and compare it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace writeback {

struct SymNode {
  enum class Op : std::uint8_t {
    number,
    symbol,
    add,
    multiply,
    power,
    floor_divide,
    divide,
    modulo,
    maximum,
    minimum,
    floor,
    ceiling,
    other  // a function whose value is not known
  };
  Op op = Op::symbol;
  std::string name;         // of symbols and functions
  std::string text;         // of a root: as it prints
  std::int64_t number = 0;  // of numbers
  std::vector<std::shared_ptr<const SymNode>> children;
  int depth = 1;
};

/// By sympy's rules.
std::string print(const SymNode&);

}  // namespace writeback
