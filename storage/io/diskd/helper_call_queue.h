// A store's end of its helper: the class behind make_helper_queue().
#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/random.h"
#include "storage/io/diskd/helper_counts.h"
#include "storage/io/diskd/helper_link.h"
#include "storage/io/diskd/helper_queue.h"
#include "storage/io/diskd/remote_files.h"
#include "storage/io/diskd/silence_timer.h"

namespace storage {

/// See make_helper_queue().
class HelperQueue final : public CallQueue, public std::enable_shared_from_this<HelperQueue> {
 public:
  HelperQueue(const boost::asio::any_io_executor& executor, const HelperOptions& options,
              uint64_t seed, std::function<void(const std::string&)> on_event)
      : executor_(executor), options_(options), on_event_(std::move(on_event)), random_(seed) {}
  ~HelperQueue() override { stop(); }
  HelperQueue(const HelperQueue&) = delete;
  HelperQueue& operator=(const HelperQueue&) = delete;

  /// Starts the first helper and waits for it; one line for the user where that fails.
  std::string open(int root_fd);

  const char* name() const override { return "helper"; }
  bool takes(const IoCall&) const override { return true; }
  bool transfers_whole() const override { return true; }
  size_t transfer_size_max() const override { return kHelperSlotSizeBytes; }
  OpenedFile inspect(const IoCall& opened) const override;
  void submit(std::shared_ptr<IoCall> call) override;
  void cancel(const std::shared_ptr<IoCall>& call) override;
  bool refuses(const IoCall& call) override;
  bool overloaded() const override;
  void stop() override;
  void visit_counters(CounterVisitor& visitor) const override;

 private:
  enum class State { kRunning, kStarting, kEnding, kPausing, kStopped };
  enum class Failure : size_t { kEnded, kTimeout, kProtocol, kStart };

  struct Sent {
    uint64_t id = 0;
    std::shared_ptr<IoCall> call;
    std::optional<uint32_t> slot;
  };
  struct Waiting {
    std::shared_ptr<IoCall> call;
    uint64_t since_tick = 0;  // of the SilenceTimer
  };
  using Ended = std::vector<std::pair<std::shared_ptr<IoCall>, CallOutcome>>;

  // Ways of a call.
  int refusal_of(const IoCall& call) const;
  void send_waiting();
  int send(const std::shared_ptr<IoCall>& call);
  bool take_replies(Ended& ended);
  bool settle(const HelperReply& reply, Ended& ended);
  void finish(IoCall& call, const CallOutcome& outcome, bool now);
  void finish_all(Ended& ended, bool now);

  // Events.
  void watch();
  void on_bytes(size_t count);
  void on_closed();
  void on_tick();
  void give_up_long_waits();
  bool greet(std::string_view bytes);

  // The helper's life.
  bool start_helper(std::string& error);
  void tell(const std::string& line) const;
  std::string loss_text(Failure why) const;
  void fail(Failure why);
  void await_end();
  void pause();
  void restart();

  const boost::asio::any_io_executor executor_;
  const HelperOptions options_;
  const std::function<void(const std::string&)> on_event_;
  Random random_;
  std::unique_ptr<HelperLink> link_;
  std::optional<boost::asio::posix::stream_descriptor> socket_;
  std::optional<boost::asio::posix::stream_descriptor> end_;
  std::optional<SilenceTimer> silence_;
  std::optional<boost::asio::steady_timer> pause_;
  std::array<char, 256> bytes_{};
  std::string greeting_;

  State state_ = State::kPausing;
  bool watching_ = false;
  uint64_t next_id_ = 1;
  uint64_t helper_ = 0;  // counts them
  uint64_t replies_ = 0;
  unsigned failures_in_a_row_ = 0;
  std::deque<Waiting> waiting_;
  std::deque<Sent> sent_;
  RemoteFiles files_;

  HelperCounts counts_;
};

}  // namespace storage
