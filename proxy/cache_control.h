// The Cache-Control field (RFC 9111 5.2, RFC 5861), parsed so that doubt always means the
// more careful behaviour.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http_date.h"
#include "proxy/http_message.h"

namespace proxy {

/// Delta-seconds beyond this are this (RFC 9111 1.2.2).
inline constexpr Seconds kDeltaSecondsMax{int64_t{1} << 31};

/// Reads delta-seconds, plain or as a quoted string; too large is kDeltaSecondsMax. Nothing for
/// signs, fractions, blanks or no digits.
std::optional<Seconds> parse_delta_seconds(std::string_view text);

/// What the Cache-Control lines of a message say. Of a directive that is given several times the
/// most restrictive value counts; an invalid value is the most restrictive there is (a lifetime of
/// zero). Unknown directives are ignored. Names are matched without regard to case.
struct CacheControl {
  bool present = false;  ///< There is at least one Cache-Control line.

  bool no_store = false;
  bool no_cache = false;                     ///< Unqualified; qualified by fields only: see below.
  std::vector<std::string> no_cache_fields;  ///< Lower case; not to be reused unvalidated.
  bool is_private = false;                   ///< Unqualified.
  std::vector<std::string> private_fields;   ///< Lower case; not to be kept by a shared cache.
  bool is_public = false;
  bool must_revalidate = false;
  bool proxy_revalidate = false;
  bool must_understand = false;
  bool only_if_cached = false;

  std::optional<Seconds> max_age;
  std::optional<Seconds> s_maxage;
  std::optional<Seconds> min_fresh;
  std::optional<Seconds> max_stale;  ///< kDeltaSecondsMax where it has no value: any staleness.
  std::optional<Seconds> stale_while_revalidate;
  std::optional<Seconds> stale_if_error;
};

/// Parses all the Cache-Control lines of a message.
CacheControl parse_cache_control(const Fields& fields);

}  // namespace proxy
