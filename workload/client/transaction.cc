#include "workload/client/transaction.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include "workload/model/http_date.h"
#include "workload/model/origin_abort.h"

namespace workload {
namespace {

/// How far the clocks of origin and robot may be apart, rounding to whole seconds included.
constexpr int64_t kFreshnessSlackS = 5;

void append_hex16(std::string& text, uint64_t value) {
  for (int shift = 60; shift >= 0; shift -= 4) {
    text.push_back("0123456789abcdef"[value >> shift & 0xf]);
  }
}

/// How long after a broken-off response a cache may still hand it to those who shared it.
constexpr std::chrono::milliseconds kSharingSlack{100};

/// The transaction that a stamp names; nothing where it names none.
std::optional<uint64_t> parse_stamp(std::string_view stamp) {
  uint64_t value = 0;
  const char* end = stamp.data() + stamp.size();
  const auto parsed = std::from_chars(stamp.data(), end, value, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

bool stamp_names(std::string_view stamp, uint64_t id) {
  return parse_stamp(stamp) == id;
}

void append_number(std::string& text, uint64_t value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), static_cast<size_t>(end.ptr - digits.data()));
}

std::string_view method_name(RequestMethod method) {
  switch (method) {
    case RequestMethod::kGet:
      return "GET";
    case RequestMethod::kHead:
      return "HEAD";
    case RequestMethod::kPost:
      return "POST";
  }
  return "GET";
}

uint64_t nanoseconds_between(storage::SteadyTime from, storage::SteadyTime to) {
  return static_cast<uint64_t>(std::max<int64_t>(0, (to - from).count()));
}

}  // namespace

void TransactionRequest::take(const IntendedRequest& intended) {
  object = intended.object;
  kind = intended.kind;
  method = intended.method;
  request_body_bytes = intended.request_body_bytes;
  part = intended.part;
  abort_after_bytes = intended.abort_after_bytes;
  break_off = intended.break_off;
  offered_hit = intended.offered_hit_reference;
  ideal_hit = intended.offered_hit;
}

Transactor::Transactor(TargetForm target, Verification verification, const storage::Clock& clock,
                       const TransactionsUnderWay* under_way)
    : target_(std::move(target)),
      verification_(verification),
      clock_(clock),
      under_way_(under_way) {}

std::string Transactor::url_of(const ObjectSpec& object) const {
  return "http://" + target_.authority + object_path(object);
}

void Transactor::write_request(const TransactionRequest& request) {
  std::string& text = request_text_;
  text.clear();
  text += method_name(request.method);
  text += ' ';
  if (target_.absolute_form) {
    text += "http://";
    text += target_.authority;
  }
  text += object_path(request.object);
  text += " HTTP/1.1\r\nHost: ";
  text += target_.authority;
  text += "\r\nUser-Agent: cacheoff\r\nAccept: */*\r\n";
  text += kTransactionHeader;
  text += ": ";
  append_hex16(text, request.id);
  text += "\r\n";
  const int64_t modified = request.object.last_modified_unix_s;
  if (request.kind == RequestKind::kReload) {
    text += "Cache-Control: no-cache\r\nPragma: no-cache\r\n";
  } else if (request.kind == RequestKind::kIms200 || request.kind == RequestKind::kIms304) {
    text += "If-Modified-Since: ";
    text += HttpDate(request.kind == RequestKind::kIms200 ? modified - 1 : modified + 1).text();
    text += "\r\n";
  } else if (request.kind == RequestKind::kEtag200 || request.kind == RequestKind::kEtag304) {
    text += "If-None-Match: ";
    text += request.kind == RequestKind::kEtag200 ? outdated_etag(request.object)
                                                  : object_etag(request.object);
    text += "\r\n";
  } else if (request.kind == RequestKind::kRange) {
    text += "Range: bytes=";
    append_number(text, request.part.offset_bytes);
    text += '-';
    append_number(text, request.part.offset_bytes + request.part.size_bytes - 1);
    text += "\r\n";
  }
  if (request.break_off) {
    text += kBreakOffHeader;
    text += ": ";
    append_number(text, *request.break_off);
    text += "\r\n";
  }
  if (request.last_on_connection) text += "Connection: close\r\n";
  if (request.method != RequestMethod::kPost) {
    text += "\r\n";
    return;
  }
  text += "Content-Type: application/octet-stream\r\nContent-Length: ";
  append_number(text, request.request_body_bytes);
  text += "\r\n\r\n";
  const size_t head_size = text.size();
  text.resize(head_size + request.request_body_bytes);
  fill_body(request.object, 0, std::as_writable_bytes(std::span(text)).subspan(head_size));
}

boost::asio::awaitable<void> Transactor::run(HttpClient& client, const TransactionRequest& request,
                                             storage::SteadyTime start, TransactionResult& result) {
  request_ = &request;
  result_ = &result;
  head_ = nullptr;
  body_bytes_ = 0;
  made_for_.reset();
  began_ = clock_.steady_now();
  result = TransactionResult();
  TransactionRecord& record = result.record;
  record.basic = request.kind == RequestKind::kBasic && request.method == RequestMethod::kGet &&
                 !request.abort_after_bytes;
  record.reload = request.kind == RequestKind::kReload;
  record.range = request.kind == RequestKind::kRange;
  record.offered_hit = request.offered_hit;
  record.ideal_hit = request.ideal_hit;
  write_request(request);
  Exchange exchange;
  co_await client.exchange(request_text_, request.method == RequestMethod::kHead,
                           !request.last_on_connection, *this, exchange);
  const bool bytes_came = exchange.received_bytes > 0;
  result.end =
      bytes_came && exchange.error == ErrorKind::kNone ? exchange.last_byte : clock_.steady_now();
  if (bytes_came) record.first_byte_ns = nanoseconds_between(start, exchange.first_byte);
  result.opened_connection = exchange.opened;
  result.retries = exchange.retries;
  result.local_errno = exchange.local_errno;
  record.response_time_ns = nanoseconds_between(start, result.end);
  record.received_bytes = exchange.received_bytes;
  record.body_bytes = body_bytes_;
  judge_end(exchange);
  record.fill =
      record.good() && record.basic && request.object.cachable && record.outcome == Outcome::kMiss;
  if (record.error != ErrorKind::kNone) record.outcome = Outcome::kUnknown;
}

bool Transactor::wrong(ErrorKind kind, const std::string& what) {
  result_->record.error = kind;
  result_->detail =
      std::string(method_name(request_->method)) + ' ' + url_of(request_->object) + ": " + what;
  if (head_ != nullptr) {
    const bool own = stamp_names(head_->body_stamp, request_->id);
    result_->detail +=
        own ? " (made by the origin for this request"
        : head_->body_stamp.empty()
            ? " (without a stamp of the origin"
            : " (served from a cache, made by the origin for transaction " + head_->body_stamp;
    if (!head_->via.empty()) result_->detail += "; Via: " + head_->via;
    result_->detail += ')';
  }
  return false;
}

int64_t Transactor::now_unix_s() const {
  return std::chrono::floor<std::chrono::seconds>(clock_.wall_now()).time_since_epoch().count();
}

bool Transactor::body_expected() const {
  return request_->method != RequestMethod::kHead &&
         (result_->status == 200 || result_->status == 206) &&
         result_->record.ending != Ending::kCut;
}

BodyPart Transactor::expected_part() const {
  if (result_->status == 206) return request_->part;
  return {0, request_->object.size_bytes};
}

bool Transactor::on_head(const ResponseHead& head) {
  head_ = &head;
  result_->status = head.status;
  note_stamp(head);
  // What a proxy says when it could not get the whole of what the origin broke off, also to those
  // who waited for the same response.
  const bool gateway_error = head.status == 502 || head.status == 503 || head.status == 504;
  if (gateway_error) {
    const UnderWay shared = break_off_shared();
    if (shared != UnderWay::kNo) result_->record.ending = Ending::kCut;
    if (shared == UnderWay::kAsk && !judge_status(head)) {
      doubt_error(SharingDoubt::Kind::kObjectBrokenOff, request_->object.id);
    }
    if (shared != UnderWay::kNo) return true;
  }
  if (!judge_status(head) || !judge_stamps(head) || !judge_headers(head) || !judge_part(head) ||
      !judge_freshness(head)) {
    return false;
  }
  if (request_->abort_after_bytes != uint64_t{0} || !body_expected()) return true;
  result_->record.ending = Ending::kAborted;
  return false;
}

void Transactor::note_stamp(const ResponseHead& head) {
  made_for_ = parse_stamp(head.body_stamp);
  if (!made_for_ || *made_for_ == request_->id || under_way_ == nullptr) return;
  const UnderWay shared = under_way_->under_way_anywhere(*made_for_, began_);
  result_->record.shared = shared == UnderWay::kYes;
  if (shared != UnderWay::kAsk) return;
  result_->shared_doubt = SharingDoubt{SharingDoubt::Kind::kUnderWay, *made_for_, began_, {}};
}

UnderWay Transactor::break_off_shared() const {
  if (request_->break_off) return UnderWay::kYes;
  if (under_way_ == nullptr) return UnderWay::kNo;
  if (under_way_->object_broken_off(request_->object.id, began_, kSharingSlack)) {
    return UnderWay::kYes;
  }
  return under_way_->others_break_off() ? UnderWay::kAsk : UnderWay::kNo;
}

UnderWay Transactor::cut_as_planned() const {
  if (!made_for_ || *made_for_ == request_->id) {
    return request_->break_off ? UnderWay::kYes : UnderWay::kNo;
  }
  if (under_way_ == nullptr) return UnderWay::kNo;
  const UnderWay shared = under_way_->under_way_anywhere(*made_for_, began_, kSharingSlack);
  if (shared == UnderWay::kAsk) {
    return under_way_->others_break_off() ? UnderWay::kAsk : UnderWay::kNo;
  }
  const bool planned = shared == UnderWay::kYes && under_way_->to_be_broken_off(*made_for_);
  return planned ? UnderWay::kYes : UnderWay::kNo;
}

void Transactor::doubt_error(SharingDoubt::Kind kind, uint64_t id) {
  TransactionRecord& record = result_->record;
  result_->cut_doubt.emplace();
  result_->cut_doubt->doubt = {kind, id, began_, kSharingSlack};
  result_->cut_doubt->error = std::exchange(record.error, ErrorKind::kNone);
  result_->cut_doubt->detail = std::exchange(result_->detail, {});
  record.ending = Ending::kCut;
}

bool Transactor::judge_status(const ResponseHead& head) {
  const int status = head.status;
  bool right = status == 200;
  std::string_view wanted = "200";
  if (request_->method == RequestMethod::kPost) {
    right = status == 200 || status == 201 || status == 204;
    wanted = "200, 201 or 204";
  } else if (must_get_304(request_->kind)) {
    right = status == 304;
    wanted = "304";
  } else if (request_->kind == RequestKind::kRange) {
    right = status == 206 || status == 200;
    wanted = "206 or 200";
    result_->record.answered_whole = status == 200;
  }
  if (right) return true;
  return wrong(ErrorKind::kWrongStatus,
               "status " + std::to_string(status) + " instead of " + std::string(wanted));
}

bool Transactor::judge_stamps(const ResponseHead& head) {
  Outcome& outcome = result_->record.outcome;
  const bool own_validation = stamp_names(head.validation_stamp, request_->id);
  if (head.body_stamp.empty()) {
    if (head.status == 304) {
      // A proxy that makes the origin's 304 anew may leave the stamp out (RFC 9110 section 15.4.5
      // names what must stay): that of an uncachable object says nothing then.
      const bool from_origin = own_validation || !request_->object.cachable;
      outcome = from_origin ? Outcome::kMiss : Outcome::kHit;
      return true;
    }
    return wrong(ErrorKind::kProtocol, "a response that did not come from the origin");
  }
  const bool own_body = stamp_names(head.body_stamp, request_->id);
  outcome = own_body ? Outcome::kMiss : own_validation ? Outcome::kValidated : Outcome::kHit;
  return true;
}

bool Transactor::judge_headers(const ResponseHead& head) {
  const ObjectSpec& object = request_->object;
  // A 304 may leave the length out or give that of the 200 (RFC 9110 section 8.6).
  const bool states_length = head.status == 200 || head.status == 206;
  const uint64_t length = expected_part().size_bytes;
  if (head.content_length && *head.content_length != length && states_length) {
    return wrong(ErrorKind::kProtocol, "Content-Length " + std::to_string(*head.content_length) +
                                           " instead of " + std::to_string(length));
  }
  if (!head.etag.empty() && head.etag != object_etag(object)) {
    return wrong(ErrorKind::kProtocol, "ETag " + head.etag + " is not the object's");
  }
  if (!head.last_modified.empty() &&
      parse_http_date(head.last_modified, now_unix_s()) != object.last_modified_unix_s) {
    return wrong(ErrorKind::kProtocol,
                 "Last-Modified " + head.last_modified + " is not the object's");
  }
  return true;
}

bool Transactor::judge_part(const ResponseHead& head) {
  if (head.status != 206) return true;
  const BodyPart& part = request_->part;
  const std::string wanted = "bytes " + std::to_string(part.offset_bytes) + '-' +
                             std::to_string(part.offset_bytes + part.size_bytes - 1) + '/' +
                             std::to_string(request_->object.size_bytes);
  if (head.content_range == wanted) return true;
  return wrong(ErrorKind::kProtocol,
               "Content-Range '" + head.content_range + "' instead of '" + wanted + "'");
}

bool Transactor::judge_freshness(const ResponseHead& head) {
  if (result_->record.outcome != Outcome::kHit) return true;
  if (request_->method == RequestMethod::kPost) {
    return wrong(ErrorKind::kStale, "a POST was answered from a cache");
  }
  const ObjectSpec& object = request_->object;
  if (!object.cachable) return wrong(ErrorKind::kStale, "an uncachable object came from a cache");
  const std::optional<int64_t> date = parse_http_date(head.date, now_unix_s());
  if (!date) return true;
  const int64_t age_s = now_unix_s() - *date;
  if (age_s <= object.lifetime_s + kFreshnessSlackS) return true;
  return wrong(ErrorKind::kStale, "served " + std::to_string(age_s) + " s old, fresh for " +
                                      std::to_string(object.lifetime_s) + " s");
}

bool Transactor::on_body(std::span<const std::byte> bytes) {
  const uint64_t before = body_bytes_;
  body_bytes_ += bytes.size();
  if (!body_expected()) return true;  // What a 201 carries says nothing of the object.
  const ObjectSpec& object = request_->object;
  const BodyPart part = expected_part();
  std::optional<uint64_t> wrong_offset;
  if (verification_ == Verification::kBytes) {
    wrong_offset = first_wrong_byte(object, part.offset_bytes + before, bytes);
  }
  if (!wrong_offset && body_bytes_ > part.size_bytes) {
    wrong_offset = part.offset_bytes + part.size_bytes;
  }
  if (!wrong_offset) {
    if (!request_->abort_after_bytes || body_bytes_ < *request_->abort_after_bytes) return true;
    result_->record.ending = Ending::kAborted;
    return false;
  }
  return wrong(ErrorKind::kWrongBody, "byte " + std::to_string(*wrong_offset) + " of " +
                                          std::to_string(object.size_bytes) +
                                          " is not the object's");
}

void Transactor::judge_end(const Exchange& exchange) {
  if (result_->record.error != ErrorKind::kNone || result_->record.ending != Ending::kWhole) return;
  const bool broke_off =
      exchange.error == ErrorKind::kTruncated || exchange.error == ErrorKind::kReset;
  if (exchange.error != ErrorKind::kNone && !broke_off) {
    wrong(exchange.error, std::string(exchange.reason));
    return;
  }
  const uint64_t length = expected_part().size_bytes;
  // Only a body without a declared length can end early without an error of the exchange.
  const bool short_body = body_expected() && body_bytes_ < length;
  const UnderWay planned = broke_off || short_body ? cut_as_planned() : UnderWay::kNo;
  if (planned == UnderWay::kYes) {
    result_->record.ending = Ending::kCut;
  } else if (broke_off) {
    wrong(exchange.error, std::string(exchange.reason));
  } else if (short_body) {
    wrong(ErrorKind::kTruncated, "the body ended at " + std::to_string(body_bytes_) + " of " +
                                     std::to_string(length) + " bytes");
  } else if (request_->break_off && made_for_ == request_->id && result_->status == 200 &&
             body_expected() && length > 0 && request_->kind != RequestKind::kRange) {
    wrong(ErrorKind::kProtocol, "the origin was asked to break this response off, and did not");
  }
  if (planned == UnderWay::kAsk) doubt_error(SharingDoubt::Kind::kBrokenOff, *made_for_);
}

}  // namespace workload
