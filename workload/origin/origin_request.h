// What the origin needs to know of a request, and the parser that finds it out.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace workload {

/// A request, as far as it changes the answer.
struct OriginRequest {
  enum class Method { kGet, kHead, kPost, kPut, kOptions, kOther };

  Method method = Method::kOther;
  std::string method_text;  ///< As it was sent.
  std::string target;       ///< Path and query; of an absolute-form target too.
  bool http_1_1 = false;
  bool host_given = false;
  bool expects_continue = false;
  std::optional<uint64_t> transaction;  ///< Of the robot; nothing where absent or malformed.
  std::string if_match;                 ///< Several fields are joined by commas; empty: absent.
  std::string if_unmodified_since;
  std::string if_none_match;
  std::string if_modified_since;
  std::string if_range;
  std::string range;
  std::string accept_encoding;
  bool accept_encoding_given = false;  ///< It may be empty, which allows no coding.
  std::optional<uint16_t> break_off;   ///< As parse_break_off() read it; nothing where absent.
  uint64_t body_bytes = 0;             ///< Received and thrown away.

  /// Back to the state of a new object, keeping the memory of its strings.
  void clear();
};

/// Parses one HTTP/1 message (RFC 9112) into an OriginRequest; the body is counted and dropped.
/// Feed it with put() until is_done(); it is good for one message.
class OriginRequestParser : public boost::beast::http::basic_parser<true> {
 public:
  /// `request` must outlive the parser, and is cleared.
  OriginRequestParser(OriginRequest& request, uint64_t body_bytes_max);

 private:
  using ErrorCode = boost::beast::error_code;
  using StringView = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb method, StringView method_text, StringView target,
                       int version, ErrorCode& error) override;
  void on_response_impl(int status, StringView reason, int version, ErrorCode& error) override;
  void on_field_impl(boost::beast::http::field name, StringView name_text, StringView value,
                     ErrorCode& error) override;
  void on_header_impl(ErrorCode& error) override;
  void on_body_init_impl(const boost::optional<uint64_t>& content_length,
                         ErrorCode& error) override;
  size_t on_body_impl(StringView body, ErrorCode& error) override;
  void on_chunk_header_impl(uint64_t size, StringView extensions, ErrorCode& error) override;
  size_t on_chunk_body_impl(uint64_t remain, StringView body, ErrorCode& error) override;
  void on_finish_impl(ErrorCode& error) override;

  OriginRequest& request_;
};

}  // namespace workload
