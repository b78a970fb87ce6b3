#include "proxy/session.h"

namespace proxy {

namespace asio = boost::asio;

Session::Session(Services& services, Socket socket)
    : services_(services),
      client_(services, std::move(socket)),
      reader_(client_.socket(), client_.buffer(), client_.read_deadline(),
              services.config.limits.header_size_bytes_max) {}

asio::awaitable<void> Session::run() {
  bool more = true;
  while (more && !client_.broken()) more = co_await serve_request();
  if (linger_ && !client_.broken() && !services_.stopping) {
    lingering_ = true;
    co_await close_after_answer(client_.socket(), client_.read_deadline());
  }
}

asio::awaitable<bool> Session::serve_request() {
  if (services_.stopping) co_return false;
  const auto& timeouts = services_.config.timeouts;
  const HeadTimeouts head_timeouts(first_request_ ? timeouts.header : timeouts.idle,
                                   timeouts.header);
  first_request_ = false;
  waiting_ = true;
  const auto error = co_await reader_.read_head(head_timeouts);
  waiting_ = false;
  if (error) {
    co_await answer_bad_head(error);
    co_return false;
  }
  RequestHead head = reader_.take_head();
  RequestLimits limits;
  limits.field_count_max = services_.config.limits.header_count_max;
  limits.head_size_bytes_max = services_.config.limits.header_size_bytes_max;
  const auto checked = check_request(head, limits);
  if (!checked) {
    linger_ = true;
    co_await refuse_bad_request(services_, client_, checked.error());
    co_return false;
  }
  reader_.expect_body(checked->body);
  Transaction transaction(services_, client_, reader_, std::move(head), *checked);
  co_await transaction.run();
  linger_ = !reader_.is_body_complete() || reader_.has_more_input();
  co_return transaction.keep_alive() && reader_.is_body_complete();
}

asio::awaitable<void> Session::answer_bad_head(boost::system::error_code error) {
  Refusal refusal(http::status::bad_request, "bad_request", "This is not a valid HTTP request.");
  if (error == asio::error::timed_out) {
    if (!reader_.has_started()) co_return;
    refusal = Refusal(http::status::request_timeout, "header_timeout",
                      "The request head did not arrive in time.");
  } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    refusal = Refusal(http::status::request_header_fields_too_large, "header_size",
                      "The request head is too large.");
  } else if (error == http::error::partial_message ||
             error.category() != http::make_error_code(http::error::bad_method).category()) {
    co_return;  // The client is gone.
  }
  linger_ = true;
  co_await refuse_bad_request(services_, client_, refusal);
}

void Session::stop_if_idle() {
  if (lingering_ || (waiting_ && !reader_.has_started())) client_.give_up();
}

}  // namespace proxy
