// Python values as torch.fx writes them in arguments: read into Argument and printed back the way Python's repr does.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "ref/graph/argument.h"
#include "ref/graph/text_cursor.h"
#include "ref/graph/text_names.h"

namespace writeback::text {

/// Reads one value: a name, number, string, None, True, list, tuple, dict, slice, or a word of torch. A name that is no value
/// and no word of Python is an InputError (a use before its definition). A list that someone cut with `...` gets a warning.
Argument read_value(Cursor&, const ValueContext&);

/// The string that stands in quotes at the cursor, its escapes resolved.
std::string read_string(Cursor&);

/// Appends `a` as Python prints it; `name_of` gives the name of a value.
using NameOf = std::function<const std::string&(ValueId)>;
void print_value(std::string& out, const Argument& a, const NameOf& name_of);

/// As Python's repr: shortest digits that read back the same, `1e-05`, `inf`, `3.0`.
void print_float(std::string& out, double number);
/// As Python's repr: in single quotes unless only double ones do without escapes.
void print_string(std::string& out, std::string_view s);

/// A word such as `torch.float32` or `device(type='cpu')` with the role that its spelling tells.
Symbol symbol_of(std::string_view text);

}  // namespace writeback::text
