#include "workload/experiment/disk_account.h"

#include <algorithm>
#include <cstdio>

#include "workload/report/json_text.h"

namespace workload {
namespace {

/// Share of an operation's time by which answers may be late before it is said.
constexpr double kLateShareMax = 0.05;

uint64_t grown(uint64_t before, uint64_t after) {
  return after > before ? after - before : 0;
}

double grown(double before, double after) {
  return std::max(0.0, after - before);
}

double busy_share(const DiskFigures& growth) {
  return growth.elapsed_s > 0 ? growth.busy_s / growth.elapsed_s : 0;
}

std::string with_decimals(double number, int digits) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, number);
  return buffer;
}

}  // namespace

DiskFigures disk_figures(const boost::json::object& status) {
  const auto count = [&](const char* path) { return count_at(status, path); };
  const auto number = [&](const char* path) { return number_at(status, path).value_or(0); };
  DiskFigures figures;
  figures.reads = count("counters.reads");
  figures.writes = count("counters.writes");
  figures.flushes = count("counters.flushes");
  figures.read_bytes = count("counters.read_bytes");
  figures.written_bytes = count("counters.written_bytes");
  figures.read_buffer_hits = count("counters.read_buffer_hits");
  figures.fast_operations = count("fast_operations");
  figures.image_errors = count("image_errors");
  figures.answers = count("answers");
  figures.seek_s = number("counters.seek_s");
  figures.rotation_s = number("counters.rotation_s");
  figures.transfer_s = number("counters.transfer_s");
  figures.elapsed_s = number("counters.elapsed_s");
  figures.busy_s = number("counters.busy_s");
  figures.commands_s = number("counters.queue_depth_mean") * figures.elapsed_s;
  figures.late_s = number("late_mean_us") * 1e-6 * static_cast<double>(figures.answers);
  const auto* realtime = find_json(status, "realtime");
  figures.realtime = realtime != nullptr && realtime->is_bool() && realtime->get_bool();
  return figures;
}

DiskFigures disk_growth(const DiskFigures& before, const DiskFigures& after) {
  DiskFigures growth = after;
  for (const auto count :
       {&DiskFigures::reads, &DiskFigures::writes, &DiskFigures::flushes, &DiskFigures::read_bytes,
        &DiskFigures::written_bytes, &DiskFigures::read_buffer_hits, &DiskFigures::fast_operations,
        &DiskFigures::image_errors, &DiskFigures::answers}) {
    growth.*count = grown(before.*count, after.*count);
  }
  for (const auto time : {&DiskFigures::seek_s, &DiskFigures::rotation_s, &DiskFigures::transfer_s,
                          &DiskFigures::elapsed_s, &DiskFigures::busy_s, &DiskFigures::commands_s,
                          &DiskFigures::late_s}) {
    growth.*time = grown(before.*time, after.*time);
  }
  return growth;
}

boost::json::object disk_counters_to_json(const DiskFigures& growth) {
  const auto per = [](double sum, double whole) {
    return json_number(whole > 0 ? std::optional(sum / whole) : std::nullopt);
  };
  return {{"reads", growth.reads},
          {"writes", growth.writes},
          {"flushes", growth.flushes},
          {"read_bytes", growth.read_bytes},
          {"write_bytes", growth.written_bytes},
          {"read_buffer_hits", growth.read_buffer_hits},
          {"seek_s", growth.seek_s},
          {"rotation_s", growth.rotation_s},
          {"transfer_s", growth.transfer_s},
          {"elapsed_s", growth.elapsed_s},
          {"busy_percent", per(100 * growth.busy_s, growth.elapsed_s)},
          {"queue_depth_mean", per(growth.commands_s, growth.elapsed_s)},
          {"late_mean_us", per(1e6 * growth.late_s, static_cast<double>(growth.answers))},
          {"realtime", growth.realtime}};
}

std::vector<std::string> disk_warnings(const DiskFigures& growth, double time_scale) {
  std::vector<std::string> out;
  if (growth.image_errors > 0) {
    out.push_back("the modelled disk could not read or write its image " +
                  std::to_string(growth.image_errors) + " times");
  }
  if (growth.fast_operations > 0) {
    out.push_back(std::to_string(growth.fast_operations) +
                  " operations of the modelled disk took no time while the load was on");
  }
  const double late_s = growth.late_s * time_scale;
  if (growth.answers > 0 && growth.busy_s > 0 && late_s > kLateShareMax * growth.busy_s) {
    out.push_back("answers of the modelled disk were late by " +
                  with_decimals(100 * late_s / growth.busy_s, 0) +
                  " % of its time: the machine is too busy for it at time scale " +
                  with_decimals(time_scale, 0) +
                  (growth.realtime ? "" : ", and gave it no real-time priority"));
  }
  return out;
}

std::optional<double> disk_operations_per(const boost::json::object& record, uint64_t requests) {
  const auto reads = number_at(record, "disk.reads");
  const auto writes = number_at(record, "disk.writes");
  if (!reads || !writes || requests == 0) return std::nullopt;
  return (*reads + *writes) / static_cast<double>(requests);
}

Expected<void> DiskAccount::read_all(std::vector<DiskFigures>& figures) {
  figures.clear();
  double cpu_s = 0;
  for (DiskProgram* const disk : disks_) {
    auto status = disk->status();
    if (!status) return status.error();
    figures.push_back(disk_figures(*status));
    cpu_s += disk->cpu_s();
    profile_ = disk->request().profile.name;
    time_scale_ = disk->request().time_scale;
  }
  (&figures == &begin_ ? cpu_begin_s_ : cpu_end_s_) = cpu_s;
  return {};
}

Expected<void> DiskAccount::end() {
  std::vector<DiskFigures> now;
  if (auto done = read_all(now); !done) return done;
  growth_.clear();
  for (size_t i = 0; i < now.size(); ++i) growth_.push_back(disk_growth(begin_[i], now[i]));
  return {};
}

void DiskAccount::observe(RunObservation& seen) const {
  if (growth_.empty()) return;
  seen.disk_busy_share = 0;
  for (const auto& growth : growth_) {
    seen.disk_busy_share = std::max(*seen.disk_busy_share, busy_share(growth));
  }
}

void DiskAccount::account(boost::json::object& record) const {
  if (growth_.empty()) return;
  DiskFigures sum;
  double busiest = 0;
  for (const auto& growth : growth_) {
    sum.reads += growth.reads;
    sum.writes += growth.writes;
    sum.read_bytes += growth.read_bytes;
    sum.written_bytes += growth.written_bytes;
    busiest = std::max(busiest, busy_share(growth));
  }
  record["disk"] = {{"reads", sum.reads},
                    {"writes", sum.writes},
                    {"read_bytes", sum.read_bytes},
                    {"write_bytes", sum.written_bytes},
                    {"busy_percent", 100 * busiest},
                    {"counted_on", growth_.size() == 1 ? "modelled disk " + profile_
                                                       : std::to_string(growth_.size()) +
                                                             " modelled disks " + profile_}};
  auto* const devices = record["devices"].if_array();
  for (size_t i = 0; devices != nullptr && i < std::min(devices->size(), growth_.size()); ++i) {
    (*devices)[i].as_object()["counters"] = disk_counters_to_json(growth_[i]);
  }
  if (auto* const cpu = record["cpu_s"].if_object()) (*cpu)["disk"] = cpu_s();
}

std::vector<std::string> DiskAccount::warnings() const {
  if (growth_.empty()) return {};
  // One line for all disks: what went wrong with any, and the lateness of the latest.
  const auto lateness = [](const DiskFigures& disk) {
    return disk.busy_s > 0 ? disk.late_s / disk.busy_s : 0;
  };
  DiskFigures all = *std::max_element(growth_.begin(), growth_.end(),
                                      [&](const DiskFigures& left, const DiskFigures& right) {
                                        return lateness(left) < lateness(right);
                                      });
  all.image_errors = all.fast_operations = 0;
  for (const DiskFigures& disk : growth_) {
    all.image_errors += disk.image_errors;
    all.fast_operations += disk.fast_operations;
  }
  std::vector<std::string> out = disk_warnings(all, time_scale_);
  if (growth_.size() > 1) {
    for (auto& line : out) line = "of " + std::to_string(growth_.size()) + " disks: " + line;
  }
  return out;
}

}  // namespace workload
