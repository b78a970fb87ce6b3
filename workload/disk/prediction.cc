#include "workload/disk/prediction.h"

#include <algorithm>
#include <cmath>

#include "storage/base/random.h"
#include "storage/base/units.h"

namespace workload::disk {
namespace {

using storage::seconds_of;

/// All in seconds and bytes.
struct Rates {
  double controller;  ///< A command in the controller.
  double bus;         ///< A block over the bus.
  double medium;      ///< A block over the medium of a turning disk, or all pages one by one.
};

/// Of the square root of the gap between the head and the next of `n` commands. In an elevator the
/// commands lie twice as dense in front of the arm as on average (Knuth's snow plough, The Art of
/// Computer Programming 3, 5.4.1), so the gap is that to the least of 2n uniform places: Beta(1,
/// 2n).
double mean_root_gap(double n) {
  return std::exp(std::lgamma(1.5) + std::lgamma(2 * n + 1) - std::lgamma(2 * n + 1.5));
}

/// A random access to a turning disk with `n` commands in the elevator.
double random_access(const RotatingMedium& medium, double n) {
  const double turn = 60.0 / static_cast<double>(medium.rpm);
  const double settle = seconds_of(medium.seek_settle);
  const double stroke = seconds_of(medium.seek_stroke);
  if (n <= 1) return settle + stroke * 8 / 15 + turn / 2;  // mean of sqrt(|x - y|)
  // Once in a sweep, which takes 2n commands, the arm goes back over nearly the whole disk.
  const double root = mean_root_gap(n);
  return settle + stroke * (root + (1 - root) / (2 * n)) + turn / 2;
}

std::optional<double> rotating_rate(const DiskProfile& disk, const RotatingMedium& medium,
                                    const LoadPattern& load, const Rates& rates, double host) {
  const double turn = 60.0 / static_cast<double>(medium.rpm);
  const bool cached = load.write && load.block_bytes <= disk.write_cache_bytes;
  const auto depth = static_cast<double>(std::min(load.depth, disk.queue_depth));
  const double alone = load.depth == 1 ? seconds_of(disk.turnaround) + host : 0;
  if (!load.sequential) {
    if (disk.scheduling == Scheduling::kFifo) {
      return load.depth == 1 && !cached
                 ? std::optional(
                       1 / (rates.controller + alone + random_access(medium, 1) + rates.medium))
                 : std::nullopt;
    }
    // A full cache is an elevator with as many commands as there are blocks in it.
    const double n =
        cached ? static_cast<double>(disk.write_cache_bytes / load.block_bytes) : depth;
    const double access = random_access(medium, n) + rates.medium;
    if (cached) return 1 / std::max(access, rates.controller + alone + rates.bus);
    return 1 / (access + (load.depth == 1 ? rates.controller + alone : 0));
  }
  const double arrival = rates.controller + alone;
  if (cached) return 1 / std::max(rates.medium, arrival + (load.depth == 1 ? rates.bus : 0));
  if (load.write) {
    if (load.depth > 1) return 1 / std::max(rates.medium, rates.controller);
    // The next block has gone by when the command for it comes.
    return 1 / (rates.medium + std::ceil(arrival / turn) * turn);
  }
  // The arm reads on while the controller and the host take their time.
  if (medium.read_ahead_bytes == 0) return std::nullopt;
  const double read_ahead = rates.medium * static_cast<double>(medium.read_ahead_bytes) /
                            static_cast<double>(load.block_bytes);
  if (arrival > read_ahead) return std::nullopt;
  return 1 / std::max(rates.medium, arrival);
}

std::optional<double> flash_rate(const DiskProfile& disk, const FlashMedium& medium,
                                 const LoadPattern& load, const Rates& rates, double host) {
  if (load.block_bytes % medium.page_bytes != 0) return std::nullopt;
  const auto pages = static_cast<double>(load.block_bytes / medium.page_bytes);
  const auto channels = static_cast<double>(medium.channels);
  const double page = seconds_of(load.write ? medium.page_program : medium.page_read);
  // Pages of one block follow each other over the channels.
  const double block = std::ceil(pages / channels) * page;
  const double arrival = rates.controller + seconds_of(disk.turnaround) + host;
  const double channels_busy = pages * page / channels;
  if (load.write && load.block_bytes <= disk.write_cache_bytes) {
    const double alone = load.depth == 1 ? arrival + rates.bus : 0;
    return 1 / std::max({channels_busy, rates.controller, rates.bus, alone});
  }
  if (load.depth == 1) return 1 / (arrival + block + rates.bus);
  // Random reads meet on one channel while another is idle, and there is no plain formula for that.
  const double bound = std::max(rates.controller, rates.bus);
  if (channels_busy > bound && !load.write && !load.sequential) return std::nullopt;
  return std::min(static_cast<double>(std::min(load.depth, disk.queue_depth)) /
                      (rates.controller + block + rates.bus),
                  1 / std::max(bound, channels_busy));
}

/// Whatever came about, and the commands that the host sends for those that ended.
class ClosedLoop {
 public:
  ClosedLoop(DiskModel& model, uint64_t size_bytes, const LoadPattern& pattern, DiskTime host_time,
             uint64_t seed)
      : model_(model),
        pattern_(pattern),
        blocks_(size_bytes / pattern.block_bytes),
        host_time_(host_time),
        random_(seed) {}

  /// Until so many more commands have ended; returns when the last of them did.
  DiskTime run(uint64_t commands) {
    const uint64_t until = ended_ + commands;
    while (started_ - ended_ - arrivals_.size() < pattern_.depth && arrivals_.empty()) start(last_);
    while (ended_ < until) {
      const auto event = model_.next_event();
      if (!arrivals_.empty() && (!event || arrivals_.front() <= *event)) {
        start(arrivals_.front());
        arrivals_.erase(arrivals_.begin());
      } else {
        model_.advance(event.value());
      }
      for (const Outcome& outcome : model_.take_outcomes()) {
        if (outcome.kind != Outcome::Kind::kCompleted) continue;
        ++ended_;
        last_ = outcome.at;
        arrivals_.push_back(outcome.at + host_time_);
      }
    }
    return last_;
  }

 private:
  void start(DiskTime at) {
    const uint64_t block = pattern_.sequential ? started_ % blocks_ : random_.below(blocks_);
    model_.submit({started_++, pattern_.write ? Operation::kWrite : Operation::kRead,
                   block * pattern_.block_bytes, pattern_.block_bytes},
                  at);
  }

  DiskModel& model_;
  LoadPattern pattern_;
  uint64_t blocks_;
  DiskTime host_time_;
  storage::Random random_;
  std::vector<DiskTime> arrivals_;  // in order, as ends are
  uint64_t started_ = 0;
  uint64_t ended_ = 0;
  DiskTime last_{0};
};

}  // namespace

std::string LoadPattern::fio_name() const {
  return std::string(sequential ? "" : "rand") + (write ? "write" : "read");
}

std::optional<double> formula_rate(const DiskProfile& profile, uint64_t size_bytes,
                                   const LoadPattern& pattern, DiskTime host_time) {
  Rates rates{};
  rates.controller = seconds_of(profile.command_overhead);
  rates.bus =
      static_cast<double>(pattern.block_bytes) / static_cast<double>(profile.interface_rate);
  const double host = seconds_of(host_time);
  if (const auto* rotating = profile.rotating()) {
    rates.medium = seconds_of(Arm(*rotating, size_bytes).transfer_time(pattern.block_bytes));
    return rotating_rate(profile, *rotating, pattern, rates, host);
  }
  return flash_rate(profile, *profile.flash(), pattern, rates, host);
}

double model_rate(const DiskProfile& profile, uint64_t size_bytes, const LoadPattern& pattern,
                  DiskTime host_time, uint64_t commands, uint64_t seed) {
  DiskModel model(profile, size_bytes);
  ClosedLoop loop(model, size_bytes, pattern, host_time, seed);
  const uint64_t cache_blocks = pattern.write ? profile.write_cache_bytes / pattern.block_bytes : 0;
  const DiskTime begin = loop.run(commands + 2 * cache_blocks);
  const DiskTime end = loop.run(commands);
  return static_cast<double>(commands) / seconds_of(end - begin);
}

}  // namespace workload::disk
