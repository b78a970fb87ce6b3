// The buffers of a coss store: stripes in memory, and aligned pieces of the heap.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "storage/types.h"

namespace storage {

/// A zeroed buffer of the heap, aligned for any device; goes with its last owner.
Space make_coss_buffer(size_t size_bytes);

/// A bounded number of buffers as large as a stripe. Owners may let them go on any thread, and
/// after the CossMembufs is gone; the rest on the executor.
class CossMembufs {
 public:
  /// `returned` is called on the executor when a buffer has come back after try_take() has failed.
  CossMembufs(boost::asio::any_io_executor executor, size_t size_bytes, size_t count,
              std::function<void()> returned);
  ~CossMembufs();
  CossMembufs(const CossMembufs&) = delete;
  CossMembufs& operator=(const CossMembufs&) = delete;

  /// A buffer with anything in it, or null where all are out.
  std::shared_ptr<std::byte> try_take();
  bool available() const;
  size_t out() const;
  /// Less than half of them are left: they should not be lent to those who may keep them long.
  bool scarce() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace storage
