// Programs from outside: `.pt2` archives of the three layouts, export-schema JSON, and printed text; and JSON back out.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ref/graph/program.h"

namespace writeback::impl {

/// Which program of an archive with several models to take; empty = the only one (or "model").
struct ImportOptions {
  std::string model;
};

/// Tells the format by its content (zip magic, `{`, else text) and reads it; in-place writes of a program without mutation
/// outputs become such (training_ir.h), which the readers below leave alone. `name` is used in messages.
/// Throws InputError: place is an archive entry, a JSON pointer or line and column.
Program read_program(std::string_view bytes, const std::string& name, const ImportOptions& = {});

/// The bytes of a file, "-" = standard input. A file that cannot be read is an InputError.
std::string read_file(const std::string& path);

/// Reads a file, "-" = standard input. A file that cannot be read is an InputError.
Program read_program_file(const std::string& path, const ImportOptions& = {});

Program read_archive(std::string_view bytes, const ImportOptions& = {});
Program read_json(std::string_view json);

/// Export-schema JSON (8.x) that torch.export can load where every op is an ATen op.
std::string write_json(const Program&);

}  // namespace writeback::impl
