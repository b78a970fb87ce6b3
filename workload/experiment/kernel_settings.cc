#include "workload/experiment/kernel_settings.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "storage/base/kernel_file.h"

namespace workload {
namespace {

constexpr std::string_view kSettingNames[] = {"net.core.somaxconn",
                                              "net.core.netdev_max_backlog",
                                              "net.core.rmem_max",
                                              "net.core.wmem_max",
                                              "net.core.default_qdisc",
                                              "net.core.busy_poll",
                                              "net.ipv4.ip_local_port_range",
                                              "net.ipv4.tcp_abort_on_overflow",
                                              "net.ipv4.tcp_congestion_control",
                                              "net.ipv4.tcp_fastopen",
                                              "net.ipv4.tcp_fin_timeout",
                                              "net.ipv4.tcp_max_syn_backlog",
                                              "net.ipv4.tcp_max_tw_buckets",
                                              "net.ipv4.tcp_mem",
                                              "net.ipv4.tcp_rmem",
                                              "net.ipv4.tcp_slow_start_after_idle",
                                              "net.ipv4.tcp_syncookies",
                                              "net.ipv4.tcp_timestamps",
                                              "net.ipv4.tcp_tw_reuse",
                                              "net.ipv4.tcp_wmem",
                                              "fs.aio-max-nr",
                                              "fs.file-max",
                                              "fs.nr_open",
                                              "kernel.io_uring_disabled",
                                              "kernel.pid_max",
                                              "kernel.sched_autogroup_enabled",
                                              "vm.dirty_background_bytes",
                                              "vm.dirty_background_ratio",
                                              "vm.dirty_bytes",
                                              "vm.dirty_expire_centisecs",
                                              "vm.dirty_ratio",
                                              "vm.dirty_writeback_centisecs",
                                              "vm.overcommit_memory",
                                              "vm.swappiness",
                                              "vm.vfs_cache_pressure"};

}  // namespace

boost::json::object kernel_settings() {
  boost::json::object settings;
  for (const auto name : kSettingNames) {
    std::string path(name);
    std::replace(path.begin(), path.end(), '.', '/');
    std::string text = storage::read_kernel_file("/proc/sys/" + path);
    std::replace(text.begin(), text.end(), '\t', ' ');
    text.erase(text.find_last_not_of(" \n") + 1);
    if (!text.empty()) settings[name] = text;
  }
  return settings;
}

}  // namespace workload
