#include <string>

#include "tests/fuzz/workload/targets.h"
#include "workload/ab/response_reader.h"

namespace testing_support {
namespace {

using workload::ab::ResponseReader;
using State = ResponseReader::State;

struct Outcome {
  State state = State::kHead;
  std::string body;
  size_t rest_bytes = 0;
  friend bool operator==(const Outcome& left, const Outcome& right) = default;
};

Outcome read_in_pieces(std::string_view input, size_t piece_size) {
  ResponseReader reader;
  reader.begin(false);
  Outcome outcome;
  for (size_t at = 0; at < input.size(); at += piece_size) {
    auto piece = input.substr(at, piece_size);
    while (!piece.empty() && reader.state() != State::kDone && reader.state() != State::kBroken) {
      const size_t before = piece.size();
      const auto body = reader.take(piece);
      require(piece.size() < before || reader.state() == State::kBroken, "each call takes bytes");
      require(body.size() <= before - piece.size(), "a body is a part of what was taken");
      outcome.body += body;
    }
    outcome.rest_bytes += piece.size();
  }
  reader.end_of_stream();
  outcome.state = reader.state();
  if (outcome.state == State::kDone) {
    const auto& head = reader.head();
    require(head.status >= 200 && head.status <= 999, "a response has a status");
    require(head.date_at + head.date_size <= reader.head_text().size(), "a date lies in its head");
    require(reader.head_text().size() <= ResponseReader::kHeadBytesMax, "a head is bounded");
  }
  return outcome;
}

void run(std::string_view input) {
  const auto whole = read_in_pieces(input, input.size() + 1);
  const auto apart = read_in_pieces(input, 1);
  if (whole.state == State::kBroken || apart.state == State::kBroken) {
    require(whole.state == apart.state, "what is broken is so in any pieces");
    return;
  }
  require(whole == apart, "the pieces in which it comes change nothing");
}

}  // namespace

FuzzTarget ab_response_target() {
  return {"ab_response",
          run,
          {"HTTP/1.1 200 OK\r\nServer: s\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
           "Connection: keep-alive\r\nContent-Length: 3\r\n\r\nabc",
           "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
           "2\r\nab\r\n1;x=y\r\nc\r\n0\r\nTrailer: t\r\n\r\n",
           "HTTP/1.0 404 Not Found\n\nbody", "HTTP/1.1 304 Not Modified\r\n\r\nHTTP/1.1"}};
}

}  // namespace testing_support
