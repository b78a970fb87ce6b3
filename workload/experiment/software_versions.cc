#include "workload/experiment/software_versions.h"

#include <gnu/libc-version.h>

#include <boost/version.hpp>
#include <chrono>
#include <sstream>

#include "workload/experiment/child_process.h"

namespace workload {
namespace {

constexpr auto kVersionTimeMax = std::chrono::seconds(10);

/// The tools are where an ordinary user's PATH may not lead, and some say it on standard error.
std::string version_of_tool(const std::string& command) {
  const auto text =
      output_of({"sh", "-c", "PATH=$PATH:/usr/sbin:/sbin; " + command + " 2>&1"}, kVersionTimeMax);
  return text ? parse_tool_version(*text) : std::string();
}

bool begins_a_version(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::string parse_os_name(std::string_view os_release, std::string otherwise) {
  std::istringstream lines{std::string(os_release)};
  constexpr std::string_view kKey = "PRETTY_NAME=";
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(kKey, 0) != 0) continue;
    std::string value = line.substr(kKey.size());
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
        value.back() == value.front()) {
      value = value.substr(1, value.size() - 2);
    }
    if (!value.empty()) return value;
  }
  return otherwise;
}

std::vector<std::pair<std::string, std::string>> software_versions() {
  return {{"c_library", std::string("glibc ") + gnu_get_libc_version()},
          {"boost", std::to_string(BOOST_VERSION / 100'000) + "." +
                        std::to_string(BOOST_VERSION / 100 % 1000)},
          {"e2fsprogs", version_of_tool("mke2fs -V")},
          {"xfsprogs", version_of_tool("mkfs.xfs -V")},
          {"btrfs-progs", version_of_tool("mkfs.btrfs --version")}};
}

std::string parse_tool_version(std::string_view text) {
  std::istringstream words{std::string(text.substr(0, text.find('\n')))};
  for (std::string word; words >> word;) {
    if (word.size() > 1 && word.front() == 'v' && begins_a_version(word[1])) return word.substr(1);
    if (begins_a_version(word.front())) return word;
  }
  return {};
}

}  // namespace workload
