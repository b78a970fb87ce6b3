#include "proxy/fill.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "proxy/conditional.h"
#include "proxy/vary.h"

namespace proxy {

namespace {

namespace asio = boost::asio;
/// A response whose start has left the window is still joined if no more than this is to come.
constexpr uint64_t kJoinRestBytesMax = 1024 * 1024;

}  // namespace

Fill::Fill(Services& services, FillOrder order, uint64_t id)
    : services_(services),
      order_(std::move(order)),
      id_(id),
      progress_(services.executor),
      consumed_(services.executor) {}

Fill::~Fill() = default;

asio::awaitable<void> Fill::run() {
  OriginExchange exchange(services_.origins, order_.origin, services_.exchange_options());
  exchange_ = &exchange;
  response_.request_time = services_.now();
  const OriginFailure failure = co_await exchange.fetch(order_.upstream);
  origin_address_ = exchange.address();
  if (failure != OriginFailure::kNone || abandoned_) {
    fail(abandoned_ ? OriginFailure::kCancelled : failure);
  } else {
    co_await take_head(exchange);
  }
  exchange_ = nullptr;
}

asio::awaitable<void> Fill::take_head(OriginExchange& exchange) {
  origin_head_ = exchange.head();
  response_.response_time = services_.now();
  response_.fill_id = id_;
  if (order_.validating && origin_head_.result() == http::status::not_modified) {
    co_await take_not_modified();
    co_return;
  }
  response_.head = head_to_store(origin_head_);
  response_.body_size_bytes = exchange.body_size_bytes();
  const auto decision =
      may_store(order_.client, origin_head_, response_.response_time, services_.caching);
  // A body that ends with its connection may be cut off unseen, so it is not kept.
  storable_ = decision.store && exchange.is_end_proved();
  if (storable_) co_await open_store();
  if (!co_await pump_body(exchange)) co_return;
  body_complete_ = true;
  announce_head();
  progress_.wake_all();
  if (writer_) co_await commit();
  state_ = State::kDone;
  progress_.wake_all();
}

asio::awaitable<void> Fill::take_not_modified() {
  if (!validates(origin_head_, *order_.validating)) {
    outcome_ = Outcome::kMismatch;
  } else {
    outcome_ = Outcome::kValidated;
    const HttpTime request_time = response_.request_time;
    const HttpTime response_time = response_.response_time;
    response_ = *order_.validating;
    freshen(response_, origin_head_, request_time, response_time);
    if (auto record = encode_record(response_)) {
      const auto updated =
          co_await services_.store.update(storage::Key(order_.lookup_key), std::move(*record));
      // It may have been evicted meanwhile, which harms nobody.
      if (!updated && updated.error().code != storage::Errc::kNotFound) {
        ++services_.counters.store_failures;
      }
    }
  }
  announce_head();
  state_ = State::kDone;
  progress_.wake_all();
}

asio::awaitable<void> Fill::open_store() {
  if (!co_await choose_key()) {
    storable_ = false;
    co_return;
  }
  auto record = encode_record(response_);
  if (!record) {
    storable_ = false;
    co_return;
  }
  auto made = co_await services_.store.create(storage::Key(store_key_), std::move(*record),
                                              response_.body_size_bytes);
  if (!made) {
    ++services_.counters.stores_declined;
    co_return;
  }
  writer_ = std::move(*made);
  // Now, so that fetches of other variants that begin from here on find it.
  if (!marker_.names.empty() && !marker_is_stored_ && !co_await store_marker()) drop_store();
}

/// The key under which the response is stored; false where it cannot be.
asio::awaitable<bool> Fill::choose_key() {
  auto names = vary_names(origin_head_);
  if (!names) co_return false;
  store_key_ = order_.primary_key;
  if (names->empty()) co_return true;
  marker_.names = std::move(*names);
  if (order_.marker && order_.marker->names == marker_.names) {
    marker_ = *order_.marker;
    marker_is_stored_ = true;
  } else {
    marker_is_stored_ = co_await find_marker();
  }
  auto variant = variant_key(order_.primary_key, marker_, order_.client);
  if (!variant) co_return false;
  store_key_ = std::move(*variant);
  co_return true;
}

/// Takes over the marker that another fetch stored meanwhile, or makes up a new one.
asio::awaitable<bool> Fill::find_marker() {
  auto reader = co_await services_.store.open(storage::Key(order_.primary_key));
  if (reader) {
    const auto record = decode_record((*reader)->metadata().bytes());
    const auto* stored = record ? std::get_if<VaryMarker>(&*record) : nullptr;
    if (stored && stored->names == marker_.names) {
      marker_ = *stored;
      co_return true;
    }
  }
  marker_.response_time = response_.response_time;
  marker_.generation = id_;
  co_return false;
}

void Fill::announce_head() {
  if (has_head_) return;
  has_head_ = true;
  if (state_ == State::kHead) state_ = State::kBody;
  progress_.wake_all();
}

void Fill::fail(OriginFailure failure) {
  writer_.reset();  // Nothing of it stays behind.
  failure_ = failure;
  state_ = State::kFailed;
  if (abandoned_) {
    ++services_.counters.fills_abandoned;
  } else {
    ++services_.counters.fills_failed;
  }
  progress_.wake_all();
}

asio::awaitable<bool> Fill::pump_body(OriginExchange& exchange) {
  while (!exchange.is_over()) {
    auto space = co_await next_space();
    if (!space) {
      fail(OriginFailure::kCancelled);
      co_return false;
    }
    if (!co_await pump_space(exchange, std::move(*space))) co_return false;
  }
  co_return true;
}

/// Fills one space, telling readers of each part as it arrives, then hands it to the store.
asio::awaitable<bool> Fill::pump_space(OriginExchange& exchange, storage::Space space) {
  size_t used = 0;
  while (used < space.size() && !exchange.is_over()) {
    const auto rest = space.bytes().subspan(used);
    IoResult got = exchange.try_read_body(rest);
    if (got.error == asio::error::would_block) {
      announce_head();
      progress_.wake_all();
      got = co_await exchange.read_body(rest);
    }
    if (abandoned_) got.error = asio::error::operation_aborted;
    if (got.error) {
      fail(abandoned_ ? OriginFailure::kCancelled : OriginExchange::failure_of(got.error));
      co_return false;
    }
    add_to_window(space, used, used + got.size_bytes);
    used += got.size_bytes;
  }
  if (writer_ && used > 0) {
    if (!writer_->append(std::move(space), used)) drop_store();
  }
  if (writer_ && window_bytes() > services_.config.limits.fill_window_bytes) {
    // A fast origin must not outrun readers that could keep up if only they had their turn. It is
    // one turn: who then still lags is slow, and is not waited for.
    announce_head();
    progress_.wake_all();
    co_await asio::post(services_.executor, asio::use_awaitable);
    if (abandoned_) {
      fail(OriginFailure::kCancelled);
      co_return false;
    }
  }
  trim_window();
  announce_head();
  progress_.wake_all();
  co_return true;
}

asio::awaitable<storage::Result<storage::Space>> Fill::next_space() {
  const uint64_t left =
      response_.body_size_bytes ? *response_.body_size_bytes - received_bytes_ : UINT64_MAX;
  if (writer_) {
    const auto hint = static_cast<size_t>(std::min<uint64_t>(left, 64 * 1024));
    auto space = co_await writer_->reserve(hint);
    if (space) co_return std::move(space);
    drop_store();
  }
  if (!abandoned_) co_await keep_pace();
  if (abandoned_) co_return storage::Error(storage::Errc::kAborted);
  co_return co_await services_.buffers.acquire();
}

/// Waits while readers have not taken enough of a window that no store backs.
asio::awaitable<void> Fill::keep_pace() {
  trim_window();
  if (window_bytes() < services_.config.limits.fill_window_bytes) co_return;
  announce_head();
  progress_.wake_all();
  Deadlines::Entry stalled(services_.deadlines, [this] { consumed_.wake_all(); });
  while (!abandoned_ && window_bytes() >= services_.config.limits.fill_window_bytes) {
    const uint64_t start = window_start();
    stalled.set_in(services_.config.timeouts.send);
    while (!abandoned_ && window_start() == start && !stalled.expired()) {
      co_await consumed_.wait();
      trim_window();
    }
    if (stalled.expired()) drop_slowest_readers();
    trim_window();
  }
}

void Fill::drop_slowest_readers() {
  const uint64_t start = window_start();
  for (FillReader* reader : readers_) {
    if (reader->offset_bytes_ < start + window_.front().piece.size()) reader->dropped_ = true;
  }
  const bool all = std::all_of(readers_.begin(), readers_.end(),
                               [](const FillReader* reader) { return reader->dropped_; });
  if (all) abandon();
  progress_.wake_all();
}

void Fill::drop_store() {
  writer_.reset();
  ++services_.counters.stores_declined;
  if (readers_.empty()) abandon();
  progress_.wake_all();
}

void Fill::add_to_window(const storage::Space& space, size_t used_before, size_t used_now) {
  if (used_now == used_before) return;
  services_.counters.fill_bytes += used_now - used_before;
  if (used_before > 0 && !window_.empty()) {
    window_.back().piece = space.share(used_now);
  } else {
    window_.push_back(WindowPiece{received_bytes_, space.share(used_now)});
  }
  received_bytes_ += used_now - used_before;
}

void Fill::trim_window() {
  const uint64_t limit = services_.config.limits.fill_window_bytes;
  if (writer_) {
    while (window_.size() > 1 && window_bytes() > limit) window_.pop_front();
    return;
  }
  if (committed_) return;
  uint64_t slowest = received_bytes_;
  for (const FillReader* reader : readers_) {
    if (!reader->dropped_) slowest = std::min(slowest, reader->offset_bytes_);
  }
  while (!window_.empty() &&
         window_.front().offset_bytes + window_.front().piece.size() <= slowest) {
    window_.pop_front();
  }
}

asio::awaitable<void> Fill::commit() {
  if (forbidden_) {
    writer_.reset();
    co_return;
  }
  const auto done = co_await writer_->commit();
  writer_.reset();
  committed_ = done.has_value();
  if (committed_) {
    ++services_.counters.fills_stored;
  } else {
    ++services_.counters.stores_declined;
  }
}

/// Puts the names that the response varies by under the primary key.
asio::awaitable<bool> Fill::store_marker() {
  auto record = encode_record(marker_);
  if (!record) co_return false;
  auto made =
      co_await services_.store.create(storage::Key(order_.primary_key), std::move(*record), 0);
  if (!made) co_return false;
  const auto done = co_await (*made)->commit();
  co_return done.has_value();
}

bool Fill::may_join() const {
  if (state_ == State::kFailed || forbidden_ || abandoned_) return false;
  if (!has_head_) return true;
  if (outcome_ != Outcome::kResponse || !storable_) return false;
  if (committed_ || window_start() == 0) return writer_ || committed_;
  return writer_ &&
         (body_complete_ || (response_.body_size_bytes &&
                             *response_.body_size_bytes - received_bytes_ <= kJoinRestBytesMax));
}

bool Fill::may_answer(const RequestHead& request) const {
  if (!has_head_ || !storable_ || forbidden_) return false;
  if (marker_.names.empty()) return true;
  const auto variant = variant_key(order_.primary_key, marker_, request);
  return variant && *variant == store_key_;
}

void Fill::forbid_storing() {
  forbidden_ = true;
}

bool Fill::goes_on_without_readers() const {
  if (order_.has_no_client) return true;
  if (!writer_ || !has_head_) return false;
  if (body_complete_) return true;
  return response_.body_size_bytes && *response_.body_size_bytes - received_bytes_ <=
                                          services_.config.limits.fill_unread_bytes_max;
}

void Fill::abandon() {
  if (state_ == State::kDone || state_ == State::kFailed || body_complete_) return;
  abandoned_ = true;
  if (exchange_) exchange_->cancel();
  consumed_.wake_all();
}

void Fill::abandon_after_exception() {
  exchange_ = nullptr;
  fail(OriginFailure::kCancelled);
}

FillReader::FillReader(std::shared_ptr<Fill> fill)
    : fill_(std::move(fill)), end_bytes_(UINT64_MAX) {
  fill_->readers_.push_back(this);
}

FillReader::~FillReader() {
  auto& readers = fill_->readers_;
  readers.erase(std::find(readers.begin(), readers.end(), this));
  if (readers.empty() && !fill_->goes_on_without_readers()) {
    fill_->abandon();
  } else {
    fill_->consumed_.wake_all();
  }
}

asio::awaitable<void> FillReader::wait_for_head() {
  while (!fill_->has_head() && fill_->state() != Fill::State::kFailed) {
    co_await fill_->progress_.wait();
  }
}

void FillReader::select(uint64_t offset_bytes, uint64_t size_bytes) {
  offset_bytes_ = offset_bytes;
  end_bytes_ = offset_bytes + size_bytes;
}

storage::Result<storage::Piece> FillReader::try_next() {
  const Fill& fill = *fill_;
  if (offset_bytes_ >= end_bytes_) return storage::Piece();
  if (dropped_) return storage::Error(storage::Errc::kAborted);
  for (auto part = fill.window_.rbegin(); part != fill.window_.rend(); ++part) {
    if (part->offset_bytes > offset_bytes_) continue;
    const uint64_t inside = offset_bytes_ - part->offset_bytes;
    if (inside >= part->piece.size()) break;
    const auto size = std::min<uint64_t>(part->piece.size() - inside, end_bytes_ - offset_bytes_);
    offset_bytes_ += size;
    if (!fill.writer_) fill_->consumed_.wake_all();
    return part->piece.share(static_cast<size_t>(inside), static_cast<size_t>(size));
  }
  if (fill.body_complete_ && offset_bytes_ == fill.received_bytes_) return storage::Piece();
  if (fill.state_ == Fill::State::kFailed) return storage::Error(storage::Errc::kAborted);
  return storage::Error(storage::Errc::kOverloaded);
}

storage::Task<storage::Piece> FillReader::next() {
  while (!stored_) {
    auto piece = try_next();
    if (piece || piece.error().code != storage::Errc::kOverloaded) co_return std::move(piece);
    const bool fell_behind = offset_bytes_ < fill_->window_start();
    if (fell_behind && fill_->committed_) {
      const auto opened = co_await go_on_from_store();
      if (!opened) co_return opened.error();
      break;
    }
    // Nobody will ever have what this reader still needs.
    const bool lost = fell_behind && (!fill_->writer_ || fill_->state_ == Fill::State::kDone);
    if (lost) co_return storage::Error(storage::Errc::kAborted);
    co_await fill_->progress_.wait();
  }
  const uint64_t end = std::min(end_bytes_, stored_->body_size_bytes());
  StoredBody rest(*stored_, offset_bytes_, end - offset_bytes_);
  auto piece = co_await rest.next();
  if (piece) offset_bytes_ += piece->size();
  co_return std::move(piece);
}

/// Opens the committed object; it must be the very one that this fill stored.
asio::awaitable<storage::Result<void>> FillReader::go_on_from_store() {
  auto opened = co_await fill_->services_.store.open(storage::Key(fill_->store_key_));
  if (!opened) co_return opened.error();
  const auto record = decode_record((*opened)->metadata().bytes());
  const auto* response = record ? std::get_if<StoredResponse>(&*record) : nullptr;
  if (!response || response->fill_id != fill_->id() ||
      (*opened)->body_size_bytes() != fill_->received_bytes_) {
    co_return storage::Error(storage::Errc::kNotFound);
  }
  stored_ = std::move(*opened);
  co_return storage::Result<void>();
}

}  // namespace proxy
