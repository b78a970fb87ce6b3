#include "proxy/cache_answer.h"

#include "proxy/conditional.h"
#include "proxy/fill_table.h"
#include "proxy/pass_through.h"
#include "proxy/range.h"
#include "proxy/vary.h"

namespace proxy {

namespace {

namespace asio = boost::asio;
/// Each retry rules out one more way of answering, so there cannot be many.
constexpr int kStepsMax = 5;

}  // namespace

CacheAnswer::CacheAnswer(Transaction& transaction)
    : transaction_(transaction),
      services_(transaction.services()),
      head_(transaction.head()),
      primary_key_(cache_key(transaction.target())),
      lookup_key_(primary_key_),
      may_share_(may_share_fetch(head_) && services_.store.info().capacity_bytes > 0) {}

asio::awaitable<void> CacheAnswer::run() {
  for (int steps = 0; steps < kStepsMax; ++steps) {
    if (co_await step() == Step::kAnswered) co_return;
    ++services_.counters.retries;
  }
  co_await transaction_.refuse_for(OriginFailure::kCancelled);
}

asio::awaitable<CacheAnswer::Step> CacheAnswer::step() {
  co_await look_up();
  const HttpTime now = services_.now();
  decision_ = entry_ ? decide(entry_->response, head_, now, services_.caching)
                     : decide_without_entry(head_);
  const LogTag miss = decision_.client_reload ? LogTag::kClientRefreshMiss : LogTag::kMiss;
  switch (decision_.verdict) {
    case Verdict::kGatewayTimeout:
      transaction_.set_tag(LogTag::kNone);
      co_await transaction_.refuse(Refusal(http::status::gateway_timeout, "only_if_cached",
                                           "The cache has no usable response.", false));
      co_return Step::kAnswered;
    case Verdict::kServeFresh:
      co_return co_await serve_entry(hit_tag());
    case Verdict::kServeStaleRevalidating:
      validate_in_background();
      co_return co_await serve_entry(LogTag::kStaleHit);
    case Verdict::kServeStale:
      co_return co_await serve_entry(LogTag::kStaleHit);
    case Verdict::kRevalidate:
      if (head_.method() == http::verb::head) break;
      co_return co_await fetch(may_validate_ && has_validator(entry_->response.head));
    case Verdict::kFetch:
      // A part of what is not stored is fetched as a part.
      if (head_.method() == http::verb::head || head_.count(http::field::range) > 0) break;
      co_return co_await fetch(false);
  }
  entry_.reset();
  co_await pass_through(transaction_, miss);
  co_return Step::kAnswered;
}

asio::awaitable<std::optional<StoredRecord>> CacheAnswer::open_record(
    std::string key_text, std::unique_ptr<storage::Reader>& reader) {
  const storage::Key key(std::move(key_text));
  auto opened = co_await services_.store.open(key);
  if (!opened) {
    if (opened.error().code != storage::Errc::kNotFound) ++services_.counters.store_failures;
    co_return std::nullopt;
  }
  auto record = decode_record((*opened)->metadata().bytes());
  if (!record) {
    ++services_.counters.damaged_records;
    opened->reset();
    const auto removed = co_await services_.store.remove(key);
    if (!removed) ++services_.counters.store_failures;
    co_return std::nullopt;
  }
  reader = std::move(*opened);
  co_return record;
}

asio::awaitable<void> CacheAnswer::look_up() {
  entry_.reset();
  marker_.reset();
  lookup_key_ = primary_key_;
  if (!may_use_store_) co_return;
  std::unique_ptr<storage::Reader> reader;
  auto record = co_await open_record(primary_key_, reader);
  if (record && std::holds_alternative<VaryMarker>(*record)) {
    marker_ = std::get<VaryMarker>(std::move(*record));
    record.reset();
    auto variant = variant_key(primary_key_, *marker_, head_);
    if (!variant) co_return;
    lookup_key_ = *variant;
    record = co_await open_record(lookup_key_, reader);
  }
  if (!record || !std::holds_alternative<StoredResponse>(*record)) co_return;
  entry_.emplace();
  entry_->response = std::get<StoredResponse>(std::move(*record));
  entry_->reader = std::move(reader);
}

LogTag CacheAnswer::hit_tag() const {
  if (entry_->response.head.result_int() >= 400) return LogTag::kNegativeHit;
  return entry_->reader->in_memory() ? LogTag::kMemoryHit : LogTag::kHit;
}

bool CacheAnswer::wants_range(const StoredResponse& response) const {
  return head_.method() == http::verb::get && head_.count(http::field::range) > 0 &&
         response.head.result() == http::status::ok && range_applies(head_, response.head);
}

bool CacheAnswer::may_serve_stale() const {
  return entry_ && may_serve_on_error(entry_->response, head_, services_.now(), services_.caching);
}

/// 304, where the request's conditions ask for it.
asio::awaitable<std::optional<CacheAnswer::Step>> CacheAnswer::answer_condition(
    const StoredResponse& response, Seconds age, LogTag tag) {
  const Condition condition = evaluate_conditions(head_, response);
  if (condition == Condition::kNotModified) {
    const bool plain_hit = tag == LogTag::kHit || tag == LogTag::kMemoryHit;
    const LogTag not_modified =
        has_if_none_match(head_) ? LogTag::kNoneMatchHit : LogTag::kModifiedSinceHit;
    transaction_.set_tag(plain_hit ? not_modified : tag);
    const DownstreamResponse answer =
        make_not_modified(response, age, transaction_.client_side(), services_.forwarding);
    co_await transaction_.answer(answer, nullptr, std::nullopt);
    co_return Step::kAnswered;
  }
  co_return std::nullopt;
}

asio::awaitable<CacheAnswer::Step> CacheAnswer::serve_entry(LogTag tag) {
  const Seconds age = current_age(entry_->response, services_.now());
  const auto answered = co_await answer_condition(entry_->response, age, tag);
  if (answered) co_return *answered;
  co_return co_await serve_stored_body(tag, age);
}

asio::awaitable<CacheAnswer::Step> CacheAnswer::serve_stored_body(LogTag tag, Seconds age) {
  const StoredResponse& stored = entry_->response;
  const HttpTime now = services_.now();
  const ClientSide side = transaction_.client_side();
  const uint64_t size = entry_->reader->body_size_bytes();
  uint64_t offset = 0;
  uint64_t length = size;
  std::optional<DownstreamResponse> response;
  if (wants_range(stored)) {
    const RangeAnswer range = select_range(head_[http::field::range], size);
    if (range.kind == RangeAnswer::Kind::kPartial) {
      offset = range.range.first;
      length = range.range.size_bytes();
      response = make_partial_response(stored, age, range.range, size, side, services_.forwarding);
    } else if (range.kind == RangeAnswer::Kind::kUnsatisfiable) {
      response = make_unsatisfiable(size, side, now);
    }
  }
  if (!response) {
    response = make_cached_response(stored, age, size, side, services_.forwarding);
  }
  StoredBody body(*entry_->reader, offset, length);
  std::optional<storage::Piece> first;
  if (response->framing != BodyFraming::kNone && length > 0) {
    // Before the head: a damaged object is a miss, not a broken response.
    auto piece = co_await body.next();
    if (!piece) {
      ++services_.counters.store_failures;
      may_use_store_ = false;
      co_return Step::kAgain;
    }
    first = std::move(*piece);
  }
  transaction_.set_tag(tag);
  co_await transaction_.answer(*response, &body, std::move(first));
  co_return Step::kAnswered;
}

FillOrder CacheAnswer::order(bool validating, bool has_no_client) const {
  FillOrder made;
  made.primary_key = primary_key_;
  made.lookup_key = lookup_key_;
  made.marker = marker_;
  made.client = head_;
  made.upstream =
      make_upstream_request(head_, transaction_.target(), MessageFraming(), UpstreamPurpose::kFill,
                            transaction_.client().address(), services_.forwarding);
  made.origin = transaction_.origin();
  made.has_no_client = has_no_client;
  if (validating) {
    made.validating = entry_->response;
    set_validators(made.upstream, entry_->response.head);
  }
  return made;
}

void CacheAnswer::validate_in_background() {
  if (services_.fills.find(lookup_key_) || head_.method() != http::verb::get) return;
  // Over the limit on fills nothing is lost: a later request will start one.
  services_.fills.start(services_, order(has_validator(entry_->response.head), true), may_share_);
}

asio::awaitable<CacheAnswer::Step> CacheAnswer::fetch(bool validating) {
  const auto now = services_.clock.steady_now();
  std::shared_ptr<Fill> fill;
  if (may_share_ && !services_.fills.is_unshareable(lookup_key_, now)) {
    fill = services_.fills.find(lookup_key_);
  }
  const bool joined = fill != nullptr;
  if (!fill) fill = services_.fills.start(services_, order(validating, false), may_share_);
  if (!fill) {
    co_await transaction_.refuse_for(OriginFailure::kOverloaded);
    co_return Step::kAnswered;
  }
  FillReader reader(fill);
  if (joined) ++services_.counters.fills_joined;
  co_await reader.wait_for_head();
  if (joined) co_return co_await join(reader);
  co_return co_await lead(reader);
}

asio::awaitable<CacheAnswer::Step> CacheAnswer::fail(OriginFailure failure) {
  if (may_serve_stale()) co_return co_await serve_entry(LogTag::kRefreshFailed);
  co_await transaction_.refuse_for(failure);
  co_return Step::kAnswered;
}

/// The request that caused the fill.
asio::awaitable<CacheAnswer::Step> CacheAnswer::lead(FillReader& reader) {
  Fill& fill = reader.fill();
  transaction_.set_origin_address(fill.origin_address());
  const bool validating = fill.order().validating.has_value();
  LogTag tag = validating ? LogTag::kRefreshModified : LogTag::kMiss;
  if (decision_.client_reload) tag = LogTag::kClientRefreshMiss;
  transaction_.set_tag(tag);
  if (!fill.has_head()) co_return co_await fail(fill.failure());
  if (fill.outcome() == Fill::Outcome::kMismatch) {
    may_validate_ = false;
    co_return Step::kAgain;
  }
  if (fill.outcome() == Fill::Outcome::kValidated) {
    entry_->response = fill.response();
    co_return co_await serve_entry(LogTag::kRefreshUnmodified);
  }
  if (is_origin_failure(fill.origin_head().result_int()) && may_serve_stale()) {
    co_return co_await serve_entry(LogTag::kRefreshFailed);
  }
  if (may_share_ && !fill.is_storable()) {
    services_.fills.note_unshareable(lookup_key_, services_.clock.steady_now());
  }
  co_return co_await serve_fill(reader, tag, false);
}

/// A request that found another's fill under way.
asio::awaitable<CacheAnswer::Step> CacheAnswer::join(FillReader& reader) {
  Fill& fill = reader.fill();
  if (!fill.has_head() && fill.failure() != OriginFailure::kCancelled) {
    co_return co_await fail(fill.failure());
  }
  const bool usable =
      fill.has_head() && fill.outcome() == Fill::Outcome::kResponse && fill.may_answer(head_);
  if (!usable) {
    // What was validated is in the store by now; anything else this request fetches itself.
    may_share_ = false;
    co_return Step::kAgain;
  }
  co_return co_await serve_fill(reader, LogTag::kCollapsedHit, true);
}

asio::awaitable<CacheAnswer::Step> CacheAnswer::serve_fill(FillReader& reader, LogTag tag,
                                                           bool joined) {
  Fill& fill = reader.fill();
  const StoredResponse& stored = fill.response();
  const HttpTime now = services_.now();
  const Seconds age = current_age(stored, now);
  const auto answered = co_await answer_condition(stored, age, tag);
  if (answered) co_return *answered;
  const auto size = fill.body_size_bytes();
  const ClientSide side = transaction_.client_side();
  std::optional<DownstreamResponse> response;
  if (size && wants_range(stored)) {
    const RangeAnswer range = select_range(head_[http::field::range], *size);
    if (range.kind == RangeAnswer::Kind::kPartial) {
      reader.select(range.range.first, range.range.size_bytes());
      response = make_partial_response(stored, age, range.range, *size, side, services_.forwarding);
    } else if (range.kind == RangeAnswer::Kind::kUnsatisfiable) {
      response = make_unsatisfiable(*size, side, now);
    }
  }
  std::optional<storage::Piece> first;
  if (!response && joined) {
    // Before the head: if this fill fails, another one may serve.
    auto piece = co_await reader.next();
    if (!piece) {
      may_share_ = false;
      co_return Step::kAgain;
    }
    first = std::move(*piece);
    response = make_cached_response(stored, age, size, side, services_.forwarding);
  } else if (!response) {
    response = make_response(fill.origin_head(), size, side, now, services_.forwarding);
  }
  transaction_.set_tag(tag);
  const SendOutcome outcome = co_await transaction_.answer(*response, &reader, std::move(first));
  if (outcome == SendOutcome::kNothingSent) co_await transaction_.refuse_for(fill.failure());
  co_return Step::kAnswered;
}

}  // namespace proxy
