#include "workload/experiment/program_commands.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>

#include "workload/client/goal.h"
#include "workload/client/load_shape.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

constexpr std::string_view kAnyPort = "127.0.0.1:0";

std::string plain_number(double number) {
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr};
}

/// How a trace is replayed: at the recorded times divided by the time scale where that is given,
/// else as fast as so many streams can.
void add_replay_options(std::vector<std::string>& command, const ExperimentOptions& options) {
  std::string error;
  if (options.was_given("time-scale")) {
    command.insert(command.end(), {"--timing", "scaled=" + plain_number(options.time_scale)});
  } else {
    command.insert(command.end(), {"--timing", "asap"});
  }
  const auto shape = parse_load_shape(options.load, error);
  if (options.was_given("load") && shape) {
    command.insert(command.end(), {"--concurrency", std::to_string(shape->robots)});
  }
  const auto goal = parse_goal(options.until, error);
  if (options.was_given("until") && goal && goal->requests) {
    command.insert(command.end(), {"--limit", std::to_string(*goal->requests)});
  }
}

}  // namespace

std::vector<std::string> origin_command(const std::filesystem::path& cacheoff,
                                        const ExperimentOptions& options,
                                        const Workload& workload) {
  std::vector<std::string> command{cacheoff.string(), "origin", "--listen", std::string(kAnyPort)};
  // A log does not say how long its origins thought: they answer at once, unless a workload says
  // otherwise.
  if (!options.trace.empty() && !options.was_given("workload")) return command;
  const ServerModel& server = workload.server;
  const auto idle_ns = std::chrono::nanoseconds(server.idle_timeout).count();
  for (const auto& [option, value] :
       {std::pair<const char*, std::string>{"--think", server.think.text(Quantity::kDuration)},
        {"--requests-per-connection", server.requests_per_connection.text(Quantity::kCount)},
        {"--idle-timeout", std::to_string(idle_ns / 1000) + "us"},
        {"--time-scale", plain_number(options.time_scale)}}) {
    command.emplace_back(option);
    command.push_back(value);
  }
  return command;
}

std::vector<std::string> proxy_command(const std::filesystem::path& proxy,
                                       const std::vector<std::string>& cache_dirs,
                                       const std::string& access_log,
                                       const std::map<std::string, std::string>& options) {
  std::vector<std::string> command{
      proxy.string(), "--listen", std::string(kAnyPort), "--admin", std::string(kAnyPort),
      "--access-log", access_log};
  for (const auto& cache_dir : cache_dirs) {
    command.insert(command.end(), {"--cache-dir", cache_dir});
  }
  for (const auto& [name, value] : options) command.push_back("--" + name + "=" + value);
  return command;
}

bool is_proxy_option_free(std::string_view name) {
  constexpr std::array<std::string_view, 12> kTaken{
      "listen", "origin", "admin",   "access-log",   "event-method", "cache-dir",
      "config", "help",   "version", "list-schemes", "list-options", "check"};
  return !name.empty() && std::find(kTaken.begin(), kTaken.end(), name) == kTaken.end() &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

std::vector<std::string> load_command(const std::filesystem::path& cacheoff,
                                      const ExperimentOptions& options,
                                      const ProgramAddresses& addresses, uint64_t seed,
                                      const std::string& out) {
  std::vector<std::string> command{cacheoff.string()};
  const auto add = [&](const char* option, std::string value) {
    command.emplace_back(option);
    command.push_back(std::move(value));
  };
  if (options.trace.empty()) {
    command.emplace_back("load");
    add("--workload", options.workload);
    add("--load", options.load);
    if (options.phases.empty()) {
      add("--until", options.goal());
    } else {
      add("--phases", options.phases);
    }
    add("--time-scale", plain_number(options.time_scale));
  } else {
    command.emplace_back("replay");
    command.push_back(options.trace);
    add_replay_options(command, options);
  }
  add("--proxy", addresses.proxy->text());
  add("--origin", addresses.origin->text());
  add("--seed", std::to_string(seed));
  add("--cache-size", std::to_string(options.cache_size_bytes));
  add("--sample-interval", std::to_string(sample_interval(options).count()) + "ms");
  add("--out", out);
  return command;
}

std::chrono::milliseconds sample_interval(const ExperimentOptions& options) {
  std::string error;
  const auto shape = parse_load_shape(options.load, error);
  if (options.finds_peak() && shape) {
    // A row a sample of the finder, whose loads differ.
    const double sample_s = shape->peak.resolve(options.time_scale).sample_s;
    return std::chrono::milliseconds(std::max<int64_t>(static_cast<int64_t>(sample_s * 1e3), 10));
  }
  const auto length_s = options.run_length_s();
  if (!length_s) return std::chrono::milliseconds(250);
  return std::chrono::milliseconds(std::max<int64_t>(static_cast<int64_t>(*length_s * 2), 10));
}

std::optional<storage::HostPort> address_behind(std::string_view line, std::string_view marker) {
  const size_t at = line.find(marker);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + marker.size());
  return storage::parse_host_port(rest.substr(0, rest.find_first_of(", \r\n")));
}

std::string shell_line(const std::vector<std::string>& command) {
  std::string line;
  for (const auto& word : command) {
    line += line.empty() ? "" : " ";
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("-_./=:,+@%").find(c) != std::string_view::npos;
    });
    if (plain) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

std::string last_words(const std::filesystem::path& log) {
  constexpr std::streamoff kTailBytes = 4096;
  std::ifstream in(log, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const std::streamoff size = in.tellg();
  in.seekg(std::max<std::streamoff>(0, size - kTailBytes));
  std::string last;
  // A warning may be written behind the reason of the end, but is never the reason.
  const auto is_warning = [](const std::string& line) {
    return line.find("warning: ") != std::string::npos;
  };
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && (last.empty() || is_warning(last) || !is_warning(line))) last = line;
  }
  return last.empty() ? std::string() : ": " + last;
}

boost::json::array merge_warnings(const boost::json::object& record,
                                  const std::vector<std::vector<std::string>>& lists) {
  std::vector<std::string> merged;
  const auto add = [&](const std::string& warning) {
    const bool known = std::any_of(merged.begin(), merged.end(), [&](const std::string& other) {
      return other.compare(0, warning.size(), warning) == 0;
    });
    if (!known) merged.push_back(warning);
  };
  const auto* own = find_json(record, "warnings");
  if (own != nullptr && own->is_array()) {
    for (const auto& warning : own->get_array()) {
      if (warning.is_string()) add(std::string(warning.get_string()));
    }
  }
  for (const auto& list : lists) {
    for (const auto& warning : list) add(warning);
  }
  boost::json::array out;
  for (const auto& warning : merged) out.emplace_back(warning);
  return out;
}

}  // namespace workload
