#include "workload/experiment/proxy_options.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "storage/base/units.h"

namespace workload {
namespace {

/// The value in one form for all texts that mean the same.
std::string plain_value(std::string_view kind, const std::string& text) {
  if (kind == "size") {
    if (const auto bytes = storage::parse_size_bytes(text)) return std::to_string(*bytes);
  } else if (kind == "time") {
    if (const auto time = storage::parse_duration(text))
      return std::to_string(time->count()) + "ns";
  } else if (kind == "count") {
    if (const auto count = storage::parse_count(text)) return std::to_string(*count);
  }
  return text;
}

/// The parts of a --cache-dir, whose order means nothing.
std::string sorted_parts(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream list(text);
  for (std::string part; std::getline(list, part, ',');) parts.push_back(part);
  std::sort(parts.begin(), parts.end());
  std::string out;
  for (const auto& part : parts) out += (out.empty() ? "" : ",") + part;
  return out;
}

}  // namespace

Expected<std::vector<ProxyOptionRow>> parse_proxy_options(std::string_view text) {
  std::vector<ProxyOptionRow> rows;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    ProxyOptionRow row;
    std::getline(fields, row.name, '\t');
    std::getline(fields, row.kind, '\t');
    std::getline(fields, row.default_text, '\t');
    if (row.name.empty() || row.kind.empty()) {
      return run_problem("cacheoff-proxy --list-options printed an unreadable line: '" + line +
                         "'");
    }
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return run_problem("cacheoff-proxy --list-options printed no option");
  return rows;
}

EffectiveConfiguration proxy_configuration(const std::vector<std::string>& command,
                                           const std::vector<ProxyOptionRow>& options) {
  EffectiveConfiguration out;
  std::set<std::string> given;
  for (size_t i = 1; i < command.size(); ++i) {
    if (!command[i].starts_with("--")) continue;
    const size_t equals = command[i].find('=');
    std::string name = command[i].substr(2, equals == std::string::npos ? equals : equals - 2);
    std::string text;
    if (equals != std::string::npos) {
      text = command[i].substr(equals + 1);
    } else if (i + 1 < command.size()) {
      text = command[++i];
    }
    const auto row = std::find_if(options.begin(), options.end(),
                                  [&](const ProxyOptionRow& one) { return one.name == name; });
    std::string value = name == "cache-dir"
                            ? sorted_parts(text)
                            : plain_value(row == options.end() ? "" : row->kind, text);
    given.insert(name);
    out.push_back({"", std::move(name), std::move(value), std::move(text)});
  }
  for (const auto& row : options) {
    if (row.default_text.empty() || given.contains(row.name)) continue;
    out.push_back({"", row.name, plain_value(row.kind, row.default_text), ""});
  }
  sort_configuration(out);
  return out;
}

}  // namespace workload
