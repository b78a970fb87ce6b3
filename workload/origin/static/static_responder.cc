#include "workload/origin/static/static_responder.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <random>

#include "storage/base/await.h"
#include "workload/origin/origin_connection.h"
#include "workload/origin/origin_worker.h"
#include "workload/origin/pace.h"
#include "workload/origin/static/content_coding.h"
#include "workload/origin/static/directory_page.h"
#include "workload/origin/static/gzip_writer.h"
#include "workload/origin/static/send_file.h"

namespace workload {
namespace {

namespace asio = boost::asio;
using storage::kAwait;
using Method = OriginRequest::Method;

/// Up to here reading a file and sending it with its head in one call costs less than sendfile,
/// which needs a call of its own.
constexpr uint64_t kCopiedBytesMax = 16384;
constexpr size_t kBuffersMax = 8;
constexpr uint64_t kPushBytesMax = uint64_t{1} << 20;
/// Smaller files gain nothing by gzip.
constexpr uint64_t kCompressedBytesMin = 256;
/// Between two turns of other connections; takes about a millisecond.
constexpr size_t kCompressedStepBytes = 32768;
constexpr auto kCompressTimeout = std::chrono::seconds(60);

std::string_view text_of_status(unsigned status) {
  switch (status) {
    case 301:
      return "The directory has a slash at its end.\n";
    case 400:
      return "The target is none.\n";
    case 403:
      return "This may not be read.\n";
    case 404:
      return "There is no such file.\n";
    case 405:
      return "Files know GET, HEAD and OPTIONS.\n";
    case 406:
      return "There is no coding that would be accepted.\n";
    case 503:
      return "There is too much to do.\n";
    default:
      return "The file cannot be read.\n";
  }
}

/// Drawn for each answer, since who can write a file could put a boundary that he knows into it.
std::string random_boundary() {
  std::random_device device;
  std::string boundary = "cacheoff-";
  for (int digit = 0; digit < 32; ++digit) boundary += "0123456789abcdef"[device() & 15];
  return boundary;
}

}  // namespace

asio::awaitable<bool> StaticResponder::respond(OriginConnection& connection,
                                               const OriginRequest& request, bool keep_alive) {
  now_unix_ns_ = connection.worker().clock().wall_now().time_since_epoch().count();
  context_ = FileContext();
  context_.now_unix_s = connection.now_unix_s();
  context_.keep_alive = keep_alive;
  MadeLease lease(connection.worker().made_responses(), site_.options().made_at_once_max);
  if (find_file(request, lease) && choose_coding(request, lease)) {
    const FileVersion version(file_.facts, context_.coding, now_unix_ns_);
    const Validators validators = version.validators();
    const auto conditions = evaluate_conditions(request, validators, context_.now_unix_s);
    bool readable = true;
    if (context_.coding == FileCoding::kCompressed && conditions == Conditions::kServe) {
      readable = co_await compress(connection);
    }
    if (readable) {
      answer_file(request, context_, validators, conditions, answer_);
    } else {
      answer_status(500, request);
    }
  }
  connection.note_response(answer_.status);
  const bool goes_on = co_await send(connection);
  file_.fd.close();
  if (!made_.empty()) made_ = std::string();  // Gives the memory back.
  co_return goes_on;
}

bool StaticResponder::answer_status(unsigned status, const OriginRequest& request,
                                    std::string_view more_fields) {
  answer_file_text(status, text_of_status(status), more_fields, request.method == Method::kHead,
                   context_, answer_);
  return false;
}

bool StaticResponder::find_file(const OriginRequest& request, MadeLease& lease) {
  if (request.method == Method::kOptions) {
    answer_options(context_, answer_);
    return false;
  }
  if (request.method != Method::kGet && request.method != Method::kHead) {
    return answer_status(405, request, kFileMethodsField);
  }
  switch (read_request_path(request.target, path_)) {
    case PathFault::kMalformed:
      return answer_status(400, request);
    case PathFault::kHidden:
      return answer_status(404, request);
    case PathFault::kNone:
      break;
  }
  if (path_.names_directory) return answer_directory(request, lease);
  const unsigned status = site_.open_path(path_.relative, file_);
  if (status != 0) return answer_status(status, request);
  if (file_.is_directory) return redirect_to_directory(request);
  return true;
}

bool StaticResponder::answer_directory(const OriginRequest& request, MadeLease& lease) {
  const std::string directory = path_.relative;
  path_.relative += directory.empty() ? "index.html" : "/index.html";
  unsigned status = site_.open_path(path_.relative, file_);
  if (status == 0 && !file_.is_directory) return true;
  if (status != 0 && status != 404) return answer_status(status, request);
  status = site_.open_path(directory, file_);
  if (status != 0) return answer_status(status, request);
  if (!file_.is_directory) return answer_status(404, request);
  if (!site_.options().listing) return answer_status(403, request);
  if (!lease.take()) return answer_status(503, request);
  std::vector<DirectoryEntry> entries;
  bool whole = true;
  if (read_directory(file_.fd.get(), entries, whole) != 0) return answer_status(500, request);
  write_directory_page(directory, entries, whole, made_);
  context_.size_bytes = made_.size();
  answer_directory_page(request.method == Method::kHead, context_, answer_);
  return false;
}

bool StaticResponder::redirect_to_directory(const OriginRequest& request) {
  std::string field = "Location: /";
  add_url_path(field, path_.relative);
  field += '/';
  // Of a query all that may stand in a line of a head is kept.
  for (const char c : path_.query) {
    if (c > ' ' && c < 0x7f) field += c;
  }
  field += "\r\n";
  return answer_status(301, request, field);
}

bool StaticResponder::choose_coding(const OriginRequest& request, MadeLease& lease) {
  const auto& options = site_.options();
  type_ = file_type_of(path_.relative);
  context_.media_type = type_.media_type;
  context_.size_bytes = file_.facts.size_bytes;
  if (request.range.find(',') != std::string::npos) {
    boundary_ = random_boundary();
  }
  context_.boundary = boundary_;
  context_.negotiated = options.gzip != GzipMode::kOff;
  if (!context_.negotiated) return true;
  const auto accepted = read_accept_encoding(request);
  if (accepted.gzip && take_precompressed()) return true;
  const bool may_compress = accepted.gzip && options.gzip == GzipMode::kOn && type_.compresses &&
                            file_.facts.size_bytes >= kCompressedBytesMin &&
                            file_.facts.size_bytes <= options.gzip_size_bytes_max;
  if (may_compress && lease.take()) {
    context_.coding = FileCoding::kCompressed;
    return true;
  }
  return accepted.identity || answer_status(406, request, "Vary: Accept-Encoding\r\n");
}

bool StaticResponder::take_precompressed() {
  OpenedFile beside;
  if (site_.open_path(path_.relative + ".gz", beside) != 0 || beside.is_directory) return false;
  if (beside.facts.modified_unix_ns < file_.facts.modified_unix_ns) return false;
  file_ = std::move(beside);
  context_.coding = FileCoding::kPrecompressed;
  context_.size_bytes = file_.facts.size_bytes;
  return true;
}

asio::awaitable<bool> StaticResponder::compress(OriginConnection& connection) {
  GzipWriter writer(site_.options().gzip_level);
  connection.expect_progress_within(kCompressTimeout);
  made_.clear();
  const uint64_t size = file_.facts.size_bytes;
  for (uint64_t offset = 0; offset < size;) {
    const auto scratch = connection.worker().scratch();
    const size_t wanted = std::min<uint64_t>({kCompressedStepBytes, scratch.size(), size - offset});
    const ssize_t got = ::pread(file_.fd.get(), scratch.data(), wanted, static_cast<off_t>(offset));
    if (got <= 0) co_return false;
    offset += static_cast<uint64_t>(got);
    writer.add(scratch.first(static_cast<size_t>(got)), offset == size, made_);
    co_await asio::post(asio::use_awaitable);
  }
  context_.size_bytes = made_.size();
  co_return true;
}

asio::awaitable<bool> StaticResponder::send(OriginConnection& connection) {
  const auto begun = connection.steady_now();
  uint64_t left_before = 0;
  for (const auto& piece : answer_.pieces) left_before += piece.size_bytes;
  const auto bytes_sent = [&] {
    uint64_t left = 0;
    for (size_t at = piece_; at < answer_.pieces.size(); ++at)
      left += answer_.pieces[at].size_bytes;
    return left_before - left;
  };
  connection.close_at(body_deadline(begun, begun, 0));
  piece_ = 0;
  for (;;) {
    const Step step = push(connection);
    if (step == Step::kDone) break;
    if (step == Step::kPeerGone) {
      connection.worker().counts().responses_cut.add(1);
      co_return false;
    }
    if (step == Step::kFileFailed) {
      // The length was promised: an end before it is no end.
      connection.worker().counts().responses_broken_off.add(1);
      co_await connection.drain();
      co_return false;
    }
    if (step == Step::kPause) {
      co_await asio::post(asio::use_awaitable);
    } else {
      const auto [error] =
          co_await connection.socket().async_wait(asio::ip::tcp::socket::wait_write, kAwait);
      if (error) {
        connection.worker().counts().responses_cut.add(1);
        co_return false;
      }
    }
    if (!connection.socket().is_open()) co_return false;
    connection.close_at(body_deadline(begun, connection.steady_now(), bytes_sent()));
  }
  if (!answer_.keep_alive) co_await connection.drain();
  co_return answer_.keep_alive;
}

StaticResponder::Step StaticResponder::push(OriginConnection& connection) {
  const int socket = connection.socket().native_handle();
  const auto scratch = connection.worker().scratch();
  auto& pieces = answer_.pieces;
  uint64_t pushed = 0;
  while (piece_ < pieces.size()) {
    if (pushed >= kPushBytesMax) return Step::kPause;
    std::array<iovec, kBuffersMax> buffers;
    size_t gathered = 0;
    size_t copied = 0;
    size_t next = piece_;
    for (; next < pieces.size() && gathered < buffers.size(); ++next, ++gathered) {
      const AnswerPiece& piece = pieces[next];
      if (piece.source == PieceSource::kText) {
        buffers[gathered] = {answer_.text.data() + piece.offset_bytes, piece.size_bytes};
      } else if (piece.source == PieceSource::kMemory) {
        buffers[gathered] = {made_.data() + piece.offset_bytes, piece.size_bytes};
      } else {
        if (copied + piece.size_bytes > kCopiedBytesMax) break;
        const ssize_t got = ::pread(file_.fd.get(), scratch.data() + copied, piece.size_bytes,
                                    static_cast<off_t>(piece.offset_bytes));
        if (got < 0 || static_cast<uint64_t>(got) != piece.size_bytes) return Step::kFileFailed;
        buffers[gathered] = {scratch.data() + copied, piece.size_bytes};
        copied += piece.size_bytes;
      }
    }
    ssize_t sent = 0;
    if (gathered > 0) {
      sent = send_buffers(socket, {buffers.data(), gathered}, next < pieces.size());
    } else {
      const size_t size = std::min(pieces[piece_].size_bytes, kPushBytesMax);
      sent = send_file_part(socket, file_.fd.get(), pieces[piece_].offset_bytes, size);
    }
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Step::kBlocked;
    if (sent < 0) return errno == EIO ? Step::kFileFailed : Step::kPeerGone;
    if (sent == 0) return Step::kFileFailed;
    pushed += static_cast<uint64_t>(sent);
    advance(connection, static_cast<uint64_t>(sent));
  }
  return Step::kDone;
}

void StaticResponder::advance(OriginConnection& connection, uint64_t bytes) {
  uint64_t of_body = 0;
  while (bytes > 0) {
    AnswerPiece& piece = answer_.pieces[piece_];
    const uint64_t taken = std::min(bytes, piece.size_bytes);
    piece.offset_bytes += taken;
    piece.size_bytes -= taken;
    bytes -= taken;
    if (piece_ > 0) of_body += taken;
    if (piece.size_bytes == 0) ++piece_;
  }
  connection.note_body_bytes(of_body);
}

}  // namespace workload
