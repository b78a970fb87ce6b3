#include "storage/layout/coss_membufs.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace storage {

namespace {

constexpr std::align_val_t kAlignment{4096};

struct AlignedDelete {
  void operator()(std::byte* bytes) const { ::operator delete(bytes, kAlignment); }
};
using Aligned = std::unique_ptr<std::byte, AlignedDelete>;

Aligned allocate(size_t size_bytes) {
  return Aligned(static_cast<std::byte*>(::operator new(size_bytes, kAlignment)));
}

}  // namespace

Space make_coss_buffer(size_t size_bytes) {
  std::shared_ptr<std::byte> bytes = allocate(size_bytes);
  std::fill_n(bytes.get(), size_bytes, std::byte{0});
  const std::span<std::byte> whole(bytes.get(), size_bytes);
  return Space(whole, std::move(bytes));
}

struct CossMembufs::State {
  State(boost::asio::any_io_executor executor_in, size_t size_bytes_in, size_t count_in,
        std::function<void()> returned_in)
      : executor(std::move(executor_in)),
        size_bytes(size_bytes_in),
        count(count_in),
        returned(std::move(returned_in)) {
    idle.reserve(count);
  }

  // On any thread.
  void give_back(std::byte* buffer) noexcept {
    const std::lock_guard lock(mutex);
    idle.emplace_back(buffer);
    --out;
    if (!std::exchange(wanted, false) || !returned) return;
    boost::asio::post(executor, returned);
  }

  const boost::asio::any_io_executor executor;
  const size_t size_bytes;
  const size_t count;
  std::mutex mutex;
  std::function<void()> returned;
  std::vector<Aligned> idle;
  size_t out = 0;
  bool wanted = false;
};

CossMembufs::CossMembufs(boost::asio::any_io_executor executor, size_t size_bytes, size_t count,
                         std::function<void()> returned)
    : state_(std::make_shared<State>(std::move(executor), size_bytes, count, std::move(returned))) {
}

CossMembufs::~CossMembufs() {
  const std::lock_guard lock(state_->mutex);
  state_->returned = nullptr;
}

std::shared_ptr<std::byte> CossMembufs::try_take() {
  Aligned buffer;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->out == state_->count) {
      state_->wanted = true;
      return nullptr;
    }
    if (!state_->idle.empty()) {
      buffer = std::move(state_->idle.back());
      state_->idle.pop_back();
    } else {
      buffer = allocate(state_->size_bytes);
    }
    ++state_->out;
  }
  return {buffer.release(), [state = state_](std::byte* bytes) { state->give_back(bytes); }};
}

bool CossMembufs::available() const {
  const std::lock_guard lock(state_->mutex);
  return state_->out < state_->count;
}

size_t CossMembufs::out() const {
  const std::lock_guard lock(state_->mutex);
  return state_->out;
}

bool CossMembufs::scarce() const {
  const std::lock_guard lock(state_->mutex);
  return state_->out * 2 > state_->count;
}

}  // namespace storage
