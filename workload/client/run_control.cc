#include "workload/client/run_control.h"

#include <algorithm>

namespace workload {
namespace {

int64_t ns_of(storage::SteadyTime time) {
  return time.time_since_epoch().count();
}

storage::SteadyTime time_of(int64_t ns) {
  return storage::SteadyTime(storage::Nanoseconds(ns));
}

/// Lowers `target` to `value`; true where that changed it.
bool lower_to(std::atomic<int64_t>& target, int64_t value) {
  int64_t current = target.load();
  while (value < current) {
    if (target.compare_exchange_weak(current, value)) return true;
  }
  return false;
}

}  // namespace

RunControl::RunControl(Goal until, std::optional<Goal> warm_up, uint64_t cache_size_bytes)
    : until_(until), warm_up_(warm_up), cache_size_bytes_(cache_size_bytes) {
  left_ = until_.requests;
  if (warm_up_) warm_up_left_ = warm_up_->requests;
}

void RunControl::start(storage::SteadyTime now) {
  if (!warm_up_) {
    begin_measuring(now);
  } else if (warm_up_->kind == Goal::Kind::kDuration) {
    begin_measuring(now + warm_up_->duration);
  }
}

void RunControl::begin_measuring(storage::SteadyTime at) {
  if (!lower_to(from_ns_, ns_of(at))) return;
  if (until_.kind == Goal::Kind::kDuration) lower_to(until_ns_, ns_of(at + until_.duration));
}

uint64_t RunControl::take(std::atomic<uint64_t>& left, uint64_t wanted) {
  uint64_t current = left.load();
  while (current > 0) {
    const uint64_t taken = std::min(current, wanted);
    if (left.compare_exchange_weak(current, current - taken)) return taken;
  }
  return 0;
}

Grant RunControl::grant(uint64_t wanted, storage::SteadyTime now) {
  if (over(now)) return {};
  if (ns_of(now) < from_ns_.load()) {
    if (warm_up_->kind != Goal::Kind::kRequests) return {wanted, false};
    const uint64_t granted = take(warm_up_left_, wanted);
    if (granted > 0) return {granted, false};
    begin_measuring(now);
  }
  if (until_.kind != Goal::Kind::kRequests) return {wanted, true};
  return {take(left_, wanted), true};
}

void RunControl::give_back(uint64_t requests, const Grant& grant) {
  if (grant.measured && until_.kind == Goal::Kind::kRequests) {
    left_ += requests;
  } else if (!grant.measured && warm_up_->kind == Goal::Kind::kRequests &&
             from_ns_.load() == kUnknown) {
    warm_up_left_ += requests;
  }
}

uint64_t RunControl::fill_goal_bytes(const Goal& goal) const {
  return static_cast<uint64_t>(goal.fill * static_cast<double>(cache_size_bytes_));
}

void RunControl::completed(const TransactionRecord& record, bool measured,
                           storage::SteadyTime end) {
  const bool good = record.error == ErrorKind::kNone;
  const uint64_t fill = good && record.fill ? record.received_bytes : 0;
  if (!measured) {
    const uint64_t sum = warm_up_fill_bytes_ += fill;
    const bool by_fill = warm_up_->kind == Goal::Kind::kFill;
    if (by_fill && sum >= fill_goal_bytes(*warm_up_)) begin_measuring(end);
    return;
  }
  (good ? good_ : errors_).fetch_add(1, std::memory_order_relaxed);
  const uint64_t sum = fill_bytes_ += fill;
  if (until_.kind == Goal::Kind::kFill && sum >= fill_goal_bytes(until_)) end_now(end);
}

bool RunControl::over(storage::SteadyTime now) const {
  return aborted() || ns_of(now) >= until_ns_.load(std::memory_order_relaxed);
}

void RunControl::end_now(storage::SteadyTime now) {
  lower_to(until_ns_, ns_of(now));
}

void RunControl::abort(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (aborted_.load()) return;
  abort_reason_ = reason;
  aborted_.store(true, std::memory_order_release);
}

std::string RunControl::abort_reason() const {
  const std::lock_guard lock(mutex_);
  return abort_reason_;
}

std::optional<storage::SteadyTime> RunControl::measured_from() const {
  const int64_t from = from_ns_.load();
  if (from == kUnknown) return std::nullopt;
  return time_of(from);
}

std::optional<storage::SteadyTime> RunControl::measured_until() const {
  const int64_t until = until_ns_.load();
  if (until == kUnknown) return std::nullopt;
  return time_of(until);
}

double RunControl::progress(storage::SteadyTime now) const {
  double share = 0;
  switch (until_.kind) {
    case Goal::Kind::kDuration: {
      const auto from = measured_from();
      if (from) share = (now - *from) / std::chrono::duration<double, std::nano>(until_.duration);
      break;
    }
    case Goal::Kind::kRequests:
      share = static_cast<double>(good() + errors()) / static_cast<double>(until_.requests);
      break;
    case Goal::Kind::kFill:
      share = static_cast<double>(fill_bytes()) / static_cast<double>(fill_goal_bytes(until_));
      break;
  }
  return std::clamp(share, 0.0, 1.0);
}

}  // namespace workload
