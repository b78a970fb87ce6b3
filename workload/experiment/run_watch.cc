#include "workload/experiment/run_watch.h"

#include <algorithm>
#include <utility>

#include "storage/base/kernel_file.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

/// Part of a whole; 0 of nothing.
double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

/// A counter's growth; 0 where it was reset meanwhile.
double growth(uint64_t before, uint64_t after) {
  return after > before ? static_cast<double>(after - before) : 0;
}

std::filesystem::path proc_folder_of(pid_t pid) {
  return "/proc/" + std::to_string(pid);
}

uint64_t difference(uint64_t before, uint64_t after) {
  return after > before ? after - before : 0;
}

}  // namespace

RunWatch::RunWatch(ChildProcess& proxy, ChildProcess& origin, std::vector<BlockDevice> devices)
    : proxy_(proxy), origin_(origin), devices_(std::move(devices)) {}

MachineSnapshot RunWatch::look() {
  MachineSnapshot now;
  now.time = std::chrono::steady_clock::now();
  now.cpu = read_cpu_times();
  for (const auto& device : devices_) now.disks.push_back(read_disk_counters(device));
  now.proxy_io = read_process_io(proxy_.pid());
  now.clock_offset_s = workload::clock_offset_s();
  now.proxy_cpu_s = proxy_.cpu_s();
  now.origin_cpu_s = origin_.cpu_s();
  for (const pid_t helper : read_children(proxy_.pid())) {
    now.helper_cpu_s += read_cpu_s(helper).value_or(0);
    helper_peak_rss_bytes_ = std::max(helper_peak_rss_bytes_, read_peak_rss_bytes(helper));
    if (const auto counters = read_process_counters(proc_folder_of(helper))) {
      now.helper_counters += *counters;
    }
    const auto io = read_process_io(helper);
    if (io && now.proxy_io) {
      now.proxy_io->read_bytes += io->read_bytes;
      now.proxy_io->write_bytes += io->write_bytes;
    }
  }
  now.proxy_loop_cpu_s =
      read_main_thread_cpu_s(proc_folder_of(proxy_.pid()), proxy_.pid()).value_or(now.proxy_cpu_s);
  now.proxy_counters = read_process_counters(proc_folder_of(proxy_.pid()));
  now.origin_counters = read_process_counters(proc_folder_of(origin_.pid()));
  return now;
}

void RunWatch::begin() {
  samples_ = blocked_samples_ = 0;
  begin_ = look();
  for (const pid_t helper : read_children(proxy_.pid())) {
    const double cpu_s = read_cpu_s(helper).value_or(0);
    helpers_.push_back({helper, cpu_s, cpu_s, 0});
  }
}

void RunWatch::sample() {
  ++samples_;
  if (read_process_state(proxy_.pid()) == 'D') ++blocked_samples_;
  for (auto& helper : helpers_) {
    if (read_process_state(helper.pid) == 'D') ++helper.blocked_samples;
  }
}

void RunWatch::end() {
  end_ = look();
  reads_directly_ = reads_directly(proc_folder_of(proxy_.pid()));
  for (auto& helper : helpers_) {
    helper.cpu_s = read_cpu_s(helper.pid).value_or(helper.cpu_s);
    reads_directly_ = reads_directly_ || reads_directly(proc_folder_of(helper.pid));
  }
  proxy_.sample_memory();
  origin_.sample_memory();
}

double RunWatch::length_s() const {
  return std::chrono::duration<double>(end_.time - begin_.time).count();
}

void RunWatch::observe(RunObservation& seen) const {
  seen.proxy_cpu_share = share(proxy_cpu_s(), length_s());
  seen.origin_cpu_share = share(origin_cpu_s(), length_s());
  seen.proxy_blocked_share = proxy_blocked_share().value_or(0);
  seen.proxy_loop_share =
      share(std::max(0.0, end_.proxy_loop_cpu_s - begin_.proxy_loop_cpu_s), length_s());
  for (const auto& helper : helpers_) {
    const double cpu = share(helper.cpu_s - helper.begin_cpu_s, length_s());
    const double blocked =
        share(static_cast<double>(helper.blocked_samples), static_cast<double>(samples_));
    if (cpu + blocked <= seen.helper_cpu_share + seen.helper_blocked_share) continue;
    seen.helper_cpu_share = cpu;
    seen.helper_blocked_share = blocked;
  }
  if (const auto disk = disk_growth()) {
    seen.disk_busy_share = share(static_cast<double>(disk->busy_ms), length_s() * 1000);
  }
  if (begin_.cpu && end_.cpu) {
    const double total = growth(begin_.cpu->total, end_.cpu->total);
    seen.machine_busy_share = 1 - share(growth(begin_.cpu->idle, end_.cpu->idle), total);
    seen.steal_share = share(growth(begin_.cpu->steal, end_.cpu->steal), total);
  }
  seen.clock_step_s = end_.clock_offset_s - begin_.clock_offset_s;
}

std::optional<double> RunWatch::helper_cpu_s() const {
  if (!storage::kernel_files_are_read()) return std::nullopt;
  return std::max(0.0, end_.helper_cpu_s - begin_.helper_cpu_s);
}

std::optional<uint64_t> RunWatch::helper_peak_rss_bytes() const {
  if (!storage::kernel_files_are_read()) return std::nullopt;
  return helper_peak_rss_bytes_;
}

std::optional<double> RunWatch::proxy_blocked_share() const {
  if (!storage::kernel_files_are_read()) return std::nullopt;
  return share(static_cast<double>(blocked_samples_), static_cast<double>(samples_));
}

ProgramCounters RunWatch::counters() const {
  const auto between = [](const auto& before, const auto& after) {
    return before && after ? std::optional(after->since(*before)) : std::nullopt;
  };
  ProgramCounters out;
  out.proxy = between(begin_.proxy_counters, end_.proxy_counters);
  out.origin = between(begin_.origin_counters, end_.origin_counters);
  out.helper = end_.helper_counters.since(begin_.helper_counters);
  out.reads_directly = reads_directly_;
  return out;
}

std::optional<DiskCounters> RunWatch::disk_growth() const {
  if (devices_.empty()) return std::nullopt;
  DiskCounters sum;
  for (size_t i = 0; i < devices_.size(); ++i) {
    const auto& before = begin_.disks[i];
    const auto& after = end_.disks[i];
    if (!before || !after) return std::nullopt;
    sum.reads += difference(before->reads, after->reads);
    sum.writes += difference(before->writes, after->writes);
    sum.read_bytes += difference(before->read_bytes, after->read_bytes);
    sum.write_bytes += difference(before->write_bytes, after->write_bytes);
    sum.busy_ms = std::max(sum.busy_ms, difference(before->busy_ms, after->busy_ms));
  }
  return sum;
}

boost::json::object RunWatch::disk() const {
  boost::json::object out{{"reads", nullptr},        {"writes", nullptr},
                          {"read_bytes", nullptr},   {"write_bytes", nullptr},
                          {"busy_percent", nullptr}, {"counted_on", nullptr}};
  if (const auto disk = disk_growth()) {
    out["reads"] = disk->reads;
    out["writes"] = disk->writes;
    out["read_bytes"] = disk->read_bytes;
    out["write_bytes"] = disk->write_bytes;
    out["busy_percent"] =
        json_number(100 * share(static_cast<double>(disk->busy_ms), length_s() * 1000));
    std::string names = devices_.size() == 1 ? "device" : "devices";
    for (const auto& device : devices_) names += " " + device.name;
    out["counted_on"] = names;
  } else if (begin_.proxy_io && end_.proxy_io) {
    out["read_bytes"] = difference(begin_.proxy_io->read_bytes, end_.proxy_io->read_bytes);
    out["write_bytes"] = difference(begin_.proxy_io->write_bytes, end_.proxy_io->write_bytes);
    out["counted_on"] = "process";
  }
  return out;
}

}  // namespace workload
