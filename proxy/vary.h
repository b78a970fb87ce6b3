// Variants of one resource (RFC 9111 4.1). Under the primary key of a resource that varies there is
// a VaryMarker naming the request fields; each response is under the key made of their values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http_message.h"
#include "proxy/stored_response.h"

namespace proxy {

/// Names in the Vary field of a response, in lower case, sorted, unique; empty where it does not
/// vary. Nothing where it must not be stored: `*`, a malformed name, or more than
/// kStoredVaryNamesMax names.
std::optional<std::vector<std::string>> vary_names(const ResponseHead& response);

/// The key of the variant that a request selects: the primary key, the marker's generation, then
/// for each name its value in the request, lengths before texts so that no two requests share a key
/// by chance. The lines of a field are joined; Accept-Charset, Accept-Encoding and
/// Accept-Language are also freed of blanks and put in lower case. Absent differs from empty.
/// Nothing where it would be longer than storage::Key::kLengthMax: then don't cache.
std::optional<std::string> variant_key(std::string_view primary_key, const VaryMarker& marker,

                                       const RequestHead& request);

}  // namespace proxy
