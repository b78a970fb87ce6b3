// Text of unknown origin, made fit for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace workload {

/// The text as one line of valid UTF-8 without what a terminal obeys: control characters (C0, DEL,
/// C1), line and paragraph separators and marks that turn the direction of writing become `?`, and
/// so does each byte that is no UTF-8.
std::string printable(std::string_view text);

/// The text's beginning, at most so many bytes, without half a character at its end.
std::string_view cut_text(std::string_view text, size_t bytes_max);

}  // namespace workload
