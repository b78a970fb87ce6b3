#include "workload/compare/environment_difference.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <set>
#include <string_view>

#include "storage/base/units.h"
#include "workload/report/json_text.h"
#include "workload/report/printable_text.h"

namespace workload {
namespace {

/// What a line is called, and where it stands in the environment.
struct EnvironmentKey {
  std::string_view title;
  std::string_view path;
};

constexpr EnvironmentKey kEnvironmentKeys[] = {{"host", "host"},
                                               {"operating system", "operating_system"},
                                               {"kernel", "kernel.system"},
                                               {"kernel release", "kernel.release"},
                                               {"architecture", "kernel.architecture"},
                                               {"CPU", "machine.cpu"},
                                               {"CPUs", "machine.cpus"},
                                               {"memory", "machine.memory_bytes"},
                                               {"virtual machine", "machine.virtual_machine"},
                                               {"CPU governor", "machine.cpu_governor"},
                                               {"cacheoff", "versions.cacheoff"},
                                               {"cacheoff-proxy", "versions.cacheoff-proxy"},
                                               {"Squid", "versions.squid"},
                                               {"nginx", "versions.nginx"},
                                               {"lighttpd", "versions.lighttpd"},
                                               {"Varnish", "versions.varnish"},
                                               {"Traffic Server", "versions.trafficserver"},
                                               {"compiler", "versions.compiler"},
                                               {"C library", "versions.c_library"},
                                               {"Boost", "versions.boost"},
                                               {"e2fsprogs", "versions.e2fsprogs"},
                                               {"xfsprogs", "versions.xfsprogs"},
                                               {"btrfs-progs", "versions.btrfs-progs"},
                                               {"filesystem", "directory.filesystem"},
                                               {"mount options", "directory.mount_options"},
                                               {"device model", "device.model"},
                                               {"rotational", "device.rotational"},
                                               {"I/O scheduler", "device.scheduler"},
                                               {"write cache", "device.write_cache"},
                                               {"programs run as", "programs_run_as.user"}};

constexpr size_t kEnvironmentTextMax = 200;

std::string environment_text(const boost::json::object& object, std::string_view path) {
  const auto* value = find_json(object, path);
  if (value == nullptr || value->is_null()) return "-";
  if (path == "machine.memory_bytes" && value->is_number()) {
    return storage::format_size(count_at(object, path));
  }
  const std::string text =
      value->is_string() ? std::string(value->get_string()) : boost::json::serialize(*value);
  return text.empty() ? "-" : std::string(cut_text(text, kEnvironmentTextMax));
}

std::string devices_of(const Results& results) {
  std::vector<std::string> names;
  for (const auto& cell : results.cells) {
    if (std::find(names.begin(), names.end(), cell.device) == names.end()) {
      names.push_back(cell.device);
    }
  }
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : " ") + name;
  return text.empty() ? "-" : std::string(cut_text(text, kEnvironmentTextMax));
}

/// Those settings in which a side differs from another: all of them would be dozens of lines.
void add_kernel_settings(const std::vector<Results>& sides, std::vector<EnvironmentLine>& lines) {
  std::vector<const boost::json::object*> settings;
  std::set<std::string> names;
  for (const auto& side : sides) {
    const auto* value = side.environment.if_contains("kernel_settings");
    settings.push_back(value == nullptr ? nullptr : value->if_object());
    if (settings.back() == nullptr) continue;
    for (const auto& setting : *settings.back()) names.insert(std::string(setting.key()));
  }
  for (const auto& name : names) {
    EnvironmentLine line{name, {}, true};
    std::set<std::string> said;
    for (const auto* side : settings) {
      const auto* value = side == nullptr ? nullptr : side->if_contains(name);
      const bool is_text = value != nullptr && value->is_string();
      line.values.emplace_back(is_text ? std::string(value->get_string()) : "-");
      // A folder that says nothing of the kernel's settings differs in none.
      if (side != nullptr) said.insert(line.values.back());
    }
    if (said.size() > 1) lines.push_back(std::move(line));
  }
}

}  // namespace

std::vector<EnvironmentLine> environment_lines(const std::vector<Results>& sides) {
  std::vector<EnvironmentLine> lines;
  const auto add = [&](std::string_view title, auto read) {
    EnvironmentLine line;
    line.key = title;
    for (const auto& side : sides) line.values.push_back(read(side));
    const auto is_unsaid = [](const std::string& value) { return value == "-"; };
    if (std::all_of(line.values.begin(), line.values.end(), is_unsaid)) return;
    line.differs = std::any_of(line.values.begin(), line.values.end(),
                               [&](const auto& value) { return value != line.values.front(); });
    lines.push_back(std::move(line));
  };
  for (const auto& key : kEnvironmentKeys) {
    add(key.title,
        [&](const Results& side) { return environment_text(side.environment, key.path); });
  }
  add("device", devices_of);
  add("proxy-options",
      [](const Results& side) { return environment_text(side.experiment, "proxy-options"); });
  add("system-options",
      [](const Results& side) { return environment_text(side.experiment, "system-options"); });
  for (const char* key : {"vary", "variant"}) {
    add(key, [&](const Results& side) { return environment_text(side.experiment, key); });
  }
  add_kernel_settings(sides, lines);
  return lines;
}

}  // namespace workload
