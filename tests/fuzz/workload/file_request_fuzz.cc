#include <algorithm>
#include <string>

#include "tests/fuzz/workload/targets.h"
#include "workload/origin/static/content_coding.h"
#include "workload/origin/static/file_answer.h"
#include "workload/origin/static/request_path.h"

namespace testing_support {
namespace {

using workload::PieceSource;

/// What a peer may choose of a request, a line each: target, Range, If-Range, If-None-Match,
/// If-Match, If-Modified-Since, Accept-Encoding.
workload::OriginRequest request_of(std::string_view input) {
  workload::OriginRequest request;
  request.method = workload::OriginRequest::Method::kGet;
  request.accept_encoding_given = true;
  for (auto* const field :
       {&request.target, &request.range, &request.if_range, &request.if_none_match,
        &request.if_match, &request.if_modified_since, &request.accept_encoding}) {
    const auto line = input.substr(0, input.find('\n'));
    *field = line;
    input.remove_prefix(std::min(line.size() + 1, input.size()));
  }
  return request;
}

void check_path(const std::string& target) {
  workload::RequestPath path;
  if (read_request_path(target, path) != workload::PathFault::kNone) return;
  const std::string inside = "/" + path.relative + "/";
  require(path.relative.empty() || inside.find("//") == std::string::npos, "names are not empty");
  require(inside.find("/../") == std::string::npos, "nothing leads up");
  require(inside.find("/./") == std::string::npos, "nothing stays");
  require(inside.find('\0') == std::string::npos, "the kernel sees the whole path");
  std::string url = "/";
  workload::add_url_path(url, path.relative);
  for (const char c : url) require(c > ' ' && c < 0x7f, "a URL fits a line of a head");
  workload::RequestPath again;
  require(read_request_path(url, again) == workload::PathFault::kNone &&
              again.relative == path.relative,
          "an encoded path is itself");
}

void check_answer(const workload::OriginRequest& request, uint64_t size_bytes) {
  constexpr int64_t kNowS = 1'700'000'000;
  const workload::FileFacts facts{1, size_bytes, 1'600'000'000'000'000'000,
                                  1'600'000'000'000'000'000};
  const workload::FileVersion version(facts, workload::FileCoding::kIdentity,
                                      kNowS * 1'000'000'000);
  workload::FileContext context;
  context.now_unix_s = kNowS;
  context.media_type = "text/plain";
  context.size_bytes = size_bytes;
  context.boundary = "b";
  workload::FileAnswer answer;
  const auto validators = version.validators();
  answer_file(request, context, validators, evaluate_conditions(request, validators, kNowS),
              answer);
  require(answer.status >= 200 && answer.status < 600, "a response has a status");
  require(!answer.pieces.empty() && answer.pieces.size() <= 2 * workload::kByteRangesMax + 2,
          "pieces are bounded");
  uint64_t of_file = 0;
  uint64_t behind_head = 0;
  for (size_t at = 0; at < answer.pieces.size(); ++at) {
    const auto& piece = answer.pieces[at];
    const bool text = piece.source == PieceSource::kText;
    const uint64_t end = piece.offset_bytes + piece.size_bytes;
    require(end <= (text ? answer.text.size() : size_bytes), "pieces are parts of what there is");
    if (!text) of_file += piece.size_bytes;
    if (at > 0) behind_head += piece.size_bytes;
  }
  require(of_file <= size_bytes, "no byte is sent twice");
  const auto head = std::string_view(answer.text).substr(0, answer.text.find("\r\n\r\n") + 4);
  if (answer.status == 200 || answer.status == 206) {
    require(answer.pieces.front().size_bytes == head.size(), "the head is the first piece");
    require(head.find("\r\nContent-Length: " + std::to_string(behind_head) + "\r\n") !=
                std::string_view::npos,
            "the length is that of what follows");
  }
}

void run(std::string_view input) {
  const auto request = request_of(input);
  check_path(request.target);
  for (const uint64_t size_bytes : {uint64_t{0}, uint64_t{100}, uint64_t{1} << 40}) {
    check_answer(request, size_bytes);
  }
  const auto accepted = read_accept_encoding(request);
  require(accepted.gzip || accepted.identity || !request.accept_encoding.empty(),
          "an empty field forbids nothing");
}

}  // namespace

FuzzTarget file_request_target() {
  return {"file_request",
          run,
          {"/a/%2e%2e/b%2fc?d\nbytes=0-9,20-29,-5\n\"x\"\n\"y\", W/\"z\"\n*\n"
           "Sun, 06 Nov 1994 08:49:37 GMT\ngzip;q=0.5, identity;q=0, *;q=0.001",
           "//./x%20%ff/\nbytes=5-99999999999999999999\nSun, 13 Sep 2020 12:26:40 GMT\n\n\n\n*",
           "/.well-known/a\nbytes=0-0,0-0,1-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16,18-,-1\n"
           "\"1-64-1634ffd9ba6a0000\"\n\n\"1-64-1634ffd9ba6a0000\"\n\nx-gzip"}};
}

}  // namespace testing_support
