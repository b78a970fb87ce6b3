// Operations that run to their end whatever happens to the one who asked for them.
#pragma once

#include <boost/asio/this_coro.hpp>
#include <new>
#include <utility>

#include "storage/base/task.h"

namespace storage {

/// Runs `inner` so that a cancellation of the calling coroutine does not turn its awaits into
/// exceptions: it reaches what is being waited for, and `inner` cleans up and ends in a result.
/// Lack of memory ends in kOverloaded.
template <class T>
Task<T> guarded(Task<T> inner) {
  namespace this_coro = boost::asio::this_coro;
  const bool before = co_await this_coro::throw_if_cancelled();
  co_await this_coro::throw_if_cancelled(false);
  Result<T> result = Error(Errc::kOverloaded);
  try {
    result = co_await std::move(inner);
  } catch (const std::bad_alloc&) {
    result = Error(Errc::kOverloaded);
  }
  co_await this_coro::throw_if_cancelled(before);
  co_return result;
}

}  // namespace storage
