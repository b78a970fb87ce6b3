#include "workload/experiment/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "storage/base/units.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

constexpr uint64_t kAllowanceBytesMax = 16 * storage::kMiB;
/// Of a group that is made to see whether one can be.
constexpr uint64_t kTrialBytes = 64 * storage::kMiB;
/// What a frozen group gets until the next look then.
constexpr uint64_t kRoomToThawBytes = 16 * storage::kMiB;
/// No limit at all, for a group that stands still whatever it is given.
constexpr uint64_t kLimitBytesMax = uint64_t{1} << 50;
constexpr uint64_t kPageBytes = 4096;
constexpr auto kLookPeriod = std::chrono::milliseconds(50);
/// A limit is taken back only from so much above what is needed, so that it does not go up and down
/// with every request.
constexpr uint64_t kSlackBytes = storage::kMiB;

boost::json::value mean_or_null(double sum, uint64_t count) {
  if (count == 0) return nullptr;
  return static_cast<uint64_t>(sum / static_cast<double>(count));
}

}  // namespace

LimitFollower::LimitFollower(MemoryDemand demand)
    : demand_(demand),
      allowance_bytes_(demand.page_cache_bytes > 0
                           ? demand.page_cache_bytes
                           : std::min(demand.limit_bytes / 4, kAllowanceBytesMax)) {}

uint64_t LimitFollower::first_limit_bytes() const {
  return demand_.page_cache_bytes > 0 ? kLimitBytesMax : demand_.limit_bytes;
}

uint64_t LimitFollower::limit_after(const MemoryUse& use) {
  if (demand_.page_cache_bytes > 0) {
    const uint64_t own_bytes = use.process_bytes + use.kernel_bytes;
    const uint64_t grown = own_bytes - std::min(own_bytes, last_own_bytes_);
    last_own_bytes_ = own_bytes;
    const uint64_t room = allowance_bytes_ + grown + (use.frozen ? kRoomToThawBytes : 0);
    return std::min(use.process_bytes + room, kLimitBytesMax) / kPageBytes * kPageBytes;
  }
  if (use.frozen) allowance_bytes_ = std::min(allowance_bytes_ * 2, kLimitBytesMax);
  // Kernel memory is no part of this: most of it is inodes, which give way like pages, and a limit
  // that followed them would let them grow for ever.
  const uint64_t needed = use.process_bytes + allowance_bytes_;
  const uint64_t pages = (needed + kPageBytes - 1) / kPageBytes;
  return std::min(std::max(demand_.limit_bytes, pages * kPageBytes), kLimitBytesMax);
}

boost::json::object memory_to_json(const MemoryAccount& account) {
  const auto or_null = [](uint64_t bytes) {
    return bytes > 0 ? boost::json::value(bytes) : boost::json::value();
  };
  return {{"asked_bytes", or_null(account.asked_bytes)},
          {"page_cache_asked_bytes", or_null(account.page_cache_asked_bytes)},
          {"limit_bytes", or_null(account.page_cache_asked_bytes > 0 ? 0 : account.limit_bytes)},
          {"limit_max_bytes", account.limit_max_bytes},
          {"limit_raised", account.raised},
          {"peak_bytes", account.usage_peak_bytes},
          {"page_cache_mean_bytes", mean_or_null(account.page_cache_sum_bytes, account.looks)},
          {"page_cache_end_bytes", account.last.page_cache_bytes},
          {"process_mean_bytes", mean_or_null(account.process_sum_bytes, account.looks)},
          {"process_peak_bytes", account.process_peak_bytes},
          {"kernel_end_bytes", account.last.kernel_bytes},
          {"times_at_limit", account.last.times_at_limit},
          {"times_frozen", account.frozen},
          {"cgroup_version", account.version}};
}

std::vector<std::string> memory_warnings(const MemoryAccount& account) {
  std::vector<std::string> warnings;
  const auto size = [](uint64_t bytes) { return storage::format_size(bytes); };
  if (account.asked_bytes > 0 && account.limit_max_bytes > account.limit_bytes) {
    warnings.push_back("the memory limit of " + size(account.asked_bytes) + " was raised up to " +
                       size(account.limit_max_bytes) + ": the processes alone took " +
                       size(account.process_peak_bytes));
  }
  if (account.frozen > 0) {
    warnings.push_back("the memory limit made the proxy stand still until it was raised (seen " +
                       std::to_string(account.frozen) + " times)");
  }
  if (!account.failure.empty()) {
    warnings.push_back("the memory limit could not be followed: " + account.failure);
  }
  return warnings;
}

double memory_excess(const MemoryAccount& account) {
  if (account.asked_bytes == 0 || account.usage_peak_bytes <= account.asked_bytes) return 0;
  return static_cast<double>(account.usage_peak_bytes - account.asked_bytes) /
         static_cast<double>(account.asked_bytes);
}

Expected<std::unique_ptr<MemoryLimit>> MemoryLimit::make(MemoryDemand demand, RunJournal& journal) {
  auto hierarchy = find_memory_hierarchy();
  if (!hierarchy) return hierarchy.error();
  std::unique_ptr<MemoryLimit> limit(new MemoryLimit(demand, journal));
  const uint64_t limit_bytes = limit->follower_.first_limit_bytes();
  auto noted = journal.will_make(JournalEntry::Kind::kCgroup, limit->name_);
  if (!noted) return noted.error();
  auto group = MemoryCgroup::make(*hierarchy, limit->name_, limit_bytes);
  if (!group) return group.error();
  limit->group_.emplace(std::move(*group));
  auto in_force = limit->group_->set_limit(limit_bytes);
  if (!in_force) return in_force.error();
  limit->limit_bytes_ = *in_force;
  limit->account_.limit_bytes = *in_force;
  if (demand.limit_bytes > 0) limit->account_.limit_max_bytes = *in_force;
  limit->account_.version = hierarchy->version;
  limit->thread_ = std::thread([&follower = *limit] { follower.follow(); });
  return limit;
}

MemoryLimit::MemoryLimit(MemoryDemand demand, RunJournal& journal)
    : journal_(journal), name_(cgroup_name()), follower_(demand) {
  account_.asked_bytes = demand.limit_bytes;
  account_.page_cache_asked_bytes = demand.page_cache_bytes;
}

MemoryLimit::~MemoryLimit() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  const auto path = group_ ? group_->path() : std::filesystem::path();
  group_.reset();
  std::error_code failure;
  if (path.empty() || !std::filesystem::exists(path, failure)) {
    journal_.is_gone(JournalEntry::Kind::kCgroup, name_);
  }
}

void MemoryLimit::follow() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    look();
    wake_.wait_for(lock, kLookPeriod, [&] { return ending_; });
  }
}

void MemoryLimit::look() {
  const auto use = group_->look();
  if (!use) {
    account_.failure = "the group '" + group_->path().string() + "' can't be read";
    return;
  }
  account_.process_peak_bytes = std::max(account_.process_peak_bytes, use->process_bytes);
  account_.usage_peak_bytes =
      std::max({account_.usage_peak_bytes, use->usage_bytes, use->peak_bytes});
  account_.frozen += use->frozen ? 1 : 0;
  if (!load_is_over_) account_.last = *use;
  if (load_is_on_) {
    ++account_.looks;
    account_.page_cache_sum_bytes += static_cast<double>(use->page_cache_bytes);
    account_.process_sum_bytes += static_cast<double>(use->process_bytes);
  }
  const bool is_ready = account_.page_cache_asked_bytes == 0 || load_is_on_ || load_is_over_;
  const uint64_t wanted = is_ready ? follower_.limit_after(*use) : follower_.first_limit_bytes();
  const bool too_low = wanted > limit_bytes_;
  const bool too_high = limit_bytes_ > wanted &&
                        (wanted == account_.asked_bytes || limit_bytes_ - wanted > kSlackBytes);
  // The kernel rounds to pages, so that what is in force may lie below what was asked for.
  if (!(too_low && wanted - limit_bytes_ >= kPageBytes) && !too_high) return;
  const auto in_force = group_->set_limit(wanted);
  if (!in_force) {
    // A lower one is refused while more than that is in use; the next look tries again.
    if (too_low) account_.failure = in_force.error().text;
    return;
  }
  limit_bytes_ = *in_force;
  account_.raised += too_low ? 1 : 0;
  if (is_ready) account_.limit_max_bytes = std::max(account_.limit_max_bytes, limit_bytes_);
}

void MemoryLimit::begin() {
  const std::lock_guard lock(mutex_);
  load_is_on_ = true;
  look();
}

void MemoryLimit::end() {
  const std::lock_guard lock(mutex_);
  look();
  load_is_on_ = false;
  load_is_over_ = true;
}

MemoryAccount MemoryLimit::account() const {
  const std::lock_guard lock(mutex_);
  return account_;
}

std::string why_no_memory_limit() {
  const auto hierarchy = find_memory_hierarchy();
  if (!hierarchy) return "limiting memory: " + hierarchy.error().text;
  const auto group = MemoryCgroup::make(*hierarchy, cgroup_name(), kTrialBytes);
  if (group) return {};
  return (geteuid() == 0 ? "limiting memory: " : "limiting memory needs root: ") +
         group.error().text;
}

std::string page_cache_warning(const MemoryDemand& demand, uint64_t free_bytes,
                               uint64_t cache_size_bytes) {
  const uint64_t limited_bytes = demand.page_cache_max_bytes();
  const uint64_t room = limited_bytes > 0 ? std::min(limited_bytes, free_bytes) : free_bytes;
  if (room < cache_size_bytes) return {};
  return "the cache of " + storage::format_size(cache_size_bytes) + " fits in memory (" +
         storage::format_size(room) + (limited_bytes > 0 ? " by --memory" : " free, no --memory") +
         "): the page cache may hold all of it, and reads need no device";
}

}  // namespace workload
