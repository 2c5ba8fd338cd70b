// The frame of our HTML pages: one self-contained file each, no script, no font and no style from elsewhere; light and dark by the
// reader's preference; readable on a phone and in a pull request.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace writeback::impl {

/// Escapes &, <, >, " for text and attributes.
std::string html_escaped(std::string_view);

/// A whole page around a body.
std::string html_page(std::string_view title, std::string_view body);

/// "1,048,576"
std::string with_commas(std::int64_t);

}  // namespace writeback::impl
