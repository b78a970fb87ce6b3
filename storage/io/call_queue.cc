#include "storage/io/call_queue.h"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>
#include <vector>

namespace storage {
namespace asio = boost::asio;

namespace {

template <class Handler>
class HandlerWaiter final : public CallWaiter {
 public:
  explicit HandlerWaiter(Handler handler) : handler_(std::move(handler)) {}

  void deliver_later(const CallOutcome& outcome) override {
    const auto executor = asio::get_associated_executor(handler_);
    asio::post(executor, resumption(outcome));
  }
  void deliver_now(const CallOutcome& outcome) override {
    const auto executor = asio::get_associated_executor(handler_);
    asio::dispatch(executor, resumption(outcome));
  }

 private:
  auto resumption(const CallOutcome& outcome) {
    return [handler = std::move(handler_), outcome]() mutable {
      asio::get_associated_cancellation_slot(handler).clear();
      std::move(handler)(outcome);
    };
  }

  Handler handler_;
};

struct Submission {
  template <class Handler>
  void operator()(Handler handler, const std::shared_ptr<CallQueue>& queue,
                  std::shared_ptr<IoCall> call) const {
    auto slot = asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) {
      slot.assign([weak_queue = std::weak_ptr(queue),
                   weak_call = std::weak_ptr(call)](asio::cancellation_type) {
        const auto its_queue = weak_queue.lock();
        const auto its_call = weak_call.lock();
        if (its_queue && its_call) its_queue->cancel(its_call);
      });
    }
    call->waiter = std::make_unique<HandlerWaiter<Handler>>(std::move(handler));
    queue->submit(std::move(call));
  }
};

// The queues of one context. Of all services the context's own is shut down last: what stop()
// hands to it is still destroyed properly.
class QueuesOfContext final : public asio::execution_context::service {
 public:
  inline static asio::execution_context::id id;

  explicit QueuesOfContext(asio::execution_context& context)
      : asio::execution_context::service(context) {}

  void add(const std::shared_ptr<CallQueue>& queue) {
    std::erase_if(queues_, [](const auto& known) { return known.expired(); });
    queues_.push_back(queue);
  }

 private:
  void shutdown() override {
    for (const auto& known : std::exchange(queues_, {})) {
      if (const auto queue = known.lock()) queue->stop();
    }
  }

  std::vector<std::weak_ptr<CallQueue>> queues_;
};

}  // namespace

asio::awaitable<CallOutcome> await_call(std::shared_ptr<CallQueue> queue,
                                        std::shared_ptr<IoCall> call) {
  return asio::async_initiate<const asio::use_awaitable_t<>&, void(CallOutcome)>(
      Submission(), asio::use_awaitable, std::move(queue), std::move(call));
}

void stop_with_context(const std::shared_ptr<CallQueue>& queue,
                       const asio::any_io_executor& executor) {
  asio::use_service<QueuesOfContext>(asio::query(executor, asio::execution::context)).add(queue);
}

}  // namespace storage
