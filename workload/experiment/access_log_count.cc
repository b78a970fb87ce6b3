#include "workload/experiment/access_log_count.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

namespace workload {
namespace {

/// A field by its number from 1, between spaces; empty where the line has no such field.
std::string_view log_field(std::string_view line, int wanted) {
  std::string_view field;
  for (int number = 0; number < wanted; ++number) {
    const size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) return {};
    line.remove_prefix(begin);
    field = line.substr(0, line.find(' '));
    line.remove_prefix(field.size());
  }
  return field;
}

/// The fourth field up to its slash, e.g. `TCP_HIT`; empty where the line has no such field.
std::string_view result_code(std::string_view line) {
  const std::string_view field = log_field(line, 4);
  const size_t slash = field.find('/');
  return slash == std::string_view::npos ? std::string_view() : field.substr(0, slash);
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_hit(std::string_view line, std::string_view code, LogDialect dialect) {
  if (dialect == LogDialect::kSquids) {
    const bool without_server = log_field(line, 9).starts_with("HIER_NONE");
    if (code == "TCP_MISS" && without_server) return true;
    if (contains(code, "REFRESH_UNMODIFIED") && log_field(line, 4).ends_with("/304")) return false;
  }
  return contains(code, "_HIT") || contains(code, "REFRESH_UNMODIFIED");
}

}  // namespace

void count_access_log_line(std::string_view line, LogDialect dialect, AccessLogCounts& counts) {
  ++counts.lines;
  const std::string_view code = result_code(line);
  if (code.empty()) {
    ++counts.unreadable;
  } else if (contains(code, "ABORTED")) {
    ++counts.aborted;
  } else if (code.substr(0, 4) == "TCP_") {
    ++counts.requests;
    if (is_hit(line, code, dialect)) ++counts.hits;
  }
}

Expected<AccessLogCounts> count_access_log(const std::filesystem::path& path, LogDialect dialect) {
  std::ifstream in(path);
  if (!in) return run_problem("can't read '" + path.string() + "': " + std::strerror(errno));
  AccessLogCounts counts;
  for (std::string line; std::getline(in, line);) count_access_log_line(line, dialect, counts);
  return counts;
}

}  // namespace workload
