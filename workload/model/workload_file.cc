#include "workload/model/workload_file.h"

#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "storage/base/units.h"
#include "workload/model/phases_file.h"

namespace workload {
namespace {

constexpr size_t kFileSizeBytesMax = size_t{1} << 20;

// The keys of each table stand once, below; a Reader or a Writer goes through them.

template <class Visitor>
void visit_keys(ContentModel& model, Visitor& keys) {
  keys.number("share_percent", model.share_percent, 0, 100);
  keys.flag("direct", model.direct);
  keys.distribution("size", model.size, Quantity::kSizeBytes);
  keys.number("cachable_percent", model.cachable_percent, 0, 100);
  keys.distribution("life_cycle", model.life_cycle.length, Quantity::kDuration);
  keys.number("life_cycle_variance_percent", model.life_cycle.variance_percent, 0, 100);
  keys.distribution("embedded", model.embedded, Quantity::kCount);
}

template <class Visitor>
void visit_keys(RequestModel& model, Visitor& keys) {
  keys.number("recurrence_percent", model.recurrence_percent, 0, 100);
  keys.number("ims_200_percent", model.ims_200_percent, 0, 100);
  keys.number("ims_304_percent", model.ims_304_percent, 0, 100);
  keys.number("reload_percent", model.reload_percent, 0, 100);
  keys.number("etag_200_percent", model.etag_200_percent, 0, 100);
  keys.number("etag_304_percent", model.etag_304_percent, 0, 100);
  keys.number("range_percent", model.range_percent, 0, 100);
  keys.distribution("range_size", model.range_size, Quantity::kSizeBytes);
  keys.number("post_percent", model.post_percent, 0, 100);
  keys.number("head_percent", model.head_percent, 0, 100);
  keys.distribution("post_body", model.post_body, Quantity::kSizeBytes);
  keys.choice("post_target", model.post_target,
              {{"own", PostTarget::kOwn}, {"repeat", PostTarget::kRepeat}});
}

template <class Visitor>
void visit_keys(PopularityModel& model, Visitor& keys) {
  keys.number("zipf_skew", model.zipf_skew, 0, 100);
  keys.number("zipf_exponent", model.zipf_exponent, 0, 10);
  keys.choice("zipf_order", model.zipf_order,
              {{"newest", ZipfOrder::kNewest}, {"fixed", ZipfOrder::kFixed}});
  keys.number("hot_set_percent", model.hot_set_percent, 0, 100);
  keys.number("hot_set_share_percent", model.hot_set_share_percent, 0, 100);
  keys.number("byte_hit_discrimination_percent", model.byte_hit_discrimination_percent, 0, 100);
  keys.count("working_set_objects_max", model.working_set_objects_max, 0, int64_t{1} << 36);
}

template <class Visitor>
void visit_keys(RobotModel& model, Visitor& keys) {
  keys.number("requests_per_second", model.requests_per_second, 0, 1e6);
  keys.count("connections_max", model.connections_max, 1, 10000);
  keys.distribution("requests_per_connection", model.requests_per_connection, Quantity::kCount);
  keys.number("abort_percent", model.abort_percent, 0, 100);
}

template <class Visitor>
void visit_keys(ServerModel& model, Visitor& keys) {
  keys.distribution("think", model.think, Quantity::kDuration);
  keys.distribution("requests_per_connection", model.requests_per_connection, Quantity::kCount);
  keys.duration("idle_timeout", model.idle_timeout);
  keys.number("abort_percent", model.abort_percent, 0, 100);
}

/// Where an error is put; keeps the first.
struct Failure {
  std::string file;
  std::string text;
  void at(const toml::node* node, const std::string& key, const std::string& what) {
    if (!text.empty()) return;
    text = file;
    if (node != nullptr && node->source().begin.line != 0) {
      text += ':' + std::to_string(node->source().begin.line);
    }
    text += ": " + (key.empty() ? what : key + ": " + what);
  }
};

/// Reads the keys of one table into a model and remembers which ones there are.
class Reader {
 public:
  Reader(const toml::table& table, std::string prefix, Failure& failure)
      : table_(table), prefix_(std::move(prefix)), failure_(failure) {}

  void number(const char* key, double& value, double min, double max) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const auto found = node->value<double>();
    if (!node->is_number() || !found || !(*found >= min && *found <= max)) {
      return fail(node, key,
                  "must be a number from " + number_text(min) + " to " + number_text(max));
    }
    value = *found;
  }

  void count(const char* key, uint64_t& value, int64_t min, int64_t max) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const auto found = node->value_exact<int64_t>();
    if (!found || *found < min || *found > max) {
      return fail(
          node, key,
          "must be a whole number from " + std::to_string(min) + " to " + std::to_string(max));
    }
    value = static_cast<uint64_t>(*found);
  }

  void flag(const char* key, bool& value) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const auto found = node->value_exact<bool>();
    if (!found) return fail(node, key, "must be true or false");
    value = *found;
  }

  void distribution(const char* key, Distribution& value, Quantity quantity) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const auto text = node->value_exact<std::string_view>();
    if (!text) return fail(node, key, "must be a text such as \"exponential:4.5KB\"");
    std::string problem;
    const auto found = parse_distribution(*text, quantity, problem);
    if (!found) return fail(node, key, problem);
    value = *found;
  }

  void duration(const char* key, std::chrono::nanoseconds& value) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const auto text = node->value_exact<std::string_view>();
    const auto found = text ? storage::parse_duration(*text) : std::nullopt;
    if (!found || found->count() == 0) return fail(node, key, "must be a time such as \"15s\"");
    value = *found;
  }

  template <class Value>
  void choice(const char* key, Value& value,
              std::initializer_list<std::pair<std::string_view, Value>> choices) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const auto text = node->value_exact<std::string_view>();
    std::string names;
    for (const auto& [name, meaning] : choices) {
      if (text == name) {
        value = meaning;
        return;
      }
      names += (names.empty() ? "\"" : " or \"") + std::string(name) + '"';
    }
    fail(node, key, "must be " + names);
  }

  /// Call when every key was visited.
  void refuse_unknown_keys() {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (known_.contains(name)) continue;
      std::string right;
      for (const auto& each : known_) right += (right.empty() ? "" : ", ") + each;
      return fail(&node, name.c_str(), "unknown key; right would be one of " + right);
    }
  }

  /// The table under `key`, or nothing.
  const toml::table* table(const char* key) {
    const toml::node* const node = find(key);
    if (node == nullptr) return nullptr;
    if (!node->is_table()) fail(node, key, "must be a table");
    return node->as_table();
  }

  void text(const char* key, std::string& value) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const auto found = node->value_exact<std::string>();
    if (!found || found->empty()) return fail(node, key, "must be a text");
    value = *found;
  }

  void fail(const toml::node* node, const char* key, const std::string& what) {
    failure_.at(node, prefix_ + key, what);
  }
  const toml::node* find(const char* key) {
    known_.insert(key);
    return table_.get(key);
  }

 private:
  const toml::table& table_;
  std::string prefix_;
  Failure& failure_;
  std::set<std::string> known_;
};

template <class Model>
void read_table(Reader& parent, const char* name, const std::string& prefix, Model& model,
                Failure& failure) {
  const toml::table* const table = parent.table(name);
  if (table == nullptr) return;
  Reader keys(*table, prefix + name + '.', failure);
  visit_keys(model, keys);
  keys.refuse_unknown_keys();
}

void read_content(Reader& root, Workload& workload, Failure& failure) {
  const toml::table* const table = root.table("content");
  if (table == nullptr) return;
  if (root.find("base") == nullptr) workload.content.clear();
  Reader types(*table, "content.", failure);
  for (const auto& [key, node] : *table) {
    const std::string name(key.str());
    const auto named = ContentType::named(name);
    if (!named) {
      types.fail(&node, name.c_str(),
                 "is no name of a type; right would be a lower-case letter, then lower-case "
                 "letters, digits and hyphens, at most " +
                     std::to_string(ContentType::kNameLengthMax) + " characters");
      continue;
    }
    const ContentType type = *named;
    auto model = std::find_if(workload.content.begin(), workload.content.end(),
                              [&](const ContentModel& each) { return each.type == type; });
    if (model == workload.content.end()) {
      workload.content.emplace_back().type = type;
      model = workload.content.end() - 1;
    }
    read_table(types, name.c_str(), "content.", *model, failure);
  }
  std::sort(
      workload.content.begin(), workload.content.end(),
      [](const ContentModel& left, const ContentModel& right) { return left.type < right.type; });
}

/// The line that a problem found by check_workload() is about, as far as the file has it.
const toml::node* node_of_problem(const toml::table& root, const std::string& problem) {
  std::string path = problem.substr(0, problem.find(':'));
  for (;;) {
    if (const auto node = root.at_path(path)) return node.node();
    const auto dot = path.rfind('.');
    if (dot == std::string::npos) return nullptr;
    path.resize(dot);
  }
}

std::optional<Workload> read_workload(const toml::table& root, Failure& failure) {
  Reader keys(root, "", failure);
  std::string base = "simple";
  keys.text("base", base);
  auto workload = built_in_workload(base);
  if (!workload) {
    keys.fail(root.get("base"), "base", "must be one of " + std::string(built_in_workload_names()));
    return std::nullopt;
  }
  keys.text("name", workload->name);
  read_content(keys, *workload, failure);
  read_table(keys, "requests", "", workload->requests, failure);
  read_table(keys, "popularity", "", workload->popularity, failure);
  read_table(keys, "robot", "", workload->robot, failure);
  read_table(keys, "server", "", workload->server, failure);
  if (const toml::node* const phases = keys.find("phases")) {
    const PhasesProblem problem = read_phases(*phases, workload->phases);
    if (!problem.text.empty()) failure.at(problem.node, "", problem.text);
  }
  keys.refuse_unknown_keys();
  if (!failure.text.empty()) return std::nullopt;
  if (const auto problem = check_workload(*workload); !problem.empty()) {
    failure.at(node_of_problem(root, problem), "", problem);
    return std::nullopt;
  }
  return workload;
}

/// Writes the keys of one table.
class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(out) {}
  void number(const char* key, double value, double, double) {
    out_ << key << " = " << number_text(value) << '\n';
  }
  void count(const char* key, uint64_t value, int64_t, int64_t) {
    out_ << key << " = " << value << '\n';
  }
  void flag(const char* key, bool value) {
    out_ << key << " = " << (value ? "true" : "false") << '\n';
  }
  void distribution(const char* key, const Distribution& value, Quantity quantity) {
    quoted(key, value.text(quantity));
  }
  void duration(const char* key, std::chrono::nanoseconds value) {
    // A constant's text is the time behind its name and colon.
    const auto text =
        Distribution::constant(static_cast<double>(value.count())).text(Quantity::kDuration);
    quoted(key, text.substr(text.find(':') + 1));
  }
  template <class Value>
  void choice(const char* key, Value value,
              std::initializer_list<std::pair<std::string_view, Value>> choices) {
    for (const auto& [name, meaning] : choices) {
      if (meaning == value) quoted(key, std::string(name));
    }
  }

 private:
  void quoted(const char* key, const std::string& value) {
    out_ << key << " = \"" << value << "\"\n";
  }
  std::ostream& out_;
};

template <class Model>
void write_table(std::ostream& out, const std::string& name, Model model) {
  out << "\n[" << name << "]\n";
  Writer keys(out);
  visit_keys(model, keys);
}

}  // namespace

std::optional<Workload> parse_workload(std::string_view toml, const std::string& file,
                                       std::string& error) {
  Failure failure{file, {}};
  std::optional<Workload> workload;
  try {
    const toml::table root = toml::parse(toml, file);
    workload = read_workload(root, failure);
  } catch (const toml::parse_error& problem) {
    failure.text = file + ':' + std::to_string(problem.source().begin.line) + ": " +
                   std::string(problem.description());
  }
  if (!failure.text.empty()) {
    error = failure.text;
    // Keys may hold any character; a reason is one line nevertheless.
    std::replace_if(
        error.begin(), error.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    return std::nullopt;
  }
  return workload;
}

std::optional<Workload> load_workload(const std::string& name_or_path, std::string& error) {
  if (auto workload = built_in_workload(name_or_path)) return workload;
  // Opening a pipe would wait for ever for somebody to write to it.
  std::error_code failure;
  const auto status = std::filesystem::status(name_or_path, failure);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    error = name_or_path + ": not a regular file, so no workload file";
    return std::nullopt;
  }
  std::ifstream file(name_or_path, std::ios::binary);
  if (!file) {
    error = "workload '" + name_or_path + "': neither built in (" +
            std::string(built_in_workload_names()) + ") nor a file that can be read";
    return std::nullopt;
  }
  std::string text(kFileSizeBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (file.bad()) {
    error = name_or_path + ": cannot be read";
    return std::nullopt;
  }
  if (text.size() > kFileSizeBytesMax) {
    error = name_or_path + ": larger than 1 MiB, so no workload file";
    return std::nullopt;
  }
  return parse_workload(text, name_or_path, error);
}

std::string workload_to_toml(const Workload& workload) {
  std::ostringstream out;
  toml::value<std::string> name(workload.name);
  out << "name = " << name << '\n';
  for (const auto& model : workload.content) {
    write_table(out, "content." + std::string(model.type.name()), model);
  }
  write_table(out, "requests", workload.requests);
  write_table(out, "popularity", workload.popularity);
  write_table(out, "robot", workload.robot);
  write_table(out, "server", workload.server);
  write_phases(out, workload.phases);
  return out.str();
}

}  // namespace workload
