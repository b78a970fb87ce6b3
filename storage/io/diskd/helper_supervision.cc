// How a helper is watched, ended and replaced: the other half of HelperQueue.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <cerrno>
#include <cstdio>

#include "storage/io/diskd/helper_call_queue.h"

namespace storage {
namespace asio = boost::asio;

namespace {

constexpr unsigned kDoublingsMax = 20;
// A busy machine may take long to start a program, whatever one operation may take.
constexpr std::chrono::milliseconds kStartWaitMin{3000};

std::string seconds_text(std::chrono::milliseconds duration) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", static_cast<double>(duration.count()) / 1000);
  return text;
}

std::chrono::milliseconds start_wait(const HelperOptions& options) {
  return std::max(options.timeout, kStartWaitMin);
}

}  // namespace

std::string HelperQueue::open(int root_fd) {
  std::string error;
  link_ = HelperLink::open(options_, root_fd, error);
  if (link_ == nullptr) return error;
  if (!start_helper(error)) return error;
  // Only here is it waited for: the store is not in use yet.
  while (state_ == State::kStarting) {
    pollfd event{socket_->native_handle(), POLLIN, 0};
    const int ready = ::poll(&event, 1, static_cast<int>(start_wait(options_).count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return link_->program() + " does not say that it is ready";
    const ssize_t got = ::recv(event.fd, bytes_.data(), bytes_.size(), MSG_DONTWAIT);
    if (got <= 0) return link_->program() + " ended at once; is it a cacheoff-diskd?";
    if (!greet(std::string_view(bytes_.data(), static_cast<size_t>(got)))) {
      return link_->program() + ": " + greeting_.substr(0, greeting_.find('\n'));
    }
  }
  return "";
}

// ---- Events. Nothing is watched and no time passes while nothing is under way: a context with
// nothing else to do may then come to its end.

void HelperQueue::watch() {
  if (watching_) return;
  watching_ = true;
  socket_->async_read_some(asio::buffer(bytes_),
                           [weak = weak_from_this(), helper = helper_](
                               const boost::system::error_code& failure, size_t count) {
                             const auto self = weak.lock();
                             if (self == nullptr || self->helper_ != helper) return;
                             if (failure == asio::error::operation_aborted) return;
                             self->watching_ = false;
                             failure ? self->on_closed() : self->on_bytes(count);
                           });
}

void HelperQueue::on_bytes(size_t count) {
  if (state_ == State::kStarting) {
    if (!greet(std::string_view(bytes_.data(), count))) return fail(Failure::kStart);
    if (state_ == State::kStarting) return watch();
    tell("another " + link_->helper_text() + " runs in its place");
    return silence_->ignore();
  }
  if (state_ != State::kRunning) return;
  Ended ended;
  if (take_replies(ended)) {
    send_waiting();
    if (sent_.empty()) silence_->ignore();
  } else {
    fail(Failure::kProtocol);
  }
  // Last, and from a copy: whoever is resumed may submit, and may let go of the engine.
  finish_all(ended, true);
}

void HelperQueue::on_closed() {
  if (state_ == State::kStarting) return fail(Failure::kStart);
  if (state_ != State::kRunning) return;
  Ended ended;
  (void)take_replies(ended);  // it may have done some before it ended
  fail(Failure::kEnded);
  finish_all(ended, true);
}

void HelperQueue::on_tick() {
  const bool starting = state_ == State::kStarting;
  if (silence_->duration() >= (starting ? start_wait(options_) : options_.timeout)) {
    Ended ended;  // of a proxy that was stopped itself, and has not looked
    if (!starting) (void)take_replies(ended);
    if (ended.empty()) return fail(Failure::kTimeout);
    finish_all(ended, false);
    send_waiting();
    if (sent_.empty()) return silence_->ignore();
  }
  give_up_long_waits();
}

// The callers that Squid would block, and everybody with them, are let go after a while.
void HelperQueue::give_up_long_waits() {
  const auto too_long = [this](const Waiting& waiting) {
    return silence_->tick() - waiting.since_tick > SilenceTimer::kTicksOfTimeout &&
           waiting.call->kind != IoKind::kClose;
  };
  Ended ended;
  for (const Waiting& waiting : waiting_) {
    if (too_long(waiting)) ended.emplace_back(waiting.call, CallOutcome(EAGAIN, 0));
  }
  std::erase_if(waiting_, too_long);
  counts_.refused_waits += ended.size();
  finish_all(ended, false);
}

// False where it is another greeting than that of a helper that is ready.
bool HelperQueue::greet(std::string_view bytes) {
  greeting_ += bytes;
  if (greeting_ == kHelperGreeting) state_ = State::kRunning;
  return kHelperGreeting.starts_with(greeting_);
}

// ---- The helper's life.

bool HelperQueue::start_helper(std::string& error) {
  replies_ = 0;
  greeting_.clear();
  if (!link_->start(random_, error)) return false;
  ++counts_.starts;
  OwnedFd fd(link_->take_socket());
  boost::system::error_code failure;
  socket_.emplace(executor_);
  socket_->assign(fd.get(), failure);
  if (failure) {
    error = "the helper's socket cannot be watched: " + failure.message();
    return false;
  }
  fd.release();
  silence_.emplace(executor_, options_.timeout, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->on_tick();
  });
  state_ = State::kStarting;
  return true;
}

void HelperQueue::tell(const std::string& line) const {
  if (on_event_) on_event_(line);
}

// What has happened to a helper, as its operator is told.
std::string HelperQueue::loss_text(Failure why) const {
  const std::string helper = "the " + link_->helper_text();
  const bool starting = state_ == State::kStarting;
  switch (why) {
    case Failure::kEnded:
      return helper + " has ended";
    case Failure::kTimeout:
      return helper + (starting ? " did not say within " : " did not answer within ") +
             seconds_text(starting ? start_wait(options_) : options_.timeout) +
             (starting ? " that it is ready, and was ended" : ", and was ended");
    case Failure::kProtocol:
      return helper + " said what makes no sense, and was ended";
    case Failure::kStart:
      return helper + " ended before it was ready";
  }
  return helper + " is lost";
}

void HelperQueue::fail(Failure why) {
  const std::string loss = loss_text(why);
  const size_t lost = sent_.size();
  ++counts_.failures[static_cast<size_t>(why)];
  state_ = State::kEnding;
  ++helper_;  // its files are gone, and its events too late
  link_->kill();
  silence_->ignore();
  socket_.reset();
  watching_ = false;
  Ended ended;
  for (const Sent& sent : std::exchange(sent_, {})) {
    ended.emplace_back(sent.call, CallOutcome(EIO, 0));
    ++counts_.failed_operations;
  }
  for (const Waiting& waiting : std::exchange(waiting_, {})) {
    const bool closes = waiting.call->kind == IoKind::kClose;
    ended.emplace_back(waiting.call, CallOutcome(closes ? 0 : EAGAIN, 0));
    if (!closes) ++counts_.refused_without_helper;
  }
  finish_all(ended, false);
  tell(loss + " (operations that failed with it: " + std::to_string(lost) +
       "); it is started again");
  await_end();
}

// Its slots may still be written to until it is known to be gone; only then are they given up.
void HelperQueue::await_end() {
  OwnedFd fd(link_->duplicate_end_fd());
  boost::system::error_code refused;
  end_.emplace(executor_);
  end_->assign(fd.get(), refused);
  if (refused) {  // no descriptor is left: then it is waited for, which does not take long
    link_->end(std::chrono::milliseconds(0));
    return pause();
  }
  fd.release();
  end_->async_wait(asio::posix::stream_descriptor::wait_read,
                   [weak = weak_from_this()](const boost::system::error_code& failure) {
                     const auto self = weak.lock();
                     if (self == nullptr || failure || self->state_ != State::kEnding) return;
                     self->end_.reset();
                     self->link_->end(std::chrono::milliseconds(0));
                     self->pause();
                   });
}

void HelperQueue::pause() {
  state_ = State::kPausing;
  const unsigned doublings = std::min(failures_in_a_row_, kDoublingsMax);
  ++failures_in_a_row_;
  const auto delay = std::min<std::chrono::milliseconds>(
      options_.restart_delay_min * (1U << doublings), options_.restart_delay_max);
  const auto random_part = std::chrono::duration<double, std::milli>(delay) / 2 * random_.uniform();
  pause_.emplace(executor_);
  pause_->expires_after(delay - std::chrono::duration_cast<std::chrono::milliseconds>(random_part));
  pause_->async_wait([weak = weak_from_this()](const boost::system::error_code& failure) {
    const auto self = weak.lock();
    if (self && !failure && self->state_ == State::kPausing) self->restart();
  });
}

void HelperQueue::restart() {
  std::string error;
  if (!start_helper(error)) {
    ++counts_.failures[static_cast<size_t>(Failure::kStart)];
    tell("the helper cannot be started again: " + error + "; it is tried again");
    link_->end(std::chrono::milliseconds(0));
    return pause();
  }
  watch();
  silence_->heed();
}

}  // namespace storage
