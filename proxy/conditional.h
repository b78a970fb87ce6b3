// Conditional requests (RFC 9110 13) and validation of what is stored (RFC 9111 4.3).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/http_date.h"
#include "proxy/http_message.h"
#include "proxy/stored_response.h"

namespace proxy {

/// An entity tag (RFC 9110 8.8.3); `opaque` keeps its quotes.
struct EntityTag {
  bool weak = false;
  std::string_view opaque;
};

/// Nothing where it is malformed.
std::optional<EntityTag> parse_entity_tag(std::string_view text);

/// RFC 9110 8.8.3.2.
bool strong_match(const EntityTag& left, const EntityTag& right);
bool weak_match(const EntityTag& left, const EntityTag& right);

/// Outcome of the conditions in a request.
enum class Condition {
  kUnconditional,  ///< There is none that a cache evaluates.
  kTrue,           ///< Serve the request.
  kNotModified,    ///< Answer 304.

};

/// Evaluates If-None-Match and, where there is none, If-Modified-Since of a GET or HEAD against a
/// stored response (RFC 9110 13.2.2). If-Match and If-Unmodified-Since are the origin's alone (RFC
/// 9111 4.3.2): such requests go to it (may_look_up). Conditions count only where the stored
/// response is a 200. Invalid dates are ignored; the date that If-Modified-Since compares is
/// Last-Modified, else Date, else the time it was received.

Condition evaluate_conditions(const RequestHead& request, const StoredResponse& entry);

/// Which condition made a 304: with If-None-Match it is TCP_INM_HIT in the access log, else
/// TCP_IMS_HIT.
bool has_if_none_match(const RequestHead& request);

/// Whether Range applies: there is no If-Range, or it matches strongly (RFC 9110 13.1.5). A date
/// matches only where it equals a Last-Modified that is strong: at least one second before Date.
bool range_applies(const RequestHead& request, const ResponseHead& stored);

/// Whether a stored response can be validated: it has an ETag or a Last-Modified.
bool has_validator(const ResponseHead& stored);

/// Removes If-* of the client from a request to the origin, and Range.
void remove_conditions(RequestHead& request);

/// Replaces the conditions of a request by If-None-Match and If-Modified-Since from the stored
/// response (RFC 9111 4.3.1).
void set_validators(RequestHead& request, const ResponseHead& stored);

/// Whether a 304 that answers our validation speaks of the stored response (RFC 9111 4.3.4): none
/// of its validators disagrees. Tags are compared weakly, because the origin did so when it matched
/// the one tag that we sent. If not, fetch anew.
bool validates(const ResponseHead& not_modified, const StoredResponse& entry);

/// Updates the stored head from a 304 (RFC 9111 3.2): its fields replace those of the same name.
/// What describes the stored body stays (Content-*, a stored ETag), so does Vary, and Set-Cookie is
/// not taken in. Sets both times. The 304 may forbid further storing: ask may_store() again.
void freshen(StoredResponse& entry, const ResponseHead& not_modified, HttpTime request_time,
             HttpTime response_time);

}  // namespace proxy
