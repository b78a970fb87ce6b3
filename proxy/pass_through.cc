#include "proxy/pass_through.h"

#include <array>
#include <exception>

#include "proxy/fill_table.h"
#include "proxy/upload.h"

namespace proxy {

namespace {

namespace asio = boost::asio;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

asio::awaitable<void> invalidate(Transaction& transaction, const ResponseHead& response) {
  Services& services = transaction.services();
  const auto keys = keys_to_invalidate(transaction.head(), transaction.target(), response);
  for (const std::string& text : keys) {
    ++services.counters.invalidations;
    services.fills.invalidate(text);
    const auto removed = co_await services.store.remove(storage::Key(text));
    if (!removed) ++services.counters.store_failures;
  }
}

/// The response's way back, once its head is here.
asio::awaitable<void> answer(Transaction& transaction, OriginExchange& exchange) {
  Services& services = transaction.services();
  co_await invalidate(transaction, exchange.head());
  ExchangeBody body(exchange, services.buffers);
  // The response to HEAD has a length of its own, though no body.
  const bool is_head = transaction.head().method() == http::verb::head;
  const auto size = is_head ? std::nullopt : exchange.body_size_bytes();
  const auto response = make_response(exchange.head(), size, transaction.client_side(),
                                      services.now(), services.forwarding);
  std::optional<storage::Piece> first;
  if (response.framing != BodyFraming::kNone) {
    auto piece = co_await body.next();
    if (!piece) {
      co_await transaction.refuse_for(OriginFailure::kClosed);
      co_return;
    }
    first = std::move(*piece);
  }
  co_await transaction.answer(response, &body, std::move(first));
}

asio::awaitable<void> pass_without_body(Transaction& transaction, OriginExchange& exchange,
                                        const RequestHead& upstream) {
  const OriginFailure failure = co_await exchange.fetch(upstream);
  transaction.set_origin_address(exchange.address());
  if (failure != OriginFailure::kNone) {
    co_await transaction.refuse_for(failure);
    co_return;
  }
  co_await answer(transaction, exchange);
}

/// Why the client's part of an exchange failed, answered if it can still hear it.
asio::awaitable<void> refuse_for_upload(Transaction& transaction,
                                        const boost::system::error_code& error) {
  transaction.forbid_keep_alive();
  if (error == asio::error::timed_out) {
    co_await transaction.refuse(Refusal(http::status::request_timeout, "body_timeout",
                                        "The request body did not arrive in time."));
  } else if (error.category() == http::make_error_code(http::error::bad_chunk).category() &&
             error != http::error::partial_message) {
    co_await transaction.refuse(
        Refusal(http::status::bad_request, "bad_body", "The request body is malformed."));
  } else {
    transaction.give_up();
  }
}

/// Waits for the response while the upload is under way.
asio::awaitable<void> answer_upload(Transaction& transaction, OriginExchange& exchange,
                                    Upload& upload) {
  const OriginFailure failure = co_await exchange.read_head();
  if (!upload.is_complete()) {
    // The rest of the request is not going to be read.
    transaction.forbid_keep_alive();
    exchange.forbid_keeping();
  }
  if (upload.client_error()) {
    co_await refuse_for_upload(transaction, upload.client_error());
  } else if (failure != OriginFailure::kNone) {
    co_await transaction.refuse_for(failure);
  } else {
    co_await answer(transaction, exchange);
  }
}

asio::awaitable<void> pass_with_body(Transaction& transaction, OriginExchange& exchange,
                                     const RequestHead& upstream) {
  OriginFailure failure = co_await exchange.connect(false);
  transaction.set_origin_address(exchange.address());
  if (failure == OriginFailure::kNone) failure = co_await exchange.send_head(upstream);
  if (failure != OriginFailure::kNone) {
    transaction.forbid_keep_alive();
    co_await transaction.refuse_for(failure);
    co_return;
  }
  if (transaction.checked().expects_continue && !transaction.reader().has_more_input()) {
    std::array<asio::const_buffer, 1> buffers{asio::buffer(kContinue)};
    if (!co_await transaction.client().send(buffers)) {
      transaction.give_up();
      co_return;
    }
  }
  Upload upload(transaction.services(), transaction.client(), transaction.reader(), exchange,
                transaction.checked().body);
  upload.start();
  std::exception_ptr exception;
  try {
    co_await answer_upload(transaction, exchange, upload);
  } catch (...) {
    exception = std::current_exception();  // The upload must end before its parts are destroyed.
  }
  co_await upload.finish();
  if (exception) std::rethrow_exception(exception);
}

}  // namespace

asio::awaitable<void> pass_through(Transaction& transaction, LogTag tag) {
  Services& services = transaction.services();
  transaction.set_tag(tag);
  const auto& body = transaction.checked().body;
  const RequestHead upstream = make_upstream_request(
      transaction.head(), transaction.target(), body, UpstreamPurpose::kPassThrough,
      transaction.client().address(), services.forwarding);
  OriginExchange exchange(services.origins, transaction.origin(), services.exchange_options());
  if (body.framing == BodyFraming::kNone) {
    co_await pass_without_body(transaction, exchange, upstream);
  } else {
    co_await pass_with_body(transaction, exchange, upstream);
  }
}

}  // namespace proxy
