#include "workload/compare/work_equality.h"

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <set>
#include <string_view>

#include "storage/base/units.h"
#include "workload/compare/figure_samples.h"
#include "workload/report/json_text.h"
#include "workload/report/summary.h"

namespace workload {
namespace {

constexpr std::string_view kUnsaid = "nothing";

/// Where, how often and in which order; what the cells' names or fields say; and what the system
/// compared was told, or told in variants.
constexpr std::array<std::string_view, 23> kNoWork{
    "scheme", "filesystem", "mount",          "disks",         "exclude",  "repeat",
    "order",  "directory",  "device-path",    "device",        "out",      "user",
    "seed",   "cache-size", "scheme-options", "proxy-options", "system",   "system-options",
    "vary",   "variant",    "vary-mode",      "system-cpus",   "load-cpus"};

constexpr std::array<std::string_view, 9> kExperimentFields{
    "workload", "trace", "file", "verification", "load", "until", "phases", "time-scale", "memory"};

constexpr std::array<std::string_view, 8> kCellFields{
    "scheme", "filesystem",     "mount-options", "cache-size",
    "disks",  "scheme-options", "seed",          "mean-response-bytes"};

bool is_work(std::string_view option) {
  return std::find(kNoWork.begin(), kNoWork.end(), option) == kNoWork.end();
}

std::string value_text(const boost::json::value* value) {
  if (value == nullptr || value->is_null()) return std::string(kUnsaid);
  if (value->is_string()) return std::string(value->get_string());
  return boost::json::serialize(*value);
}

std::string said(const std::string& text) {
  return text.empty() ? std::string(kUnsaid) : text;
}

/// What a name stands for, with the digest that tells it from another of that name.
std::string named_with_digest(const std::string& name, const std::string& digest) {
  return said(name) + (digest.empty() ? "" : " (" + digest + ")");
}

class DifferenceFinder {
 public:
  DifferenceFinder(const Results& first, const Results& second, size_t first_side,
                   size_t second_side, std::vector<std::string>& unknown)
      : first_(first),
        second_(second),
        first_side_(first_side),
        second_side_(second_side),
        unknown_(unknown) {}

  std::vector<WorkDifference> find() {
    compare_named("workload", "workload_digest");
    compare_named("trace", "trace_digest");
    compare_file();
    compare_verification();
    for (const auto& field : work_field_names(first_, second_)) {
      const bool by_itself =
          field == "workload" || field == "trace" || field == "file" || field == "verification";
      const bool of_cells =
          std::find(kCellFields.begin(), kCellFields.end(), field) != kCellFields.end();
      if (!by_itself && !of_cells) compare_option(field);
    }
    for (const auto& cell : first_.cells) {
      const auto* other = cell_named(second_, cell.name);
      if (other != nullptr) compare_cells(cell, *other);
    }
    return std::move(found_);
  }

 private:
  void add(std::string_view field, const std::string& cell, std::string first, std::string second) {
    const auto same = [&](const WorkDifference& known) {
      return known.field == field && known.first_value == first && known.second_value == second;
    };
    if (std::any_of(found_.begin(), found_.end(), same)) return;
    found_.push_back(
        {std::string(field), cell, first_side_, second_side_, std::move(first), std::move(second)});
  }

  void differ(std::string_view field, const std::string& cell, const std::string& first,
              const std::string& second) {
    if (first != second) add(field, cell, said(first), said(second));
  }

  void compare_named(std::string_view field, std::string_view digest_key) {
    const std::string names[] = {text_at(first_.experiment, field),
                                 text_at(second_.experiment, field)};
    const std::string digests[] = {text_at(first_.work, digest_key),
                                   text_at(second_.work, digest_key)};
    if (!digests[0].empty() && !digests[1].empty()) {
      if (digests[0] != digests[1]) {
        add(field, {}, named_with_digest(names[0], digests[0]),
            named_with_digest(names[1], digests[1]));
      }
      return;
    }
    differ(field, {}, names[0], names[1]);
    if (names[0] == names[1] && !names[0].empty()) {
      unknown_.push_back(
          "the " + std::string(field) + " of " + side_name(first_side_) + " and " +
          side_name(second_side_) + " is compared by its name alone ('" + names[0] +
          "'): " + (digests[0].empty() ? side_name(first_side_) : side_name(second_side_)) +
          " has no digest of it");
    }
  }

  /// Of static servers. How large it is, and the load, are options.
  void compare_file() {
    const std::string digests[] = {text_at(first_.work, "file_digest"),
                                   text_at(second_.work, "file_digest")};
    if (!digests[0].empty() && !digests[1].empty()) differ("file", {}, digests[0], digests[1]);
  }

  void compare_verification() {
    const std::string values[] = {text_at(first_.work, "verification"),
                                  text_at(second_.work, "verification")};
    if (!values[0].empty() && !values[1].empty()) differ("verification", {}, values[0], values[1]);
  }

  void compare_option(const std::string& field) {
    differ(field, {}, value_text(first_.experiment.if_contains(field)),
           value_text(second_.experiment.if_contains(field)));
  }

  void compare_cells(const CellResult& left, const CellResult& right) {
    differ("scheme", left.name, left.scheme, right.scheme);
    differ("filesystem", left.name, left.filesystem, right.filesystem);
    differ("mount-options", left.name, left.mount_options, right.mount_options);
    if (left.cache_size_bytes != right.cache_size_bytes) {
      // Rounded for people, with the bytes beside, which are what differs.
      const auto size = [](uint64_t bytes) {
        return storage::format_size(bytes) + " (" + std::to_string(bytes) + " bytes)";
      };
      add("cache-size", left.name, size(left.cache_size_bytes), size(right.cache_size_bytes));
    }
    differ("disks", left.name, std::to_string(left.disks), std::to_string(right.disks));
    differ("scheme-options", left.name, text_at(first_.experiment, "scheme-options." + left.scheme),
           text_at(second_.experiment, "scheme-options." + right.scheme));
    compare_seeds(left, right);
    compare_response_bytes(left, right);
  }

  void compare_seeds(const CellResult& left, const CellResult& right) {
    const auto seeds = [](const CellResult& cell, const Results& results) {
      std::set<uint64_t> all;
      for (const auto* run : counting_runs(cell)) {
        if (const auto seed = seed_of_run(*run, results)) all.insert(*seed);
      }
      return all;
    };
    const auto ours = seeds(left, first_);
    const auto theirs = seeds(right, second_);
    if (ours.empty() || theirs.empty()) return;
    const bool shared =
        std::any_of(ours.begin(), ours.end(), [&](uint64_t seed) { return theirs.contains(seed); });
    const auto text = [](const std::set<uint64_t>& all) {
      return std::to_string(*all.begin()) +
             (all.size() > 1 ? " to " + std::to_string(*all.rbegin()) : "");
    };
    if (!shared) add("seed", left.name, text(ours), text(theirs));
  }

  void compare_response_bytes(const CellResult& left, const CellResult& right) {
    const auto means = [](const CellResult& cell) {
      std::vector<double> values;
      for (const auto* run : counting_runs(cell)) {
        if (const auto mean = mean_response_bytes(*run)) values.push_back(*mean);
      }
      return values;
    };
    const auto ours = means(left);
    const auto theirs = means(right);
    if (ours.empty() || theirs.empty()) return;
    const double base = *median_of(ours);
    const double other = *median_of(theirs);
    double tolerance = kResponseBytesTolerance * base;
    for (const auto* side : {&ours, &theirs}) {
      const auto [least, most] = std::minmax_element(side->begin(), side->end());
      tolerance = std::max(tolerance, *most - *least);
    }
    if (std::abs(other - base) <= tolerance) return;
    add("mean-response-bytes", left.name, figure_text(base), figure_text(other));
  }

  const Results& first_;
  const Results& second_;
  size_t first_side_;
  size_t second_side_;
  std::vector<std::string>& unknown_;
  std::vector<WorkDifference> found_;
};

}  // namespace

std::vector<std::string> work_field_names(const Results& first, const Results& second) {
  std::vector<std::string> names(kExperimentFields.begin(), kExperimentFields.end());
  for (const auto* results : {&first, &second}) {
    for (const auto& option : results->experiment) {
      const std::string name(option.key());
      if (is_work(name) && std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  names.insert(names.end(), kCellFields.begin(), kCellFields.end());
  return names;
}

std::vector<WorkDifference> work_differences(const Results& first, const Results& second,
                                             size_t first_side, size_t second_side,
                                             std::vector<std::string>& unknown) {
  return DifferenceFinder(first, second, first_side, second_side, unknown).find();
}

const CellResult* cell_named(const Results& results, const std::string& name) {
  const auto cell = std::find_if(results.cells.begin(), results.cells.end(),
                                 [&](const CellResult& known) { return known.name == name; });
  return cell == results.cells.end() ? nullptr : &*cell;
}

}  // namespace workload
