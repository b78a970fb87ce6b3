// Heads of HTTP messages, written as a line or two in a test.
#pragma once

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace testing_support {

/// Names and values of fields, in order.
using FieldList = std::vector<std::pair<std::string_view, std::string_view>>;

/// An HTTP/1.1 request head (`version` 10: HTTP/1.0). Nothing is added to the fields.
inline boost::beast::http::request_header<> request_head(std::string_view method,
                                                         std::string_view target,
                                                         const FieldList& fields = {},
                                                         unsigned version = 11) {
  boost::beast::http::request_header<> head;
  head.method_string(method);
  head.target(target);
  head.version(version);
  for (const auto& [name, value] : fields) head.insert(name, value);
  return head;
}

/// A GET of `/` with these fields and a Host.
inline boost::beast::http::request_header<> get_head(const FieldList& fields = {}) {
  auto head = request_head("GET", "/", {{"Host", "a.example"}});
  for (const auto& [name, value] : fields) head.insert(name, value);
  return head;
}

/// A response head.
inline boost::beast::http::response_header<> response_head(unsigned status,
                                                           const FieldList& fields = {},
                                                           unsigned version = 11) {
  boost::beast::http::response_header<> head;
  head.result(status);
  head.version(version);
  for (const auto& [name, value] : fields) head.insert(name, value);
  return head;
}

/// `Name: value` lines of a head, in order, for comparison and messages.
inline std::string text_of(const boost::beast::http::fields& fields) {
  std::string out;
  for (const auto& field : fields) {
    out += std::string(field.name_string()) + ": " + std::string(field.value()) + "\n";
  }
  return out;
}

}  // namespace testing_support
