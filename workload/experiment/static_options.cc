#include "workload/experiment/static_options.h"

#include <algorithm>
#include <array>
#include <utility>

#include "storage/base/units.h"
#include "workload/ab/options.h"
#include "workload/client/goal.h"
#include "workload/experiment/static_page.h"

namespace workload {
namespace {

constexpr std::string_view kAbPrefix = "ab=";
constexpr std::string_view kStaticPrefix = "static:";
constexpr const char* kRightAbLoad =
    "right would be ab=CONNECTIONS[,requests=N][,keep-alive][,gzip][,threads=T], e.g. "
    "ab=10,requests=100000";
constexpr uint64_t kAbThreadsMax = 256;
/// Filesystems have a least size, and the page should not be near to filling one.
constexpr uint64_t kStaticPlaceBytesMin = 64ULL << 20;

Problem wrong_ab_load(std::string_view load, const std::string& what) {
  return usage_problem("--load '" + std::string(load) + "': " + what + "; " + kRightAbLoad);
}

/// The number behind `name=`, within bounds; nothing where it is none.
std::optional<uint64_t> count_behind(std::string_view word, std::string_view name, uint64_t most) {
  if (word.substr(0, name.size()) != name) return std::nullopt;
  const auto count = storage::parse_count(word.substr(name.size()));
  if (!count || *count == 0 || *count > most) return std::nullopt;
  return count;
}

/// Takes one word behind the connections; false where it is none, or is there twice.
bool take_word(std::string_view word, AbLoad& load) {
  const auto take_switch = [](bool& flag) { return !std::exchange(flag, true); };
  if (word == "keep-alive") return take_switch(load.keep_alive);
  if (word == "gzip") return take_switch(load.gzip);
  if (const auto count = count_behind(word, "requests=", ab::kRequestsMax)) {
    return !std::exchange(load.requests, count).has_value();
  }
  if (const auto count = count_behind(word, "threads=", kAbThreadsMax)) {
    return std::exchange(load.threads, static_cast<unsigned>(*count)) == 1;
  }
  return false;
}

/// A value of an option that was given although it means nothing to static servers.
Problem no_meaning(std::string_view option, std::string_view why) {
  return usage_problem("--" + std::string(option) + ": " + std::string(why));
}

Expected<void> check_schemes(const ExperimentOptions& options) {
  const bool by_ab = is_ab_load(options.load);
  for (const auto& scheme : options.schemes) {
    if (is_static_scheme(scheme) && !by_ab) {
      return usage_problem("--load '" + options.load + "': " + scheme +
                           " serves one file, which only cacheoff ab asks for; " + kRightAbLoad);
    }
    if (!is_static_scheme(scheme) && by_ab) {
      return usage_problem("--load '" + options.load +
                           "': asks a static server for one file, and " + scheme +
                           " is none; right would be --scheme static:nginx,static:lighttpd,"
                           "static:origin, or --load best-effort=64 for " +
                           scheme);
    }
  }
  return {};
}

Expected<void> check_ab_goal(const ExperimentOptions& options, const AbLoad& load) {
  if (load.requests && options.was_given("until")) {
    return usage_problem("--until '" + options.until + "': --load " + load.text() +
                         " says how many requests already; leave one of them out");
  }
  std::string error;
  const auto goal = parse_goal(options.until, error);
  if (goal && goal->fill) {
    return usage_problem("--until '" + options.until +
                         "': a static server has no cache to fill; right would be duration=20s or "
                         "requests=100000");
  }
  const uint64_t requests =
      load.requests.value_or(goal ? goal->requests.value_or(ab::kRequestsMax) : ab::kRequestsMax);
  if (requests < load.connections) {
    return usage_problem("--load '" + load.text() + "': " + std::to_string(load.connections) +
                         " connections are more than the " + std::to_string(requests) +
                         " requests");
  }
  return {};
}

}  // namespace

std::string AbLoad::text() const {
  std::string out = std::string(kAbPrefix) + std::to_string(connections);
  if (requests) out += ",requests=" + std::to_string(*requests);
  if (keep_alive) out += ",keep-alive";
  if (gzip) out += ",gzip";
  if (threads > 1) out += ",threads=" + std::to_string(threads);
  return out;
}

bool is_ab_load(std::string_view load) {
  return load == "ab" || load.substr(0, kAbPrefix.size()) == kAbPrefix;
}

Expected<AbLoad> parse_ab_load(std::string_view load) {
  AbLoad out;
  std::string_view rest = load;
  for (bool is_first = true; is_first || !rest.empty(); is_first = false) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (is_first) {
      const auto connections = count_behind(word, kAbPrefix, ab::kConcurrencyMax);
      if (!connections) return wrong_ab_load(load, "must have 1 to 20000 connections");
      out.connections = static_cast<unsigned>(*connections);
    } else if (!take_word(word, out)) {
      return wrong_ab_load(load, "'" + std::string(word) + "' is wrong there");
    }
  }
  if (!load.empty() && load.back() == ',') return wrong_ab_load(load, "ends in a comma");
  if (out.threads > out.connections) {
    return wrong_ab_load(load, "has more threads than connections");
  }
  return out;
}

std::optional<AbLoad> ab_load_of(const ExperimentOptions& options) {
  if (!is_ab_load(options.load)) return std::nullopt;
  const auto load = parse_ab_load(options.load);
  return load ? std::optional(*load) : std::nullopt;
}

bool is_static_scheme(std::string_view scheme) {
  return scheme.substr(0, kStaticPrefix.size()) == kStaticPrefix;
}

Expected<void> set_file_size(ExperimentOptions& options, const std::vector<std::string>& values) {
  const auto size = storage::parse_size_bytes(values.front());
  if (!size || *size == 0 || *size > kStaticPageBytesMax) {
    return usage_problem("--file-size '" + values.front() +
                         "': must be a size from 1 to 256M, e.g. 57244");
  }
  options.file_size_bytes = *size;
  return {};
}

Expected<void> check_static_options(const ExperimentOptions& options) {
  if (auto fit = check_schemes(options); !fit) return fit;
  const auto load = ab_load_of(options);
  if (!load) {
    if (options.was_given("file-size")) {
      return no_meaning("file-size",
                        "is that of the file of static servers, and none is asked for");
    }
    return {};
  }
  constexpr std::array<std::string_view, 5> kOfCaches{"cache-size", "workload", "trace", "phases",
                                                      "fast-fill"};
  for (const auto option : kOfCaches) {
    if (options.was_given(option)) {
      return no_meaning(option,
                        "means nothing to static servers: all they do is to serve a file "
                        "of --file-size");
    }
  }
  if (options.disks != std::vector<unsigned>{1}) {
    return no_meaning("disks", "a static server serves from one folder; right would be 1");
  }
  for (const auto& [scheme, text] : options.scheme_options) {
    if (is_static_scheme(scheme)) {
      return usage_problem("scheme-options." + scheme +
                           ": there is no store; right would be [system-options.\"" + scheme +
                           "\"]");
    }
  }
  return check_ab_goal(options, *load);
}

uint64_t static_place_bytes(const ExperimentOptions& options) {
  return std::max(kStaticPlaceBytesMin, 2 * options.file_size_bytes);
}

}  // namespace workload
