#include "proxy/fill_table.h"

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <functional>

namespace proxy {

namespace {

constexpr std::chrono::seconds kUnshareableTime(30);
constexpr size_t kUnshareableMax = 16384;

}  // namespace

FillTable::FillTable(const boost::asio::any_io_executor& executor, uint64_t fills_max,
                     uint64_t first_fill_id)
    : executor_(executor), fills_max_(fills_max), last_id_(first_fill_id), ended_(executor) {}

std::shared_ptr<Fill> FillTable::find(const std::string& lookup_key) {
  const auto found = joinable_.find(lookup_key);
  if (found == joinable_.end() || !found->second->may_join()) return nullptr;
  return found->second->shared_from_this();
}

std::shared_ptr<Fill> FillTable::start(Services& services, FillOrder order, bool joinable) {
  if (running_.size() >= fills_max_) {
    ++services.counters.fills_refused;
    return nullptr;
  }
  ++services.counters.fills_started;
  auto fill = std::make_shared<Fill>(services, std::move(order), ++last_id_);
  running_.emplace(fill.get(), fill);
  if (joinable) joinable_[fill->order().lookup_key] = fill.get();
  boost::asio::co_spawn(executor_, fill->run(), [this, fill](const std::exception_ptr& failure) {
    // Only want of memory can bring us here; the readers must not hang.
    if (failure) fill->abandon_after_exception();
    end(*fill);
  });
  return fill;
}

void FillTable::end(Fill& fill) {
  const auto found = joinable_.find(fill.order().lookup_key);
  if (found != joinable_.end() && found->second == &fill) joinable_.erase(found);
  running_.erase(&fill);
  if (running_.empty()) ended_.wake_all();
}

void FillTable::invalidate(std::string_view primary_key) {
  for (auto& [fill, owner] : running_) {
    if (fill->order().primary_key == primary_key) fill->forbid_storing();
  }
}

void FillTable::note_unshareable(const std::string& lookup_key, storage::SteadyTime now) {
  if (unshareable_until_.size() >= kUnshareableMax) unshareable_until_.clear();
  unshareable_until_[std::hash<std::string>()(lookup_key)] = now + kUnshareableTime;
}

bool FillTable::is_unshareable(const std::string& lookup_key, storage::SteadyTime now) const {
  const auto found = unshareable_until_.find(std::hash<std::string>()(lookup_key));
  return found != unshareable_until_.end() && found->second > now;
}

void FillTable::abandon_all() {
  for (auto& [fill, owner] : running_) fill->abandon();
}

boost::asio::awaitable<void> FillTable::wait_until_empty() {
  while (!running_.empty()) co_await ended_.wait();
}

}  // namespace proxy
