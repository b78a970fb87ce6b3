#include "workload/disk/control.h"

#include <boost/json/serialize.hpp>
#include <vector>

#include "storage/base/units.h"

namespace workload::disk {
namespace {

constexpr uint64_t kCutWritesMax = uint64_t{1} << 40;
constexpr std::chrono::hours kCutWithinMax{24};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const size_t begin = line.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const size_t length = std::min(line.find_first_of(" \t\r\n"), line.size());
    words.push_back(line.substr(0, length));
    line.remove_prefix(length);
  }
}

std::string_view manner_name(CutManner manner) {
  switch (manner) {
    case CutManner::kDrop:
      return "drop";
    case CutManner::kTear:
      return "tear";
    case CutManner::kReorder:
      return "reorder";
  }
  return "";
}

std::optional<CutManner> manner_named(std::string_view name) {
  for (const CutManner manner : {CutManner::kDrop, CutManner::kTear, CutManner::kReorder}) {
    if (manner_name(manner) == name) return manner;
  }
  return std::nullopt;
}

boost::json::object cut_json(const CutReport& report) {
  return {{"number", report.number},
          {"manner", manner_name(report.manner)},
          {"unflushed_writes", report.unflushed_writes},
          {"unflushed_bytes", report.unflushed_bytes},
          {"surviving_bytes", report.surviving_bytes}};
}

ControlAnswer good(boost::json::object answer = {}) {
  answer["ok"] = true;
  return {boost::json::serialize(answer), false};
}

ControlAnswer bad(const std::string& error) {
  return {boost::json::serialize(boost::json::object{{"ok", false}, {"error", error}}), false};
}

ControlAnswer status_answer(const DiskStatus& status) {
  boost::json::object answer{{"fast", status.fast},
                             {"powered", status.powered},
                             {"realtime", status.realtime},
                             {"pending_bytes", status.pending_bytes},
                             {"image_errors", status.image_errors},
                             {"fast_operations", status.fast_operations},
                             {"answers", status.answers},
                             {"late_mean_us", status.late_mean_us},
                             {"late_max_us", status.late_max_us},
                             {"counters", to_json(status.counters)}};
  if (status.last_cut) answer["last_cut"] = cut_json(*status.last_cut);
  return good(std::move(answer));
}

ControlAnswer run_cut(const std::vector<std::string_view>& words, ServedDisk& disk) {
  const bool plain = words[0] == "cut";
  const size_t manner_at = plain ? 1 : 2;
  if (words.size() < manner_at || words.size() > manner_at + 1) {
    return bad("right would be '" + std::string(words[0]) + (plain ? "" : " N") + " [MANNER]'");
  }
  std::optional<CutManner> manner;
  if (words.size() > manner_at) {
    manner = manner_named(words[manner_at]);
    if (!manner) return bad("the manner must be drop, tear or reorder");
  }
  if (plain) return good(cut_json(disk.cut_power(manner)));
  if (words[0] == "cut-after-writes") {
    const auto writes = storage::parse_count(words[1]);
    if (!writes || *writes == 0 || *writes > kCutWritesMax) {
      return bad("the number of writes must be a whole number from 1 to 2^40");
    }
    disk.cut_power_after_writes(*writes, manner);
    return good();
  }
  const auto within = storage::parse_duration(words[1]);
  if (!within || *within > kCutWithinMax) return bad("the time must be such as 5s, at most 24h");
  return good({{"in_s", storage::seconds_of(disk.cut_power_within(*within, manner))}});
}

}  // namespace

std::string_view control_commands() {
  return "  status                         counters, and how late answers were, as JSON\n"
         "  fast on|off                    delays off (for mkfs and the first fill) or on\n"
         "  cut [MANNER]                   cut the power now; requests fail until power-on\n"
         "  cut-after-writes N [MANNER]    cut it when the N-th write from now on has come\n"
         "  cut-within TIME [MANNER]       cut it at a moment of that time, as the seed has it\n"
         "  power-on                       serve again what the cut left\n"
         "  end                            unmount and end\n"
         "MANNER is what becomes of writes that were not flushed: drop (none is left), tear (the\n"
         "oldest are left, up to one torn at a sector) or reorder (any are left, one of them "
         "torn).\n";
}

ControlAnswer run_control_command(std::string_view line, ServedDisk& disk) {
  const auto words = words_of(line);
  if (words.empty()) return bad("an empty command");
  if (words[0].starts_with("cut")) {
    if (words[0] == "cut" || words[0] == "cut-after-writes" || words[0] == "cut-within") {
      return run_cut(words, disk);
    }
  } else if (words[0] == "fast") {
    if (words.size() != 2 || (words[1] != "on" && words[1] != "off")) {
      return bad("right would be 'fast on' or 'fast off'");
    }
    disk.set_fast(words[1] == "on");
    return good();
  } else if (words.size() == 1) {
    if (words[0] == "status") return status_answer(disk.status());
    if (words[0] == "power-on") {
      disk.power_on();
      return good();
    }
    if (words[0] == "end") {
      ControlAnswer answer = good();
      answer.end = true;
      return answer;
    }
  }
  return bad(
      "no such command; right would be status, fast, cut, cut-after-writes, cut-within, "
      "power-on or end");
}

}  // namespace workload::disk
