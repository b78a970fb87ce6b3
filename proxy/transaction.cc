#include "proxy/transaction.h"

#include <array>

#include "proxy/access_log_writer.h"
#include "proxy/cache_answer.h"
#include "proxy/error_page.h"
#include "proxy/pass_through.h"
#include "proxy/test_delay.h"
#include "proxy/tunnel.h"

namespace proxy {

namespace {

namespace asio = boost::asio;
constexpr std::string_view kTunnelOpen = "HTTP/1.1 200 Connection established\r\n\r\n";

http::status status_of(OriginFailure failure) {
  switch (failure) {
    case OriginFailure::kTimeout:
    case OriginFailure::kConnectTimeout:
      return http::status::gateway_timeout;
    case OriginFailure::kOverloaded:
    case OriginFailure::kCancelled:
      return http::status::service_unavailable;
    default:
      return http::status::bad_gateway;
  }
}

void finish_record(Services& services, AccessRecord& record) {
  record.ended = services.clock.wall_now();
  services.counters.count_request(record);
  if (services.access_log) services.access_log->log(record);
}

}  // namespace

Transaction::Transaction(Services& services, ClientConnection& client, RequestReader& reader,
                         RequestHead head, const CheckedRequest& checked)
    : services_(services),
      client_(client),
      reader_(reader),
      head_(std::move(head)),
      checked_(checked),
      started_(services.clock.steady_now()) {}

ClientSide Transaction::client_side() const {
  ClientSide side;
  side.method = head_.method();
  side.version = head_.version();
  side.keep_alive = checked_.keep_alive && may_keep_alive_ && !services_.stopping;
  return side;
}

storage::HostPort Transaction::origin() const {
  if (services_.config.origin) return *services_.config.origin;
  storage::HostPort address;
  address.host = target_.host;
  address.port = target_.port;
  return address;
}

void Transaction::set_origin_address(const std::string& address) {
  if (address.empty()) return;
  origin_address_ = address;
  hierarchy_ = services_.config.origin ? Hierarchy::kParent : Hierarchy::kDirect;
}

asio::awaitable<void> Transaction::run() {
  ++services_.counters.requests_in_progress;
  spend_cpu_time(services_.config.test_delay);
  co_await dispatch();
  --services_.counters.requests_in_progress;
  log();
}

asio::awaitable<void> Transaction::dispatch() {
  auto target = parse_request_target(head_);
  if (!target) {
    co_await refuse(target.error());
    co_return;
  }
  target_ = std::move(*target);
  const bool is_reverse = services_.config.origin.has_value();
  if (head_.method() == http::verb::connect) {
    co_await open_tunnel();
  } else if (is_forwarding_loop(head_, services_.forwarding.via_name)) {
    co_await refuse(Refusal(http::status::loop_detected, "loop",
                            "The request came back to this proxy.", false));
  } else if (must_answer_here(head_) || (!is_reverse && target_.form == TargetForm::kAsterisk)) {
    co_await answer_here();
  } else if (!is_reverse && target_.form == TargetForm::kOrigin) {
    co_await refuse(Refusal(http::status::bad_request, "origin_form",
                            "This is a forward proxy: the request line must name a whole URL.",
                            false));
  } else if (may_look_up(head_) && checked_.body.framing == BodyFraming::kNone) {
    CacheAnswer answer(*this);
    co_await answer.run();
  } else {
    co_await pass_through(*this, LogTag::kMiss);
  }
}

/// OPTIONS that is for the proxy itself; TRACE is not served.
asio::awaitable<void> Transaction::answer_here() {
  if (head_.method() != http::verb::options) {
    co_await refuse(Refusal(http::status::method_not_allowed, "method",
                            "The proxy does not answer this method itself.", false));
    co_return;
  }
  ResponseHead empty;
  empty.result(http::status::no_content);
  empty.set(http::field::allow, "GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH, CONNECT");
  if (!reader_.is_body_complete()) forbid_keep_alive();
  const DownstreamResponse response =
      make_response(empty, 0, client_side(), services_.now(), services_.forwarding);
  co_await answer(response, nullptr, std::nullopt);
}

asio::awaitable<void> Transaction::open_tunnel() {
  const auto& config = services_.config;
  if (config.origin || !config.connect_ports.contains(target_.port)) {
    set_tag(LogTag::kDenied);
    // Named, because g++ 12 destroys a conditional temporary of a co_await expression twice.
    Refusal refusal(http::status::forbidden, "connect_port",
                    "CONNECT is not allowed to this port; see --connect-ports.");
    if (config.origin) {
      refusal = Refusal(http::status::method_not_allowed, "connect_refused",
                        "A reverse proxy opens no tunnels.");
    }
    co_await refuse(std::move(refusal));
    co_return;
  }
  set_tag(LogTag::kTunnel);
  const storage::HostPort address = origin();
  auto got = co_await services_.origins.acquire(address, true);
  if (!got.connection) {
    forbid_keep_alive();
    co_await refuse_for(got.failure);
    co_return;
  }
  set_origin_address(got.connection->address());
  std::array<asio::const_buffer, 1> buffers{asio::buffer(kTunnelOpen)};
  status_ = 200;
  const bool opened = co_await client_.send(buffers);
  if (opened) {
    const TunnelReport report = co_await run_tunnel(services_, client_, *got.connection);
    client_.add_sent_bytes(report.to_client_bytes);
  }
  aborted_ = !opened;
}

asio::awaitable<SendOutcome> Transaction::answer(const DownstreamResponse& response,
                                                 BodySource* body,
                                                 std::optional<storage::Piece> first) {
  status_ = response.head.result_int();
  content_type_ = response.head[http::field::content_type];
  const SendOutcome outcome = co_await send_response(client_, response, body, std::move(first));
  aborted_ = outcome != SendOutcome::kSent;
  keep_alive_ = response.keep_alive && !aborted_ && may_keep_alive_;
  co_return outcome;
}

asio::awaitable<void> Transaction::refuse(Refusal refusal) {
  if (!reader_.is_body_complete()) refusal.close = true;
  const ErrorPage page = make_error_page(refusal, client_side(), head_[http::field::accept],
                                         services_.now(), services_.forwarding);
  status_ = page.head.result_int();
  content_type_ = page.head[http::field::content_type];
  const SendOutcome outcome = co_await send_text_response(client_, page.head, page.body);
  aborted_ = outcome != SendOutcome::kSent;
  keep_alive_ = page.keep_alive && !aborted_;
}

asio::awaitable<void> Transaction::refuse_for(OriginFailure failure) {
  const std::string reason = name_of(failure);
  co_await refuse(Refusal(
      status_of(failure), reason,
      "The origin server " + target_.authority() + " gave no usable response (" + reason + ").",
      false));
}

void Transaction::give_up() {
  aborted_ = true;
  keep_alive_ = false;
  client_.give_up();
}

void Transaction::log() {
  AccessRecord record;
  record.duration = services_.clock.steady_now() - started_;
  record.client_address = client_.address();
  record.tag = tag_;
  record.aborted = aborted_;
  record.status = status_;
  record.sent_bytes = client_.take_sent_bytes();
  record.method = head_.method_string();
  const std::string url = target_.host.empty() ? std::string(head_.target()) : target_.url();
  record.url = url;
  record.hierarchy = hierarchy_;
  record.origin_address = origin_address_;
  record.content_type = content_type_;
  finish_record(services_, record);
}

asio::awaitable<void> refuse_bad_request(Services& services, ClientConnection& client,
                                         const Refusal& refusal) {
  ClientSide side;
  side.keep_alive = false;
  const ErrorPage page = make_error_page(refusal, side, "", services.now(), services.forwarding);
  const SendOutcome outcome = co_await send_text_response(client, page.head, page.body);
  AccessRecord record;
  record.client_address = client.address();
  record.aborted = outcome != SendOutcome::kSent;
  record.status = page.head.result_int();
  record.sent_bytes = client.take_sent_bytes();
  const std::string url = "error:" + refusal.reason;
  record.url = url;
  finish_record(services, record);
}

}  // namespace proxy
