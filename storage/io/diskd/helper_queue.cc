#include "storage/io/diskd/helper_queue.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "storage/io/diskd/helper_call_queue.h"

namespace storage {
namespace asio = boost::asio;

namespace {

// After so many replies a helper counts as sound, and the next failure as the first.
constexpr uint64_t kRepliesOfASoundHelper = 100;

bool transfers(const IoCall& call) {
  return call.kind == IoKind::kRead || call.kind == IoKind::kWrite;
}

bool of_file(const IoCall& call) {
  return call.kind != IoKind::kOpen && call.kind != IoKind::kRename && call.kind != IoKind::kUnlink;
}

}  // namespace

OpenedFile HelperQueue::inspect(const IoCall& opened) const {
  const std::optional<RemoteFile> file = files_.find(opened.opened_fd);
  return file ? OpenedFile(0, file->alignment_bytes) : OpenedFile(ESTALE, 1);
}

int HelperQueue::refusal_of(const IoCall& call) const {
  if (state_ == State::kStopped) return ECANCELED;
  if (of_file(call)) {
    const std::optional<RemoteFile> file = files_.find(call.fd);
    if (!file) return EBADF;
    // What cannot be read now is no fault of the object, which must not be dropped for it.
    if (file->helper != helper_) return call.kind == IoKind::kRead ? EAGAIN : ESTALE;
  }
  if (state_ != State::kRunning) return EAGAIN;
  const bool too_long =
      call.path.size() > kHelperPathLengthMax || call.new_path.size() > kHelperPathLengthMax;
  return too_long ? ENAMETOOLONG : 0;
}

void HelperQueue::submit(std::shared_ptr<IoCall> call) {
  // While nothing is under way nothing is watched. A helper that ended meanwhile gets no more.
  const bool idle = state_ == State::kRunning && sent_.empty();
  if (idle && ::recv(socket_->native_handle(), bytes_.data(), 1, MSG_PEEK | MSG_DONTWAIT) == 0) {
    fail(Failure::kEnded);
  }
  const int refusal = refusal_of(*call);
  if (refusal != 0) {
    // With the helper its descriptors have gone: that is what a close is for.
    const bool closed = call->kind == IoKind::kClose && refusal != EBADF;
    if (refusal == EAGAIN) ++counts_.refused_without_helper;
    finish(*call, CallOutcome(closed ? 0 : refusal, 0), false);
    return;
  }
  waiting_.push_back(Waiting{std::move(call), silence_->tick()});
  send_waiting();
  if (!waiting_.empty()) ++counts_.waits;
}

void HelperQueue::send_waiting() {
  while (!waiting_.empty() && sent_.size() < options_.q2) {
    const std::shared_ptr<IoCall> call = waiting_.front().call;
    if (transfers(*call) && !link_->slots_free()) break;
    const int failure = send(call);
    if (failure == EAGAIN && !sent_.empty()) break;  // the queue is full; a reply makes room
    if (failure != 0) return fail(Failure::kProtocol);
    waiting_.pop_front();
  }
  if (sent_.empty()) return;
  watch();
  silence_->heed();
}

int HelperQueue::send(const std::shared_ptr<IoCall>& call) {
  HelperRequest request;
  request.id = next_id_;
  request.kind = call->kind;
  request.mode = call->mode;
  request.of_space = call->of_space;
  if (of_file(*call)) request.handle = files_.find(call->fd)->handle;
  request.alignment_bytes = static_cast<uint32_t>(call->alignment_bytes);
  request.offset_bytes = call->offset_bytes;
  request.path = call->path;
  request.new_path = call->new_path;
  Sent sent;
  sent.id = next_id_;
  sent.call = call;
  if (transfers(*call)) {
    sent.slot = link_->take_slot();
    request.slot = *sent.slot;
    request.size_bytes = static_cast<uint32_t>(call->size_bytes);
    if (call->kind == IoKind::kWrite) {
      std::copy_n(call->data, call->size_bytes, link_->slot(*sent.slot).begin());
    }
  }
  const int failure = link_->send(request);
  if (failure != 0) {
    if (sent.slot) link_->give_back_slot(*sent.slot);
    return failure;
  }
  ++next_id_;
  call->state = IoCall::State::kRunning;
  sent_.push_back(std::move(sent));
  counts_.in_flight_max = std::max(counts_.in_flight_max, sent_.size());
  return 0;
}

void HelperQueue::cancel(const std::shared_ptr<IoCall>& call) {
  if (call->kind == IoKind::kClose || call->state != IoCall::State::kWaiting) return;
  const auto is_it = [&call](const Waiting& waiting) { return waiting.call == call; };
  if (std::erase_if(waiting_, is_it) > 0) finish(*call, CallOutcome(ECANCELED, 0), false);
}

// False where the helper has said what it cannot have said.
bool HelperQueue::take_replies(Ended& ended) {
  while (true) {
    HelperReply reply;
    const int failure = link_->receive(reply);
    if (failure == ENOMSG) return true;
    if (failure != 0 || !settle(reply, ended)) return false;
    silence_->broken();
    if (++replies_ == kRepliesOfASoundHelper) failures_in_a_row_ = 0;
  }
}

bool HelperQueue::settle(const HelperReply& reply, Ended& ended) {
  // In the order of the requests: so that what has another number is not of the helper.
  if (sent_.empty() || sent_.front().id != reply.id) return false;
  const std::shared_ptr<IoCall> call = sent_.front().call;
  uint64_t value = reply.value;
  if (transfers(*call)) {
    if (value > call->size_bytes) return false;
    if (call->kind == IoKind::kWrite && reply.system_errno == 0 && value != call->size_bytes) {
      return false;
    }
    const std::span<const std::byte> slot = link_->slot(*sent_.front().slot);
    if (call->kind == IoKind::kRead) std::copy_n(slot.begin(), value, call->data);
    link_->give_back_slot(*sent_.front().slot);
  } else if (call->kind == IoKind::kOpen && reply.system_errno == 0) {
    if (value > UINT32_MAX) return false;
    value = static_cast<uint64_t>(
        files_.add(RemoteFile(helper_, static_cast<uint32_t>(value), reply.alignment_bytes)));
    call->close_unclaimed = [weak = weak_from_this()](int number) {
      const auto self = weak.lock();
      if (self) self->submit(std::make_shared<IoCall>(IoKind::kClose, number));
    };
  }
  sent_.pop_front();
  ended.emplace_back(call, CallOutcome(reply.system_errno, value));
  return true;
}

void HelperQueue::finish(IoCall& call, const CallOutcome& outcome, bool now) {
  call.state = IoCall::State::kEnded;
  if (call.kind == IoKind::kClose) files_.release(call.fd);
  const std::unique_ptr<CallWaiter> waiter = end_call(call, outcome);
  if (waiter == nullptr) {
    counts_.close_errors += outcome.system_errno != 0 ? 1 : 0;
  } else if (now) {
    waiter->deliver_now(outcome);
  } else {
    waiter->deliver_later(outcome);
  }
}

void HelperQueue::finish_all(Ended& ended, bool now) {
  for (const auto& [call, outcome] : std::exchange(ended, {})) finish(*call, outcome, now);
}

bool HelperQueue::refuses(const IoCall& call) {
  if (state_ == State::kStopped) return false;  // said with ECANCELED
  if (call.kind != IoKind::kOpen || state_ != State::kRunning || !overloaded()) return false;
  ++counts_.refused_q1;
  return true;
}

bool HelperQueue::overloaded() const {
  return state_ != State::kRunning || sent_.size() + waiting_.size() > options_.q1;
}

void HelperQueue::stop() {
  if (state_ == State::kStopped) return;
  const bool running = state_ == State::kRunning;
  state_ = State::kStopped;
  Ended ended;
  for (const Waiting& waiting : std::exchange(waiting_, {})) {
    const bool closes = waiting.call->kind == IoKind::kClose;
    ended.emplace_back(waiting.call, CallOutcome(closes ? 0 : ECANCELED, 0));
  }
  while (running && !sent_.empty()) {
    if (!take_replies(ended) || sent_.empty()) break;
    pollfd event{socket_->native_handle(), POLLIN, 0};
    const int ready = ::poll(&event, 1, static_cast<int>(options_.timeout.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;  // it hangs
    if (::recv(event.fd, bytes_.data(), bytes_.size(), MSG_DONTWAIT) > 0) continue;
    (void)take_replies(ended);
    break;  // it has ended
  }
  counts_.failed_operations += sent_.size();
  for (const Sent& sent : std::exchange(sent_, {})) {
    ended.emplace_back(sent.call, CallOutcome(EIO, 0));
  }
  if (!running && link_ != nullptr) link_->kill();
  socket_.reset();  // which asks the helper to end
  end_.reset();
  silence_.reset();
  pause_.reset();
  if (link_ != nullptr) link_->end(options_.timeout);
  finish_all(ended, false);
}

void HelperQueue::visit_counters(CounterVisitor& visitor) const {
  visitor.gauge("io_in_flight", "", static_cast<double>(sent_.size()));
  visitor.gauge("io_queue_depth", "", static_cast<double>(waiting_.size()));
  visitor.gauge("helper_running", "", state_ == State::kRunning ? 1 : 0);
  visitor.gauge("helper_slots", "", static_cast<double>(link_->slot_count()));
  visitor.gauge("helper_slots_used_max", "", static_cast<double>(link_->slots_used_max()));
  visitor.counter("helper_leftovers_removed_total", "", link_->leftovers());
  counts_.visit(visitor);
}

std::shared_ptr<CallQueue> make_helper_queue(const asio::any_io_executor& executor,
                                             const HelperOptions& options, int root_fd,
                                             uint64_t seed, std::string& error,
                                             std::function<void(const std::string&)> on_event) {
  auto queue = std::make_shared<HelperQueue>(executor, options, seed, std::move(on_event));
  error = queue->open(root_fd);
  if (error.empty()) return queue;
  error = "engine helper: " + error;
  return nullptr;
}

}  // namespace storage
