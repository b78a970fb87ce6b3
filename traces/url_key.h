// When two URLs of a log mean the same object.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace traces {

/// The URL with scheme and host in small letters, without the scheme's own port, without fragment,
/// and with `/` for an empty path; path and query stay as they are (RFC 9110, section 4.2.3, and
/// RFC 3986, section 6.2.2.1). Nothing for what is not `scheme://host...`.
std::optional<std::string> normalised_url(std::string_view url);

/// Makes a logged target absolute: one that begins with `/` gets `http://` (`https://` for port
/// 443) and `host`; any other stays as it is. `host` is a name or `name:port`.
std::string absolute_url(std::string_view target, std::string_view host);

/// The extension of the URL's path in small letters, without its point, at most 8 characters;
/// empty where it has none.
std::string url_extension(std::string_view url);

}  // namespace traces
