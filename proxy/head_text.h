// Message heads as the bytes that go over the wire.
#pragma once

#include <string>

#include "proxy/http_message.h"

namespace proxy {

/// Appends start line, fields and the empty line that ends a head.
void append_head(const RequestHead& head, std::string& out);
void append_head(const ResponseHead& head, std::string& out);

/// Appends the line before a chunk's data: its size in hexadecimal. `size_bytes` must not be 0,
/// which would end the body.
void append_chunk_line(size_t size_bytes, std::string& out);

}  // namespace proxy
