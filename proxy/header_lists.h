// Fields whose value is a list (RFC 9110 5.6.1), and the grammar below them. Views returned point
// into the arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http_message.h"

namespace proxy {

/// Without blanks and tabs at both ends.
std::string_view trim_blanks(std::string_view text);

/// Whether `text` is a token (RFC 9110 5.6.2): one or more tchar.
bool is_token(std::string_view text);

/// In lower case, ASCII only.
std::string to_lower(std::string_view text);

/// Whether two names are the same without regard to ASCII case.
bool equals_ignoring_case(std::string_view left, std::string_view right);

/// Elements of a list: split at commas outside quoted strings, trimmed, empty ones left out. A
/// quoted string that never ends takes all the rest.
std::vector<std::string_view> split_list(std::string_view value);

/// Elements of all the lines of one field, in order.
std::vector<std::string_view> list_elements(const Fields& fields, std::string_view name);

/// Whether one of the elements of a list field is `token`, without regard to case.
bool list_contains(const Fields& fields, std::string_view name, std::string_view token);

/// All the lines of a field as one value, joined by `, ` (RFC 9110 5.3). Empty where there is none.
std::string combined_value(const Fields& fields, std::string_view name);

/// How many lines a field has.
size_t line_count(const Fields& fields, std::string_view name);

/// The text of a quoted string without quotes and backslashes; other text as it is. Nothing where
/// the quoted string is malformed.
std::optional<std::string> unquote(std::string_view text);

/// Digits only, no sign, no blanks; nothing where it is anything else or does not fit 64 bits.
std::optional<uint64_t> parse_digits(std::string_view text);

/// Field names that the Connection field nominates, in lower case (RFC 9110 7.6.1).
std::vector<std::string> connection_nominated(const Fields& fields);

}  // namespace proxy
