#include "workload/disk/served_disk.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "storage/base/random.h"
#include "workload/disk/power_cut.h"

namespace workload::disk {
namespace {

/// Sleeps of this thread end when they should, and not when a busy machine finds time. Whether the
/// priority could be had.
bool make_this_thread_punctual() {
  ::prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  sched_param priority{};
  priority.sched_priority = 1;
  return ::pthread_setschedparam(::pthread_self(), SCHED_RR, &priority) == 0;
}

}  // namespace

ServedDisk::ServedDisk(const ServedDiskSettings& settings, Image& image)
    : settings_(settings),
      image_(image),
      timeline_(clock_.steady_now(), settings.time_scale),
      model_(settings.profile, settings.size_bytes),
      fast_(settings.fast),
      cut_manner_(settings.profile.power_cut) {
  timer_ = std::thread([this] { run_timer(); });
}

ServedDisk::~ServedDisk() {
  stop();
}

void ServedDisk::read(uint64_t offset_bytes, size_t length_bytes, ReadDone done) {
  const DiskTime arrival = disk_now();
  UnderWay request;
  request.read_done = std::move(done);
  request.bytes.resize(length_bytes);
  std::vector<DataPiece> pending;
  {
    const std::lock_guard lock(mutex_);
    pending = pending_.find(offset_bytes, length_bytes);
  }
  // What is pending lies over the image, even if it gets there meanwhile.
  request.failed = image_.read(offset_bytes, request.bytes) != 0;
  for (const DataPiece& piece : pending) {
    std::copy(
        piece.bytes().begin(), piece.bytes().end(),
        request.bytes.begin() + static_cast<std::ptrdiff_t>(piece.offset_bytes - offset_bytes));
  }
  submit({0, Operation::kRead, offset_bytes, length_bytes}, arrival, std::move(request), {});
}

void ServedDisk::write(uint64_t offset_bytes, std::vector<std::byte> bytes, Done done) {
  UnderWay request;
  request.done = std::move(done);
  const Command command{0, Operation::kWrite, offset_bytes, bytes.size()};
  submit(command, disk_now(), std::move(request), std::move(bytes));
}

void ServedDisk::flush(Done done) {
  UnderWay request;
  request.done = std::move(done);
  submit({0, Operation::kFlush, 0, 0}, disk_now(), std::move(request), {});
}

void ServedDisk::submit(Command command, DiskTime arrival, UnderWay request,
                        std::vector<std::byte> written) {
  Answers answers;
  bool earlier = false;
  {
    const std::lock_guard lock(mutex_);
    status_.image_errors += request.failed ? 1 : 0;
    if (!powered_) {
      end(request, EIO, answers);
    } else if (fast_) {
      ++status_.fast_operations;
      if (!written.empty() && image_.write(command.offset_bytes, written) != 0) {
        ++status_.image_errors;
        request.failed = true;
      }
      end(request, 0, answers);
    } else {
      command.id = requests_++;
      under_way_.emplace(command.id, std::move(request));
      if (!written.empty()) pending_.write(command.offset_bytes, std::move(written));
      const auto due = model_.next_event();
      model_.submit(command, arrival);
      earlier = model_.next_event() != due;
      answer_outcomes(answers);  // of whatever was due already
    }
    if (command.operation == Operation::kWrite && powered_ && cut_after_writes_ > 0 &&
        --cut_after_writes_ == 0) {
      cut(cut_manner_, arrival, answers);  // and not now, or the write might be done
    }
  }
  if (earlier) changed_.notify_one();
  give(answers);
}

void ServedDisk::end(UnderWay& request, int error, Answers& answers) {
  if (request.failed) error = EIO;
  if (request.read_done) {
    answers.emplace_back([done = std::move(request.read_done), bytes = std::move(request.bytes),
                          error] { done(error, bytes); });
  } else {
    answers.emplace_back([done = std::move(request.done), error] { done(error); });
  }
}

void ServedDisk::answer_outcomes(Answers& answers) {
  const storage::SteadyTime now = clock_.steady_now();
  for (const Outcome& outcome : model_.take_outcomes()) {
    if (outcome.kind == Outcome::Kind::kOnMedium) {
      put_on_image(pending_.take(outcome.offset_bytes, outcome.length_bytes));
      continue;
    }
    auto found = under_way_.extract(outcome.id);
    UnderWay& request = found.mapped();
    const double late_us = std::max(
        0.0, static_cast<double>((now - timeline_.machine_time(outcome.at)).count()) / 1000);
    ++status_.answers;
    late_sum_us_ += late_us;
    status_.late_max_us = std::max(status_.late_max_us, late_us);
    if (request.done && std::exchange(image_failed_, false)) request.failed = true;
    end(request, 0, answers);
  }
}

void ServedDisk::put_on_image(const std::vector<DataPiece>& pieces) {
  for (const DataPiece& piece : pieces) {
    if (image_.write(piece.offset_bytes, piece.bytes()) == 0) continue;
    // A write that was cached was answered long ago, so the next write or flush that ends fails.
    ++status_.image_errors;
    image_failed_ = true;
  }
}

void ServedDisk::set_fast(bool fast) {
  Answers answers;
  {
    const std::lock_guard lock(mutex_);
    if (fast && !fast_) {
      model_.finish_all(disk_now());
      answer_outcomes(answers);
    }
    fast_ = fast;
  }
  give(answers);
}

CutReport ServedDisk::cut_power(std::optional<CutManner> manner) {
  Answers answers;
  CutReport report;
  {
    const std::lock_guard lock(mutex_);
    report = cut(manner.value_or(settings_.profile.power_cut), disk_now(), answers);
  }
  give(answers);
  return report;
}

CutReport ServedDisk::cut(CutManner manner, DiskTime at, Answers& answers) {
  cut_after_writes_ = 0;
  cut_at_.reset();
  if (!powered_) return status_.last_cut.value_or(CutReport{});
  model_.lose_power(at);
  answer_outcomes(answers);
  const std::vector<DataPiece> unflushed = pending_.take_all();
  const auto survivors = survivors_of_cut(unflushed, manner, settings_.profile.sector_bytes,
                                          storage::Random(settings_.seed).fork(++cuts_));
  put_on_image(survivors);
  powered_ = false;
  for (auto& [id, request] : under_way_) end(request, EIO, answers);
  under_way_.clear();
  status_.last_cut =
      CutReport{cuts_, manner, unflushed.size(), total_bytes(unflushed), total_bytes(survivors)};
  return *status_.last_cut;
}

void ServedDisk::cut_power_after_writes(uint64_t writes, std::optional<CutManner> manner) {
  const std::lock_guard lock(mutex_);
  cut_manner_ = manner.value_or(settings_.profile.power_cut);
  cut_after_writes_ = writes;
}

storage::Nanoseconds ServedDisk::cut_power_within(storage::Nanoseconds within,
                                                  std::optional<CutManner> manner) {
  storage::Nanoseconds wait{0};
  {
    const std::lock_guard lock(mutex_);
    cut_manner_ = manner.value_or(settings_.profile.power_cut);
    // Another stream than that of what is left.
    storage::Random random = storage::Random(settings_.seed).fork(~cuts_);
    wait = storage::Nanoseconds(
        static_cast<int64_t>(random.below(static_cast<uint64_t>(within.count()) + 1)));
    cut_at_ = clock_.steady_now() + wait;
  }
  changed_.notify_one();
  return wait;
}

void ServedDisk::power_on() {
  const std::lock_guard lock(mutex_);
  powered_ = true;
}

DiskStatus ServedDisk::status() {
  Answers answers;
  DiskStatus status;
  {
    const std::lock_guard lock(mutex_);
    // Times are counted up to now, and not up to the last command.
    model_.advance(disk_now());
    answer_outcomes(answers);
    status = status_;
    status.fast = fast_;
    status.powered = powered_;
    status.counters = model_.counters();
    status.pending_bytes = pending_.size_bytes();
    status.late_mean_us =
        status.answers == 0 ? 0 : late_sum_us_ / static_cast<double>(status.answers);
  }
  give(answers);
  return status;
}

void ServedDisk::stop() {
  Answers answers;
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    ending_ = true;
    model_.finish_all(disk_now());
    answer_outcomes(answers);
  }
  changed_.notify_one();
  timer_.join();
  give(answers);
}

void ServedDisk::give(Answers& answers) {
  for (const auto& answer : answers) answer();
  answers.clear();
}

std::optional<storage::SteadyTime> ServedDisk::next_due() const {
  std::optional<storage::SteadyTime> due = cut_at_;
  if (const auto event = model_.next_event()) {
    const storage::SteadyTime at = timeline_.machine_time(*event);
    due = due ? std::min(*due, at) : at;
  }
  return due;
}

void ServedDisk::run_timer() {
  const bool realtime = make_this_thread_punctual();
  std::unique_lock lock(mutex_);
  status_.realtime = realtime;
  while (!ending_) {
    const auto due = next_due();
    if (!due) {
      changed_.wait(lock);
      continue;
    }
    if (clock_.steady_now() < *due) {
      changed_.wait_until(lock, *due);
      continue;
    }
    Answers answers;
    model_.advance(disk_now());
    answer_outcomes(answers);
    if (cut_at_ && *cut_at_ <= clock_.steady_now()) cut(cut_manner_, disk_now(), answers);
    lock.unlock();
    give(answers);
    lock.lock();
  }
}

}  // namespace workload::disk
