// Responses about objects of the workload for a ScriptedServer: right ones, to be spoilt by tests.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "tests/support/scripted_server.h"
#include "workload/model/http_date.h"
#include "workload/model/object.h"

namespace testing_support {

/// The parts of a response, to be changed before they are put together.
struct ObjectReply {
  int status = 200;
  std::string body;
  std::string etag;
  std::string last_modified;
  std::string date;
  std::string body_stamp;        ///< Empty: no such field.
  std::string validation_stamp;  ///< Empty: no such field.
  bool with_length = true;
  bool chunked = false;
  std::string extra_fields;  ///< Whole lines.

  std::string text(bool head_only = false) const {
    std::string head = "HTTP/1.1 " + std::to_string(status) + " X\r\n" + extra_fields;
    add(head, "ETag", etag);
    add(head, "Last-Modified", last_modified);
    add(head, "Date", date);
    add(head, "X-Cacheoff-Body-For", body_stamp);
    add(head, "X-Cacheoff-Validated-For", validation_stamp);
    const bool has_body = status != 304 && status != 204;
    if (chunked) head += "Transfer-Encoding: chunked\r\n";
    if (with_length && !chunked && has_body) {
      add(head, "Content-Length", std::to_string(body.size()));
    }
    head += "\r\n";
    if (head_only || !has_body) return head;
    return head + (chunked ? in_chunks() : body);
  }

 private:
  static void add(std::string& head, std::string_view name, const std::string& value) {
    if (value.empty()) return;
    head += name;
    head += ": ";
    head += value;
    head += "\r\n";
  }

  /// Chunks of 1, 2, 4, ... bytes.
  std::string in_chunks() const {
    std::string out;
    size_t chunk = 1;
    for (size_t at = 0; at < body.size(); at += chunk, chunk *= 2) {
      const std::string part = body.substr(at, chunk);
      char size[32];
      std::snprintf(size, sizeof size, "%zx\r\n", part.size());
      out += size;
      out += part;
      out += "\r\n";
      chunk = part.size();
    }
    return out + "0\r\n\r\n";
  }
};

/// The object that a request asks for; nothing where its target names none.
inline std::optional<workload::ObjectSpec> object_of(const ScriptedRequest& request) {
  const size_t path = request.target.find("/object/");
  if (path == std::string::npos) return std::nullopt;
  return workload::parse_object_path(std::string_view(request.target).substr(path));
}

inline std::string body_of(const workload::ObjectSpec& object) {
  std::string body(object.size_bytes, '\0');
  workload::fill_body(object, 0, std::as_writable_bytes(std::span(body)));
  return body;
}

/// What the origin would answer: a miss.
inline ObjectReply right_reply(const ScriptedRequest& request) {
  ObjectReply reply;
  const auto object = object_of(request);
  if (!object) {
    reply.status = 404;
    return reply;
  }
  const std::string transaction = request.field("X-Cacheoff-Transaction");
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now().time_since_epoch());
  reply.etag = workload::object_etag(*object);
  reply.last_modified = workload::HttpDate(object->last_modified_unix_s).text();
  reply.date = workload::HttpDate(now.count()).text();
  const auto since = workload::parse_http_date(request.field("If-Modified-Since"), now.count());
  if (request.method != "POST" && since && *since >= object->last_modified_unix_s) {
    reply.status = 304;
    reply.validation_stamp = transaction;
    return reply;
  }
  reply.body = body_of(*object);
  reply.body_stamp = transaction;
  return reply;
}

}  // namespace testing_support
