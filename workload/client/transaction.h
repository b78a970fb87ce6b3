// One request of the workload, sent and judged: its status, its headers, every byte of its body,
// and who answered it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string>

#include "storage/base/clock.h"
#include "workload/client/http_client.h"
#include "workload/client/transactions_under_way.h"
#include "workload/measure/tally.h"
#include "workload/model/object.h"
#include "workload/model/request_stream.h"

namespace workload {

/// How requests are written.
struct TargetForm {
  std::string authority;      ///< `HOST:PORT` of the origin.
  bool absolute_form = true;  ///< As to a forward proxy; else a path, as to an origin.
};

/// What to ask for and how.
struct TransactionRequest {
  uint64_t id = 0;  ///< Names the transaction to the origin; unique across runs.
  ObjectSpec object;
  RequestKind kind = RequestKind::kBasic;
  RequestMethod method = RequestMethod::kGet;
  uint64_t request_body_bytes = 0;  ///< Of a POST.
  BodyPart part;                    ///< Of kRange: within the object, never empty.
  /// Go away when so many bytes of the body have come, fewer than it has.
  std::optional<uint64_t> abort_after_bytes;
  /// Ask the origin to break off what it sends for this request, after so many 65536ths of the
  /// body.
  std::optional<uint16_t> break_off;
  bool offered_hit = false;         ///< It could have hit; for the counts only.
  bool ideal_hit = false;           ///< An infinite cache would have hit; for the counts only.
  bool last_on_connection = false;  ///< Asks the peer to close behind the response.

  /// Asks for what the workload intends; id and last_on_connection stay.
  void take(const IntendedRequest& intended);
};

/// How much of a body is compared.
enum class Verification : uint8_t {
  kBytes,   ///< Every byte.
  kLength,  ///< Only how many there are: for measuring the generator itself.
};

/// Something that only other ranks know and that a verdict depends on.
struct SharingDoubt {
  enum class Kind : uint8_t {
    kUnderWay,         ///< Was the transaction `id` under way?
    kBrokenOff,        ///< Was it, and was it to be broken off?
    kObjectBrokenOff,  ///< Was any for the object `id` under way that was to be broken off?
  };
  Kind kind = Kind::kUnderWay;
  uint64_t id = 0;
  storage::SteadyTime instant{};  ///< Under way at that time,
  storage::Nanoseconds slack{0};  ///< or ended at most so long before.
};

/// What a response that was taken for broken off as intended is otherwise.
struct CutDoubt {
  SharingDoubt doubt;
  ErrorKind error = ErrorKind::kNone;
  std::string detail;
};

/// What became of it.
struct TransactionResult {
  TransactionResult() = default;

  TransactionRecord record;
  int status = 0;  ///< 0 where no head came.
  storage::SteadyTime end{};
  bool opened_connection = false;
  uint32_t retries = 0;
  int local_errno = 0;  ///< Of a socket call that failed for want of ports or descriptors, else 0.
  std::string detail;   ///< One line for people about the error: URL, what is wrong, who served.
  /// `record.shared` may have to become true.
  std::optional<SharingDoubt> shared_doubt;
  /// The end may not have been as intended.
  std::optional<CutDoubt> cut_doubt;
};

/// Sends requests of the workload and judges the responses. One transaction at a time on each
/// client; one object of this class belongs to one coroutine at a time.
///
/// What is judged, in this order: the status (200; 304 where the condition says so; 206 for a
/// range, or 200 with the whole object, which RFC 9110 section 14.2 allows; 200, 201 or 204 for
/// POST), the stamps, Content-Length, Content-Range, ETag and Last-Modified where present, every
/// byte, the length; then that a cache had the right to answer (RFC 9111 sections 3, 4.2): an
/// uncachable object or a POST from a cache is stale, and so is one past its lifetime that was not
/// validated.
///
/// Aborts: a response that the robot breaks off as told is judged up to there. One that the origin
/// was asked to break off (origin_abort.h) must end early, or be a 502, 503 or 504 of a proxy; such
/// an end is no error, and a whole body is one. That goes for others that shared the response, but
/// not for one that began after the cut one had ended: then a cache has stored a part for a whole.
///
/// Who answered, by the stamps of object.h: a body stamp of this transaction is a miss; another's
/// is a hit, and a validated one where the validation stamp is this transaction's. A 304 is a miss
/// where its only stamp is a validation stamp of this transaction (the origin's own 304, passed
/// on); without any stamp it counts as a cache's, as the origin stamps each, and is a hit, unless
/// the object is uncachable: then it was made anew of the origin's, and is a miss.
/// A 200 without a stamp is not the origin's: a protocol error.
class Transactor final : private ResponseHandler {
 public:
  /// `clock` and `under_way` must outlive the transactor. The clock's wall time is compared with
  /// Date fields. `under_way` knows the run's transactions; null: responses are never taken for
  /// shared.
  Transactor(TargetForm target, Verification verification, const storage::Clock& clock,
             const TransactionsUnderWay* under_way = nullptr);

  /// Runs one transaction. Response time counts from `start`, which is now or, in an open loop,
  /// when the request should have started.
  boost::asio::awaitable<void> run(HttpClient& client, const TransactionRequest& request,
                                   storage::SteadyTime start, TransactionResult& result);

  /// The URL in absolute form.
  std::string url_of(const ObjectSpec& object) const;

 private:
  bool on_head(const ResponseHead& head) override;
  bool on_body(std::span<const std::byte> bytes) override;
  void write_request(const TransactionRequest& request);
  bool judge_status(const ResponseHead& head);
  bool judge_headers(const ResponseHead& head);
  bool judge_stamps(const ResponseHead& head);
  bool judge_freshness(const ResponseHead& head);
  void judge_end(const Exchange& exchange);
  bool wrong(ErrorKind kind, const std::string& what);
  bool body_expected() const;
  /// The part of the object that a good response of this status brings.
  BodyPart expected_part() const;
  bool judge_part(const ResponseHead& head);
  /// Whether a response that ended early may have, as the origin was asked to break it off.
  UnderWay cut_as_planned() const;
  /// Whether this request, or one of the same object that it may have shared the response of, asked
  /// the origin to break off.
  UnderWay break_off_shared() const;
  /// Takes the error that was just found for a planned end, until other ranks say otherwise.
  void doubt_error(SharingDoubt::Kind kind, uint64_t id);
  void note_stamp(const ResponseHead& head);
  int64_t now_unix_s() const;

  TargetForm target_;
  Verification verification_;
  const storage::Clock& clock_;
  std::string request_text_;
  const TransactionRequest* request_ = nullptr;  ///< Of the transaction under way; so is the rest.
  TransactionResult* result_ = nullptr;
  const ResponseHead* head_ = nullptr;
  uint64_t body_bytes_ = 0;
  const TransactionsUnderWay* under_way_;
  storage::SteadyTime began_{};       ///< When the transaction under way was sent.
  std::optional<uint64_t> made_for_;  ///< The transaction in the body's stamp.
};

}  // namespace workload
