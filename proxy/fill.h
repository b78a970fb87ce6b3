// One fetch from an origin, read by any number of clients while it arrives, and stored.
//
// It belongs to the server, not to the client that caused it. Its states only go forward:
// head, body, then done or failed. What arrives goes to the store's Writer and into a window of
// recent pieces that the readers share without copying. While the fill is being stored it never
// waits for a reader: one that falls out of the window goes on from the store once the object is
// committed. While it is not being stored it keeps pace with its readers, within a time limit.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/body_source.h"
#include "proxy/services.h"
#include "proxy/stored_response.h"
#include "proxy/wakeup.h"

namespace proxy {

class FillReader;

/// What to fetch, and what is known of it.
struct FillOrder {
  std::string primary_key;           ///< cache_key() of the target.
  std::string lookup_key;            ///< The variant's key where one is known, else the same.
  std::optional<VaryMarker> marker;  ///< The Vary marker that is stored already.
  RequestHead client;                ///< As the client sent it.
  RequestHead upstream;              ///< For the origin, with validators if it validates.
  storage::HostPort origin;
  std::optional<StoredResponse> validating;  ///< The stored response that it validates.
  bool has_no_client = false;                ///< Goes on without readers from the start.
};

/// See the top of this file. Single-threaded on the services' executor; held by shared pointers.
class Fill : public std::enable_shared_from_this<Fill> {
 public:
  enum class State { kHead, kBody, kDone, kFailed };
  /// What the head turned out to be.
  enum class Outcome {
    kResponse,   ///< A response with its body.
    kValidated,  ///< 304: response() is the validated entry, freshened; there is no body.
    kMismatch,   ///< 304 that speaks of another version: fetch without validators.
  };

  Fill(Services& services, FillOrder order, uint64_t id);
  ~Fill();
  Fill(const Fill&) = delete;
  Fill& operator=(const Fill&) = delete;

  /// Fetches to the end; once.
  boost::asio::awaitable<void> run();

  State state() const { return state_; }
  /// Why it failed; kCancelled also where the store or the readers made it end.
  OriginFailure failure() const { return failure_; }
  uint64_t id() const { return id_; }
  const FillOrder& order() const { return order_; }

  /// The rest is known from State::kBody on (and stays known where it fails then).
  bool has_head() const { return has_head_; }
  Outcome outcome() const { return outcome_; }
  /// The head as it came.
  const ResponseHead& origin_head() const { return origin_head_; }
  /// The response as it is stored, or would be.
  const StoredResponse& response() const { return response_; }
  std::optional<uint64_t> body_size_bytes() const { return response_.body_size_bytes; }
  const std::string& origin_address() const { return origin_address_; }

  /// Whether a request may wait for the head together with others, or read the body with them.
  bool may_join() const;
  /// Whether the rules of HTTP allow it to be stored and shared (head known).
  bool is_storable() const { return storable_; }
  /// Whether the response may answer another request than the one that caused it (head known).
  bool may_answer(const RequestHead& request) const;

  /// The response is not to be stored: its resource was changed meanwhile.
  void forbid_storing();
  /// Gives up.
  void abandon();
  /// Fails it after run() ended in an exception.
  void abandon_after_exception();

 private:
  friend class FillReader;
  struct WindowPiece {
    uint64_t offset_bytes;
    storage::Piece piece;
  };

  boost::asio::awaitable<void> take_head(OriginExchange& exchange);
  boost::asio::awaitable<void> take_not_modified();
  boost::asio::awaitable<void> open_store();
  boost::asio::awaitable<bool> pump_body(OriginExchange& exchange);
  boost::asio::awaitable<bool> pump_space(OriginExchange& exchange, storage::Space space);
  boost::asio::awaitable<storage::Result<storage::Space>> next_space();
  boost::asio::awaitable<void> keep_pace();
  boost::asio::awaitable<void> commit();
  boost::asio::awaitable<bool> choose_key();
  boost::asio::awaitable<bool> find_marker();
  boost::asio::awaitable<bool> store_marker();

  void announce_head();
  void fail(OriginFailure failure);
  void drop_store();
  void add_to_window(const storage::Space& space, size_t used_before, size_t used_now);
  void trim_window();
  void drop_slowest_readers();
  bool goes_on_without_readers() const;
  uint64_t window_start() const {
    return window_.empty() ? received_bytes_ : window_.front().offset_bytes;
  }
  uint64_t window_bytes() const { return received_bytes_ - window_start(); }

  Services& services_;
  FillOrder order_;
  uint64_t id_;
  State state_ = State::kHead;
  OriginFailure failure_ = OriginFailure::kNone;
  bool abandoned_ = false;

  bool has_head_ = false;
  Outcome outcome_ = Outcome::kResponse;
  ResponseHead origin_head_;
  StoredResponse response_;
  std::string origin_address_;
  bool storable_ = false;  ///< By the rules of HTTP.
  VaryMarker marker_;      ///< Of the response; no names where it does not vary.
  bool marker_is_stored_ = false;
  std::string store_key_;

  std::unique_ptr<storage::Writer> writer_;
  bool forbidden_ = false;
  bool committed_ = false;

  std::deque<WindowPiece> window_;
  uint64_t received_bytes_ = 0;
  bool body_complete_ = false;

  std::vector<FillReader*> readers_;
  OriginExchange* exchange_ = nullptr;  ///< While run() is under way.
  Wakeup progress_;                     ///< Readers wait here.
  Wakeup consumed_;                     ///< The fill waits here for its readers.
};

/// One client's view of a fill. While it exists the fill counts it as a reader.
class FillReader final : public BodySource {
 public:
  explicit FillReader(std::shared_ptr<Fill> fill);
  ~FillReader() override;
  FillReader(const FillReader&) = delete;
  FillReader& operator=(const FillReader&) = delete;

  Fill& fill() { return *fill_; }
  /// Until the head is known or the fill failed.
  boost::asio::awaitable<void> wait_for_head();
  /// Reads only this part, which must lie inside the body; before the first next().
  void select(uint64_t offset_bytes, uint64_t size_bytes);

  storage::Task<storage::Piece> next() override;
  storage::Result<storage::Piece> try_next() override;

 private:
  friend class Fill;
  boost::asio::awaitable<storage::Result<void>> go_on_from_store();

  std::shared_ptr<Fill> fill_;
  uint64_t offset_bytes_ = 0;
  uint64_t end_bytes_;
  bool dropped_ = false;  ///< It held up the others too long.
  std::unique_ptr<storage::Reader> stored_;
};

}  // namespace proxy
