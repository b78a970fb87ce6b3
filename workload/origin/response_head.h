// The text of a response's head, as all of the origin's answers have it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace workload {

/// Appends the digits of a number.
void add_number(std::string& out, uint64_t value);

/// Appends `name: value` and the line's end. Neither may hold control characters: whoever calls
/// this with bytes of a peer or of a file's name has to encode them before.
void add_field(std::string& out, std::string_view name, std::string_view value);
void add_field(std::string& out, std::string_view name, uint64_t value);

/// Begins `out` anew with the status line, Server and Date.
void begin_head(unsigned status, int64_t now_unix_s, std::string& out);

/// Ends a head: Connection and the blank line.
void end_head(bool keep_alive, std::string& out);

/// What a text response depends on.
struct TextResponse {
  unsigned status = 0;
  std::string_view media_type = "text/plain";
  std::string_view text;
  std::string_view more_fields;  ///< Whole lines of the head, or empty.
  bool head_only = false;        ///< Leaves the text out, as for HEAD.
};

/// Writes a whole response into `out`: a head that says that no cache may keep it, and the text.
void write_text_response(const TextResponse& response, int64_t now_unix_s, bool keep_alive,
                         std::string& out);

}  // namespace workload
