#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "workload/ab/response_check.h"
#include "workload/ab/response_reader.h"

namespace workload::ab {
namespace {

using State = ResponseReader::State;

struct ReadResponse {
  State state = State::kHead;
  std::string body;
  std::string rest;
  ResponseHead head;
};

ReadResponse read_in_pieces(std::string_view bytes, size_t piece_size, bool head_only = false,
                            bool ended = false) {
  ResponseReader reader;
  reader.begin(head_only);
  ReadResponse result;
  for (size_t at = 0; at < bytes.size(); at += piece_size) {
    auto piece = bytes.substr(at, piece_size);
    while (!piece.empty() && reader.state() != State::kDone && reader.state() != State::kBroken) {
      result.body += reader.take(piece);
    }
    result.rest += piece;
  }
  if (ended) reader.end_of_stream();
  result.state = reader.state();
  if (result.state == State::kBody || result.state == State::kDone) result.head = reader.head();
  return result;
}

constexpr std::string_view kLengthResponse =
    "HTTP/1.1 200 OK\r\nServer: s\r\ncontent-LENGTH:  3 \r\n\r\nabcZ";
constexpr std::string_view kChunkedResponse =
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    "2\r\nab\r\n1;x=y\r\nc\r\n0\r\nTrailer: t\r\n\r\nZ";

TEST(AbResponseReader, FindsTheEndHoweverTheBytesCome) {
  for (const auto response : {kLengthResponse, kChunkedResponse}) {
    for (size_t piece = 1; piece <= response.size(); ++piece) {
      const auto read = read_in_pieces(response, piece);
      EXPECT_EQ(read.state, State::kDone) << piece;
      EXPECT_EQ(read.body, "abc") << piece;
      EXPECT_EQ(read.rest, "Z") << piece;
      EXPECT_EQ(read.head.status, 200);
    }
  }
}

TEST(AbResponseReader, SilenceIsNoEnd) {
  EXPECT_EQ(read_in_pieces("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", 99, false, true).state,
            State::kBody);
  EXPECT_EQ(read_in_pieces(kChunkedResponse.substr(0, kChunkedResponse.size() - 3), 99, false, true)
                .state,
            State::kBody);
  EXPECT_EQ(read_in_pieces("HTTP/1.1 200 OK\r\n", 99, false, true).state, State::kHead);
  const auto to_close = read_in_pieces("HTTP/1.0 200 OK\r\n\r\nabc", 2, false, true);
  EXPECT_EQ(to_close.state, State::kDone);
  EXPECT_EQ(to_close.body, "abc");
  EXPECT_FALSE(to_close.head.keep);
}

TEST(AbResponseReader, SomeResponsesHaveNoBody) {
  EXPECT_EQ(read_in_pieces("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", 9, true).state,
            State::kDone);
  EXPECT_EQ(read_in_pieces("HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n", 9).state,
            State::kDone);
  EXPECT_EQ(read_in_pieces("HTTP/1.1 204 No Content\r\n\r\n", 9).state, State::kDone);
}

TEST(AbResponseReader, KeepsAsTheServerSays) {
  const auto keeps = [](std::string_view head) {
    return read_in_pieces(std::string(head) + "Content-Length: 0\r\n\r\n", 99).head.keep;
  };
  EXPECT_TRUE(keeps("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(keeps("HTTP/1.0 200 OK\r\nConnection: x, Keep-Alive\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.0 200 OK\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.1 200 OK\r\nConnection: close\r\n"));
}

TEST(AbResponseReader, RefusesWhatIsNoHttp) {
  for (const std::string_view wrong : {
           "HTTP/2 200\r\n\r\n",
           "SSH-2.0-x\r\n",
           "HTTP/1.1 20 OK\r\n\r\n",
           "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
           "HTTP/1.1 200 OK\r\nSpace : x\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n",
           "HTTP/1.1 101 Switching\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
       }) {
    for (const size_t piece : {size_t{1}, wrong.size()}) {
      EXPECT_EQ(read_in_pieces(wrong, piece).state, State::kBroken) << wrong;
    }
  }
}

TEST(AbResponseReader, BoundsWhatThePeerControls) {
  std::string head = "HTTP/1.1 200 OK\r\n";
  while (head.size() <= ResponseReader::kHeadBytesMax)
    head += "X: yyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n";
  EXPECT_EQ(read_in_pieces(head, 1000).state, State::kBroken);
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(read_in_pieces(chunked + "1;" + std::string(5000, 'x'), 1000).state, State::kBroken);
  std::string trailer = chunked + "0\r\n";
  for (int i = 0; i < 5000; ++i) trailer += "X: yyyyyyyyyyyyyy\r\n";
  EXPECT_EQ(read_in_pieces(trailer, 1000).state, State::kBroken);
  std::string interim;
  for (int i = 0; i < 20; ++i) interim += "HTTP/1.1 102 Processing\r\n\r\n";
  EXPECT_EQ(read_in_pieces(interim, 1000).state, State::kBroken);
}

std::string dated_response(const std::string& date, const std::string& body) {
  return "HTTP/1.1 200 OK\r\nDate: " + date + "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

class AbResponseCheck : public testing::Test {
 protected:
  Likeness likeness_of(const std::string& response, size_t piece = 4096) {
    check.begin();
    for (size_t at = 0; at < response.size(); at += piece) {
      EXPECT_TRUE(check.take(std::string_view(response).substr(at, piece)).empty());
    }
    EXPECT_EQ(check.reader().state(), State::kDone);
    return check.compare();
  }

  FirstResponse first;
  ThreadChecks checks{first, false, true};
  ResponseCheck check{checks};
};

TEST_F(AbResponseCheck, TellsOtherBodiesWhateverTheDate) {
  EXPECT_EQ(likeness_of(dated_response("Mon", "abc")), Likeness::kSame);
  ASSERT_TRUE(checks.pattern.known());
  for (const size_t piece : {size_t{1}, size_t{50}, size_t{4096}}) {
    EXPECT_EQ(likeness_of(dated_response("Mon", "abc"), piece), Likeness::kSame);
    EXPECT_EQ(likeness_of(dated_response("Tue", "abc"), piece), Likeness::kSame);
    EXPECT_EQ(likeness_of(dated_response("Tuesday", "abc"), piece), Likeness::kSame);
    EXPECT_EQ(likeness_of(dated_response("Tue", "abd"), piece), Likeness::kOtherContent);
    EXPECT_EQ(likeness_of(dated_response("Tue", "abcd"), piece), Likeness::kOtherLength);
    EXPECT_EQ(likeness_of(dated_response("Tue", ""), piece), Likeness::kOtherLength);
  }
}

TEST_F(AbResponseCheck, HidesNoFieldInADate) {
  EXPECT_EQ(likeness_of(dated_response(std::string(22, 'x'), "abc")), Likeness::kSame);
  check.begin();
  check.take(dated_response("\r\nTransfer-Encoding: no", "abc"));
  EXPECT_EQ(check.reader().state(), State::kBroken);
}

TEST_F(AbResponseCheck, LargeBodiesAreToldByTheirDigest) {
  std::string body(ResponsePattern::kBodyBytesMax + 1, 'x');
  EXPECT_EQ(likeness_of(dated_response("Mon", body), 65536), Likeness::kSame);
  EXPECT_FALSE(checks.pattern.known());
  EXPECT_EQ(likeness_of(dated_response("Mon", body), 4096), Likeness::kSame);
  body[body.size() / 2] = 'y';
  EXPECT_EQ(likeness_of(dated_response("Mon", body), 4096), Likeness::kOtherContent);
}

TEST_F(AbResponseCheck, ThreadsShareTheFirst) {
  EXPECT_EQ(likeness_of(dated_response("Mon", "abc")), Likeness::kSame);
  ThreadChecks others{first, false, true};
  ResponseCheck other(others);
  other.begin();
  other.take(dated_response("Mon", "abd"));
  EXPECT_EQ(other.compare(), Likeness::kOtherContent);
  EXPECT_FALSE(others.pattern.known());
}

}  // namespace
}  // namespace workload::ab
