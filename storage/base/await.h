// How coroutines wait for an operation that may fail.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace storage {

/// Completion token of a coroutine that wants an operation's failure as a value: `co_await` gives a
/// tuple of the error code and the results, and throws nothing. May be used on any executor.
inline constexpr auto kAwait = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace storage
