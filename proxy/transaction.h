// One request and what becomes of it.
#pragma once

#include <optional>
#include <string>

#include "proxy/access_log.h"
#include "proxy/client_connection.h"
#include "proxy/message_reader.h"
#include "proxy/request_target.h"
#include "proxy/response_sender.h"

namespace proxy {

/// The state of one request, shared by whatever answers it: pass_through(), CacheAnswer or a
/// tunnel. Exactly one of them sends one answer. Single-threaded; lives as long as its session's
/// coroutine waits for it.
class Transaction {
 public:
  Transaction(Services& services, ClientConnection& client, RequestReader& reader, RequestHead head,
              const CheckedRequest& checked);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// Answers the request and logs it.
  boost::asio::awaitable<void> run();
  /// Whether another request may follow on the connection.
  bool keep_alive() const { return keep_alive_; }

  Services& services() { return services_; }
  ClientConnection& client() { return client_; }
  RequestReader& reader() { return reader_; }
  const RequestHead& head() const { return head_; }
  const CheckedRequest& checked() const { return checked_; }
  const RequestTarget& target() const { return target_; }
  ClientSide client_side() const;
  /// Where to connect to for this request.
  storage::HostPort origin() const;

  /// How the request is logged, from now on.
  void set_tag(LogTag tag) { tag_ = tag; }
  void set_origin_address(const std::string& address);
  /// The connection cannot carry another request.
  void forbid_keep_alive() { may_keep_alive_ = false; }

  /// Sends the answer. After SendOutcome::kNothingSent another one may be sent.
  boost::asio::awaitable<SendOutcome> answer(const DownstreamResponse& response, BodySource* body,
                                             std::optional<storage::Piece> first);
  /// Answers with an error page.
  boost::asio::awaitable<void> refuse(Refusal refusal);
  /// Answers with an error page that names the origin's failure.
  boost::asio::awaitable<void> refuse_for(OriginFailure failure);
  /// The client is gone or its request broke off: no answer.
  void give_up();

 private:
  boost::asio::awaitable<void> dispatch();
  boost::asio::awaitable<void> answer_here();
  boost::asio::awaitable<void> open_tunnel();
  void log();

  Services& services_;
  ClientConnection& client_;
  RequestReader& reader_;
  RequestHead head_;
  CheckedRequest checked_;
  RequestTarget target_;
  storage::SteadyTime started_;
  LogTag tag_ = LogTag::kNone;
  Hierarchy hierarchy_ = Hierarchy::kNone;
  std::string origin_address_;
  std::string content_type_;
  unsigned status_ = 0;
  bool aborted_ = false;
  bool keep_alive_ = false;
  bool may_keep_alive_ = true;
};

/// Answers a request that could not even be read or that the checks refuse, and logs it.
boost::asio::awaitable<void> refuse_bad_request(Services& services, ClientConnection& client,
                                                const Refusal& refusal);

}  // namespace proxy
