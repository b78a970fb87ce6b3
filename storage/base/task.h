// The coroutine type of the storage interface.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "storage/base/error.h"

namespace storage {

/// A coroutine that ends in a value or an Error. Runs on the executor it was spawned on; starts
/// when awaited. It does not throw for anything that can happen at run time.
template <class T>
using Task = boost::asio::awaitable<Result<T>>;

}  // namespace storage
