#include "workload/report/printable_text.h"

#include <cstdint>

namespace workload {
namespace {

bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// One character at the beginning of a text.
struct Character {
  size_t bytes = 1;
  uint32_t code = 0;
  bool valid = false;
};

/// The character that the text, which is not empty, begins with (RFC 3629).
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {1, lead, true};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  uint32_t code = lead & (0xff >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if (!continues(text[i])) return {};
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  }
  const bool is_short = code < (bytes == 4 ? 0x10000U : bytes == 3 ? 0x800U : 0x80U);
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (is_short || is_surrogate || code > 0x10ffff) return {};
  return {bytes, code, true};
}

bool is_obeyed(uint32_t code) {
  const auto within = [code](uint32_t first, uint32_t last) {
    return code >= first && code <= last;
  };
  return code < 0x20 || within(0x7f, 0x9f) || code == 0x61c || within(0x200e, 0x200f) ||
         within(0x2028, 0x202e) || within(0x2066, 0x2069);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.valid && !is_obeyed(character.code)) {
      out += text.substr(0, character.bytes);
    } else {
      out += '?';
    }
    text.remove_prefix(character.bytes);
  }
  return out;
}

std::string_view cut_text(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  size_t end = bytes_max;
  while (end > 0 && continues(text[end])) --end;
  return text.substr(0, end);
}

}  // namespace workload
