// From a request's target to the path of a file below the root. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace workload {

/// A path that names something below a root, whatever the target was.
struct RequestPath {
  std::string relative;          ///< `a/b.html`, without slashes at its ends; empty for the root.
  bool names_directory = false;  ///< The target ended with a slash.
  std::string_view query;        ///< With its question mark, or empty; points into the target.
};

enum class PathFault {
  kNone,
  kMalformed,  ///< 400: no slash first, a broken percent-encoding, a NUL, a `..`.
  kHidden,     ///< 404: a slash within a name, a name with a dot first, or one too long.
};

/// Decodes a target in origin form. Percent-encodings are decoded once. Empty segments and `.` are
/// left out; `..` is refused, however it is written, as clients resolve it before they ask. A name
/// that begins with a dot is hidden, but for `.well-known` at the root (RFC 8615). All other bytes,
/// backslashes and what is no UTF-8 included, mean themselves. `out` keeps its memory.
PathFault read_request_path(std::string_view target, RequestPath& out);

/// Appends a path so that a URL can hold it: all but letters, digits, `-._~` and slashes encoded.
void add_url_path(std::string& out, std::string_view path);

}  // namespace workload
