#include "proxy/response_sender.h"

#include <array>
#include <string>

#include "proxy/head_text.h"

namespace proxy {

namespace {

namespace asio = boost::asio;

constexpr std::string_view kLastChunk = "0\r\n\r\n";
constexpr std::string_view kLineEnd = "\r\n";

/// Frames the pieces of one body.
class BodySender {
 public:
  BodySender(ClientConnection& client, const DownstreamResponse& response)
      : client_(client), framing_(response.framing), left_bytes_(response.length_bytes) {
    append_head(response.head, text_);
  }

  bool has_sent_head() const { return text_.empty(); }
  /// Whether the framing says that nothing more is to come.
  bool is_full() const { return framing_ == BodyFraming::kLength && left_bytes_ == 0; }
  bool would_overflow(const storage::Piece& piece) const {
    return framing_ == BodyFraming::kLength && piece.size() > left_bytes_;
  }

  /// The head if it is still to be sent, and a piece (which may be empty).
  asio::awaitable<bool> send(const storage::Piece& piece) {
    std::array<asio::const_buffer, 3> buffers;
    if (framing_ == BodyFraming::kChunked && !piece.empty()) {
      append_chunk_line(piece.size(), text_);
      buffers[2] = asio::buffer(kLineEnd);
    }
    buffers[0] = asio::buffer(text_);
    buffers[1] = asio::buffer(piece.bytes().data(), piece.size());
    const bool sent = co_await client_.send(buffers);
    text_.clear();
    if (framing_ == BodyFraming::kLength) left_bytes_ -= piece.size();
    co_return sent;
  }

  /// What ends the body; false where that would be a lie.
  asio::awaitable<bool> end() {
    if (framing_ == BodyFraming::kChunked) text_.append(kLastChunk);
    std::array<asio::const_buffer, 1> buffers{asio::buffer(text_)};
    const bool sent = text_.empty() || co_await client_.send(buffers);
    text_.clear();
    co_return sent;
  }

 private:
  ClientConnection& client_;
  BodyFraming framing_;
  uint64_t left_bytes_;
  std::string text_;
};

SendOutcome broken_off(ClientConnection& client, const DownstreamResponse& response,
                       const BodySender& sender) {
  if (!sender.has_sent_head()) return SendOutcome::kNothingSent;
  if (response.framing == BodyFraming::kClose) reset_socket(client.socket());
  client.give_up();
  return SendOutcome::kSourceFailed;
}

}  // namespace

asio::awaitable<SendOutcome> send_response(ClientConnection& client,
                                           const DownstreamResponse& response, BodySource* body,
                                           std::optional<storage::Piece> first) {
  BodySender sender(client, response);
  if (response.framing == BodyFraming::kNone || sender.is_full() || !body) {
    const bool sent = co_await sender.end();
    co_return sent ? SendOutcome::kSent : SendOutcome::kClientFailed;
  }
  for (;;) {
    storage::Result<storage::Piece> piece{storage::Piece()};
    if (first) {
      piece = std::move(*first);
      first.reset();
    } else {
      piece = body->try_next();
      if (!piece && piece.error().code == storage::Errc::kOverloaded) {
        if (!sender.has_sent_head() && !co_await sender.send(storage::Piece())) {
          co_return SendOutcome::kClientFailed;
        }
        piece = co_await body->next();
      }
    }
    if (!piece || sender.would_overflow(*piece)) co_return broken_off(client, response, sender);
    if (piece->empty()) break;
    if (!co_await sender.send(*piece)) co_return SendOutcome::kClientFailed;
    if (sender.is_full()) co_return SendOutcome::kSent;
  }
  if (response.framing == BodyFraming::kLength) co_return broken_off(client, response, sender);
  const bool sent = co_await sender.end();
  co_return sent ? SendOutcome::kSent : SendOutcome::kClientFailed;
}

asio::awaitable<SendOutcome> send_text_response(ClientConnection& client, const ResponseHead& head,
                                                std::string_view body) {
  std::string text;
  append_head(head, text);
  std::array<asio::const_buffer, 2> buffers{asio::buffer(text),
                                            asio::buffer(body.data(), body.size())};
  const bool sent = co_await client.send(buffers);
  co_return sent ? SendOutcome::kSent : SendOutcome::kClientFailed;
}

}  // namespace proxy
