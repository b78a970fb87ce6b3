// Counts of transactions: of an interval or of a whole run alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace workload {

/// Why a transaction is not good. A transaction has at most one: the first that was found.
enum class ErrorKind : uint8_t {
  kNone,
  kConnect,      ///< No connection: no route, no port or descriptor left.
  kRefused,      ///< The connection was refused.
  kReset,        ///< Closed or reset before the response began.
  kTimeout,      ///< Not done in time.
  kTruncated,    ///< Closed or reset inside a response.
  kWrongBody,    ///< A byte of the body is not the object's.
  kStale,        ///< A response that a cache must not serve any more.
  kWrongStatus,  ///< Another status than the request must get.
  kProtocol,     ///< Not HTTP, a header that contradicts the object, or no stamp of the origin.
};

/// The kinds that count, without kNone.
inline constexpr size_t kErrorKindCount = 9;

/// `connect`, `refused`, ... `protocol`; `none` for kNone.
std::string_view name_of(ErrorKind kind);

/// Who answered a transaction, by the origin's stamps.
enum class Outcome : uint8_t {
  kUnknown,    ///< No good response.
  kMiss,       ///< The origin made this response for this transaction.
  kHit,        ///< The origin made it for another transaction: a cache answered.
  kValidated,  ///< A cache's body, after the origin validated it for this transaction.
};

/// A hit of either kind.
bool is_hit(Outcome outcome);

/// Why a request that was due was never sent. Open loops only.
enum class NotSent : uint8_t {
  kQueueFull,   ///< As many as may wait for a connection were waiting.
  kWaitedOut,   ///< It waited for a connection for as long as a transaction may take.
  kPageFailed,  ///< It is embedded in a page that did not come.
};

inline constexpr size_t kNotSentCount = 3;

/// `queue_full`, `waited_out`, `page_failed`.
std::string_view name_of(NotSent reason);

/// `unknown`, `miss`, `hit`, `validated`.
std::string_view name_of(Outcome outcome);

/// How far a response without an error came.
enum class Ending : uint8_t {
  kWhole,    ///< To its end.
  kAborted,  ///< The robot went away in mid-response, as it was meant to.
  kCut,      ///< The origin broke it off, as it was asked to (origin_abort.h).
};

/// `whole`, `aborted`, `cut`.
std::string_view name_of(Ending ending);

/// What became of one transaction; what a Tally counts.
struct TransactionRecord {
  ErrorKind error = ErrorKind::kNone;
  Outcome outcome = Outcome::kUnknown;
  Ending ending = Ending::kWhole;
  bool basic = true;         ///< A plain GET: no condition, no reload, no range.
  bool offered_hit = false;  ///< A basic request for a cachable object that was asked for before.
  bool ideal_hit = false;    ///< A basic request that an infinite cache would answer.
  bool shared = false;       ///< A hit, made for a transaction that was under way at its start.
  bool reload = false;       ///< Asked for with no-cache.
  bool range = false;        ///< Asked for a part.
  bool answered_whole = false;  ///< It got the whole object although it asked for a part.
  bool fill = false;            ///< A basic miss of a cachable object: it fills the cache.
  uint64_t response_time_ns = 0;
  uint64_t first_byte_ns = 0;   ///< From the same start to the first byte.
  uint64_t body_bytes = 0;      ///< Of the response body, without its framing.
  uint64_t received_bytes = 0;  ///< As they came over the connection, headers included.

  /// The right response came, whole.
  bool good() const { return error == ErrorKind::kNone && ending == Ending::kWhole; }
};

/// Sums over transactions. Every field adds up: the sum of the tallies of a run's intervals is the
/// tally of the run, which is what operator== is for.
struct Tally {
  uint64_t offered = 0;           ///< Their time to start had come.
  uint64_t sent = 0;              ///< Started.
  uint64_t blocked_ns = 0;        ///< Sum over the sent ones of the time from due to started.
  uint64_t completed = 0;         ///< Ended, well or badly: good, aborted, cut or an error.
  uint64_t good = 0;              ///< Ended with the right response, whole.
  uint64_t aborted = 0;           ///< Broken off by the robot, on purpose.
  uint64_t aborted_hits = 0;      ///< Of them, answered by a cache.
  uint64_t cut = 0;               ///< Broken off by the origin, on purpose.
  uint64_t cut_shared = 0;        ///< Of them, made for another transaction under way.
  uint64_t response_time_ns = 0;  ///< Sum over good ones; so are the next four.
  uint64_t hits = 0;              ///< Of any kind of request; validated ones included.
  uint64_t hit_response_time_ns = 0;
  uint64_t misses = 0;
  uint64_t miss_response_time_ns = 0;
  uint64_t basic = 0;              ///< Good basic requests.
  uint64_t basic_hits = 0;         ///< Of them, hits.
  uint64_t basic_bytes = 0;        ///< Body bytes of good basic requests.
  uint64_t basic_hit_bytes = 0;    ///< Of them, of hits.
  uint64_t good_bytes = 0;         ///< Body bytes of good responses that carry one.
  uint64_t good_hit_bytes = 0;     ///< Of them, of hits.
  uint64_t reload_hits = 0;        ///< Good reloads that a cache answered without validation.
  uint64_t validated_hits = 0;     ///< Of basic hits, those that the origin validated first.
  uint64_t shared_hits = 0;        ///< Of basic hits, those that shared a fetch under way.
  uint64_t ranges = 0;             ///< Good requests for a part.
  uint64_t range_hits = 0;         ///< Of them, hits.
  uint64_t ranges_whole = 0;       ///< Of them, answered with the whole object.
  uint64_t offered_hits = 0;       ///< Of good basic requests, those that could have hit.
  uint64_t offered_hit_bytes = 0;  ///< Their body bytes.
  uint64_t ideal_hits = 0;         ///< Of good basic requests, what an infinite cache answers.
  uint64_t ideal_hit_bytes = 0;    ///< Their body bytes.
  uint64_t received_bytes = 0;     ///< Of all responses, headers included.
  uint64_t fill_bytes = 0;         ///< Received bytes of basic misses of cachable objects.
  std::array<uint64_t, kErrorKindCount> errors{};
  std::array<uint64_t, kNotSentCount> not_sent{};  ///< Offered, and given up before they were sent.

  /// Counts a completed transaction.
  void add(const TransactionRecord& record);
  /// Adds another tally.
  void merge(const Tally& other);

  uint64_t errors_of(ErrorKind kind) const;
  uint64_t error_count() const;
  uint64_t not_sent_of(NotSent reason) const { return not_sent[static_cast<size_t>(reason)]; }
  uint64_t not_sent_count() const;

  /// Means in milliseconds and shares in percent; nothing where there was nothing.
  std::optional<double> response_time_ms() const;
  std::optional<double> hit_response_time_ms() const;
  std::optional<double> miss_response_time_ms() const;
  std::optional<double> hit_ratio_percent() const;          ///< Over good basic requests.
  std::optional<double> byte_hit_ratio_percent() const;     ///< Over their body bytes.
  std::optional<double> hit_ratio_all_percent() const;      ///< Over all good requests.
  std::optional<double> offered_hit_ratio_percent() const;  ///< Over good basic requests.
  std::optional<double> offered_byte_hit_ratio_percent() const;
  /// Of good basic requests, those that an infinite cache would have answered.
  std::optional<double> attainable_hit_ratio_percent() const;
  std::optional<double> attainable_byte_hit_ratio_percent() const;
  /// Of good basic requests, those that a cache answered from what it held, without the origin.
  std::optional<double> stored_hit_ratio_percent() const;
  /// Over good requests for a part.
  std::optional<double> range_hit_ratio_percent() const;

  friend bool operator==(const Tally& left, const Tally& right) = default;
};

/// `part` of `whole` in percent; nothing of nothing.
std::optional<double> percent_of(uint64_t part, uint64_t whole);

}  // namespace workload
