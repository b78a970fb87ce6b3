#include "proxy/conditional.h"

#include <algorithm>

#include "proxy/header_lists.h"

namespace proxy {
namespace {

/// Fields of a 304 that never change a stored response: they describe its body, chose its key, or
/// belong to one client.
bool is_kept_from_update(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "Content-Encoding", "Content-Type", "Content-Range", "Content-Language", "Content-MD5",
      "Content-Digest",   "Vary",         "Set-Cookie",    "Set-Cookie2"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view kept) { return equals_ignoring_case(kept, name); });
}

/// The instant that If-Modified-Since is compared with (RFC 9111 4.3.2).
HttpTime modification_time(const StoredResponse& entry) {
  for (http::field field : {http::field::last_modified, http::field::date}) {
    if (const auto time = parse_http_date(entry.head[field], entry.response_time)) return *time;
  }
  return entry.response_time;
}

bool matches_none_match(const RequestHead& request, const ResponseHead& stored) {
  const auto stored_tag = parse_entity_tag(trim_blanks(stored[http::field::etag]));
  for (std::string_view element : list_elements(request, "If-None-Match")) {
    if (element == "*") return true;
    const auto tag = parse_entity_tag(element);
    if (tag && stored_tag && weak_match(*tag, *stored_tag)) return true;
  }
  return false;
}

}  // namespace

std::optional<EntityTag> parse_entity_tag(std::string_view text) {
  EntityTag tag;
  if (text.substr(0, 2) == "W/") {
    tag.weak = true;
    text.remove_prefix(2);
  }
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
  const std::string_view inner = text.substr(1, text.size() - 2);
  for (char c : inner) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == '"' || byte == 0x7f) return std::nullopt;
  }
  tag.opaque = text;
  return tag;
}

bool strong_match(const EntityTag& left, const EntityTag& right) {
  return !left.weak && !right.weak && left.opaque == right.opaque;
}

bool weak_match(const EntityTag& left, const EntityTag& right) {
  return left.opaque == right.opaque;
}

Condition evaluate_conditions(const RequestHead& request, const StoredResponse& entry) {
  if (entry.head.result() != http::status::ok) return Condition::kUnconditional;
  if (has_if_none_match(request)) {
    return matches_none_match(request, entry.head) ? Condition::kNotModified : Condition::kTrue;
  }
  if (line_count(request, "If-Modified-Since") != 1) return Condition::kUnconditional;
  const auto since =
      parse_http_date(trim_blanks(request[http::field::if_modified_since]), entry.response_time);
  if (!since) return Condition::kUnconditional;
  return modification_time(entry) <= *since ? Condition::kNotModified : Condition::kTrue;
}

bool has_if_none_match(const RequestHead& request) {
  return request.count(http::field::if_none_match) > 0;
}

bool range_applies(const RequestHead& request, const ResponseHead& stored) {
  const size_t lines = line_count(request, "If-Range");
  if (lines == 0) return true;
  if (lines > 1) return false;
  const std::string_view value = trim_blanks(request[http::field::if_range]);
  if (const auto tag = parse_entity_tag(value)) {
    const auto stored_tag = parse_entity_tag(trim_blanks(stored[http::field::etag]));
    return stored_tag && strong_match(*tag, *stored_tag);
  }
  // Two-digit years are resolved alike on both sides, whatever the instant.
  const HttpTime reference{};
  const auto wanted = parse_http_date(value, reference);
  const auto modified = parse_http_date(stored[http::field::last_modified], reference);
  const auto date = parse_http_date(stored[http::field::date], reference);
  return wanted && modified && date && *wanted == *modified && *date - *modified >= Seconds(1);
}

bool has_validator(const ResponseHead& stored) {
  return !stored[http::field::etag].empty() || !stored[http::field::last_modified].empty();
}

void remove_conditions(RequestHead& request) {
  for (http::field field :
       {http::field::if_match, http::field::if_none_match, http::field::if_modified_since,
        http::field::if_unmodified_since, http::field::if_range, http::field::range}) {
    request.erase(field);
  }
}

void set_validators(RequestHead& request, const ResponseHead& stored) {
  remove_conditions(request);
  const std::string_view tag = stored[http::field::etag];
  const std::string_view modified = stored[http::field::last_modified];
  if (!tag.empty()) request.set(http::field::if_none_match, tag);
  if (!modified.empty()) request.set(http::field::if_modified_since, modified);
}

bool validates(const ResponseHead& not_modified, const StoredResponse& entry) {
  const std::string_view new_tag = trim_blanks(not_modified[http::field::etag]);
  const std::string_view old_tag = trim_blanks(entry.head[http::field::etag]);
  if (!new_tag.empty() && !old_tag.empty()) {
    const auto left = parse_entity_tag(new_tag);
    const auto right = parse_entity_tag(old_tag);
    return left && right ? weak_match(*left, *right) : new_tag == old_tag;
  }
  const std::string_view new_time = not_modified[http::field::last_modified];
  const std::string_view old_time = entry.head[http::field::last_modified];
  if (!new_time.empty() && !old_time.empty()) {
    const auto left = parse_http_date(new_time, entry.response_time);
    const auto right = parse_http_date(old_time, entry.response_time);
    return left && right ? *left == *right : new_time == old_time;
  }
  // A tag that the stored response does not have may be another version's.
  return new_tag.empty();
}

void freshen(StoredResponse& entry, const ResponseHead& not_modified, HttpTime request_time,
             HttpTime response_time) {
  const ResponseHead update = head_to_store(not_modified);
  const bool keeps_tag = entry.head.count(http::field::etag) > 0;
  // Both speak of the message that carried them: of the 304 or of none.
  entry.head.erase(http::field::age);
  entry.head.erase(http::field::date);
  const auto is_kept = [&](const Fields::value_type& field) {
    return is_kept_from_update(field.name_string()) ||
           (keeps_tag && field.name() == http::field::etag);
  };
  for (const auto& field : update) {
    if (!is_kept(field)) entry.head.erase(field.name_string());
  }
  for (const auto& field : update) {
    if (!is_kept(field)) entry.head.insert(field.name_string(), field.value());
  }
  // The new Cache-Control may forbid to keep fields that were kept before.
  entry.head = head_to_store(entry.head);
  entry.request_time = request_time;
  entry.response_time = response_time;
}

}  // namespace proxy
