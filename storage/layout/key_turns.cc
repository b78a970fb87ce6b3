#include "storage/layout/key_turns.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace storage {

Task<KeyTurns::Turn> KeyTurns::take(KeyHash hash) {
  namespace asio = boost::asio;
  Place place(lanes_, lanes_.try_emplace(hash, executor_).first);
  while (place.lane().taken) {
    boost::system::error_code ended;
    co_await place.lane().ended.async_wait(asio::redirect_error(asio::use_awaitable, ended));
    const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) co_return Error(Errc::kAborted);
  }
  co_return Turn(std::move(place));
}

}  // namespace storage
