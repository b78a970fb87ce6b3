// GET and HEAD, answered from the store or by a fill.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/fill.h"
#include "proxy/transaction.h"

namespace proxy {

/// Decides with the rules of RFC 9111 and answers. A failure of the store never fails the request:
/// it becomes a miss. For one transaction, once.
class CacheAnswer {
 public:
  explicit CacheAnswer(Transaction& transaction);

  boost::asio::awaitable<void> run();

 private:
  /// A stored response, open.
  struct Entry {
    std::unique_ptr<storage::Reader> reader;
    StoredResponse response;
  };
  /// Whether the request was answered; if not, it is looked at anew.
  enum class Step { kAnswered, kAgain };

  boost::asio::awaitable<Step> step();
  boost::asio::awaitable<void> look_up();
  boost::asio::awaitable<std::optional<StoredRecord>> open_record(
      std::string key, std::unique_ptr<storage::Reader>& reader);
  boost::asio::awaitable<Step> serve_entry(LogTag tag);
  boost::asio::awaitable<Step> serve_stored_body(LogTag tag, Seconds age);
  boost::asio::awaitable<Step> fetch(bool validating);
  boost::asio::awaitable<Step> lead(FillReader& reader);
  boost::asio::awaitable<Step> join(FillReader& reader);
  boost::asio::awaitable<Step> serve_fill(FillReader& reader, LogTag tag, bool joined);
  boost::asio::awaitable<Step> fail(OriginFailure failure);
  boost::asio::awaitable<std::optional<Step>> answer_condition(const StoredResponse& response,
                                                               Seconds age, LogTag tag);

  FillOrder order(bool validating, bool has_no_client) const;
  void validate_in_background();
  bool may_serve_stale() const;
  LogTag hit_tag() const;
  bool wants_range(const StoredResponse& response) const;

  Transaction& transaction_;
  Services& services_;
  const RequestHead& head_;
  std::string primary_key_;
  std::string lookup_key_;
  std::optional<VaryMarker> marker_;
  std::optional<Entry> entry_;
  Decision decision_;
  bool may_use_store_ = true;  ///< False once a stored body turned out to be damaged.
  bool may_validate_ = true;   ///< False once a 304 spoke of another version.
  bool may_share_;             ///< False once a shared fetch let this request down.
};

}  // namespace proxy
