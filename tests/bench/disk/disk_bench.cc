// Measures the modelled disk with fio, as a block device, against its own formulas. How to run it
// and what it found: docs/modelled-disk.md.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "storage/base/units.h"
#include "tests/bench/fio.h"
#include "tests/bench/samples.h"
#include "tests/support/modelled_disk.h"
#include "workload/disk/prediction.h"
#include "workload/disk/profile_file.h"

namespace {

using workload::disk::DiskProfile;
using workload::disk::DiskTime;
using workload::disk::LoadPattern;

constexpr const char* kUsage =
    "usage: disk_bench [--profile NAME|FILE] [--size SIZE] [--time-scale K] [--seconds N]\n"
    "                  [--rounds N] [--filesystem ext4|xfs] [--out FILE.json]\n"
    "As root. With a filesystem, fio has a file that fills most of it. At a time scale below 1 the "
    "disk is slower than it says, and what the machine adds\n"
    "weighs less: right for a fast disk, or a busy machine.\n"
    "For example: disk_bench --profile scsi-2003 --seconds 20 --rounds 6 --out figures.json\n";

/// More than this between fio and the formula is a failed run.
constexpr double kDeviationMax = 0.05;

struct Arguments {
  std::string profile = "scsi-2003";
  uint64_t size_bytes = 0;
  double time_scale = 1;
  uint64_t seconds = 10;
  uint64_t rounds = 1;
  std::string filesystem;  ///< Empty: the device itself.
  std::string out;
};

bool parse(const std::vector<std::string>& arguments, Arguments& parsed) {
  if (arguments.size() % 2 != 0) return false;
  for (size_t at = 0; at < arguments.size(); at += 2) {
    const std::string& option = arguments[at];
    const std::string& value = arguments[at + 1];
    if (option == "--profile") {
      parsed.profile = value;
    } else if (option == "--size") {
      parsed.size_bytes = storage::parse_size_bytes(value).value_or(0);
      if (parsed.size_bytes == 0) return false;
    } else if (option == "--time-scale") {
      parsed.time_scale = std::atof(value.c_str());
    } else if (option == "--seconds") {
      parsed.seconds = storage::parse_count(value).value_or(0);
    } else if (option == "--rounds") {
      parsed.rounds = storage::parse_count(value).value_or(0);
    } else if (option == "--filesystem") {
      if (value != "ext4" && value != "xfs") return false;
      parsed.filesystem = value;
    } else if (option == "--out") {
      parsed.out = value;
    } else {
      return false;
    }
  }
  return parsed.time_scale > 0 && parsed.seconds >= 1 && parsed.rounds >= 1;
}

/// One pattern over all rounds.
struct Cell {
  explicit Cell(const LoadPattern& pattern_in)
      : pattern(pattern_in),
        name(pattern.fio_name() + " " + std::to_string(pattern.block_bytes / 1024) + "K depth " +
             std::to_string(pattern.depth)),
        rate(name + ", fio", "1/s of the disk"),
        ratio(name + ", fio / formula", ""),
        ratio_with_host(name + ", fio / formula with host time", ""),
        host(name + ", host time", "ms of the disk"),
        late(name + ", answers late by", "us") {}

  LoadPattern pattern;
  std::string name;
  bench::Samples rate;
  bench::Samples ratio;
  bench::Samples ratio_with_host;
  bench::Samples host;
  bench::Samples late;
};

double number_at(const boost::json::object& status, const char* key) {
  return status.at(key).to_number<double>();
}

double counter(const boost::json::object& status, const char* key) {
  return status.at("counters").at(key).to_number<double>();
}

/// What fio reads and writes: a device, or a file on a filesystem of the device.
struct Target {
  std::filesystem::path path;
  uint64_t size_bytes = 0;
};

/// Makes a file of nine tenths of what is free, every block of it written, so that later writes
/// change no metadata but its time. Nothing where there is no room, or the disk does not take it.
std::optional<Target> make_file(const testing_support::ModelledDisk& disk,
                                const std::filesystem::path& folder) {
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (error) return std::nullopt;
  const uint64_t chunk_bytes = storage::kMiB;
  const Target target{folder / "file", space.available / 10 * 9 / chunk_bytes * chunk_bytes};
  disk.control("fast on");
  std::ofstream out(target.path, std::ios::binary);
  const std::string chunk(chunk_bytes, 'c');
  for (uint64_t written = 0; written < target.size_bytes && out; written += chunk_bytes) {
    out.write(chunk.data(), static_cast<std::streamsize>(chunk_bytes));
  }
  out.close();
  ::sync();
  disk.control("fast off");
  if (!out || target.size_bytes == 0) return std::nullopt;
  return target;
}

/// False where fio or the disk did not answer.
bool measure(const testing_support::ModelledDisk& disk, const Target& target,
             const DiskProfile& profile, const Arguments& arguments, Cell& cell,
             DiskTime& host_of_reads) {
  // Two seconds of the disk's own, in which a write cache fills.
  const auto warm_up_s = static_cast<uint64_t>(2 / std::min(1.0, arguments.time_scale));
  const auto before = disk.control("status");
  const bench::FioResult fio =
      bench::run_fio(target.path, cell.pattern.fio_name(), cell.pattern.block_bytes,
                     cell.pattern.depth, warm_up_s, arguments.seconds);
  const auto after = disk.control("status");
  if (fio.rate == 0 || before.empty() || after.empty()) return false;
  const double answers = number_at(after, "answers") - number_at(before, "answers");
  // At depth 1 the disk is idle from a command's end to the next one's arrival, and the response
  // time that fio saw is the disk's but for what lies between: the part of it that idled.
  const double rate = fio.rate / arguments.time_scale;
  DiskTime host{0};
  if (cell.pattern.depth == 1) {
    const double service = (counter(after, "busy_s") - counter(before, "busy_s")) / answers;
    host = DiskTime(std::llround(std::max(0.0, 1 / rate - service) * 1e9));
    // Writes that a cache took end while the disk is busy: what a read had is all that is known.
    if (cell.pattern.write && profile.write_cache_bytes > 0) host = host_of_reads;
    if (!cell.pattern.write) host_of_reads = host;
  }
  const auto plain = formula_rate(profile, target.size_bytes, cell.pattern, DiskTime(0));
  const auto with_host = formula_rate(profile, target.size_bytes, cell.pattern, host);
  cell.rate.add(rate);
  if (plain) cell.ratio.add(rate / *plain);
  if (with_host) cell.ratio_with_host.add(rate / *with_host);
  cell.host.add(storage::seconds_of(host) * 1e3);
  const double late = number_at(after, "late_mean_us") * number_at(after, "answers") -
                      number_at(before, "late_mean_us") * number_at(before, "answers");
  cell.late.add(late / answers);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  Arguments arguments;
  if (!parse(words, arguments)) {
    std::cerr << kUsage;
    return 2;
  }
  std::string error;
  auto profile = workload::disk::load_profile(arguments.profile, error);
  if (!profile) {
    std::cerr << "disk_bench: --profile " << error << '\n';
    return 2;
  }
  if (arguments.size_bytes != 0) profile->size_bytes = arguments.size_bytes;
  testing_support::ModelledDisk disk({"--profile", arguments.profile, "--size",
                                      std::to_string(profile->size_bytes), "--time-scale",
                                      std::to_string(arguments.time_scale)});
  if (!disk.problem().empty()) {
    std::cerr << "disk_bench: " << disk.problem() << '\n';
    return 1;
  }
  Target target{disk.path(), profile->size_bytes};
  std::optional<testing_support::MountedFilesystem> filesystem;
  if (!arguments.filesystem.empty()) {
    disk.control("fast on");
    filesystem.emplace(disk, arguments.filesystem);
    const auto file = filesystem->mounted() ? make_file(disk, filesystem->path()) : std::nullopt;
    if (!file) {
      std::cerr << "disk_bench: no file could be made on " << arguments.filesystem << ": "
                << (filesystem->problem().empty() ? "no room" : filesystem->problem()) << '\n';
      return 1;
    }
    target = *file;
  }
  bench::Report report;
  if (filesystem) {
    report.note("a file of " + storage::format_size(target.size_bytes) + " on " +
                arguments.filesystem);
  }
  report.note(profile->name + ", " + storage::format_size(profile->size_bytes) + ", time scale " +
              std::to_string(arguments.time_scale) + "; rates and host times as of scale 1");
  std::vector<Cell> cells;
  for (const bool sequential : {false, true}) {
    for (const bool write : {false, true}) {
      for (const uint64_t depth : {1, 16}) {
        LoadPattern pattern;
        pattern.sequential = sequential;
        pattern.write = write;
        pattern.depth = depth;
        pattern.block_bytes = sequential ? 64 * storage::kKiB : 4 * storage::kKiB;
        cells.emplace_back(pattern);
      }
    }
  }
  for (uint64_t round = 0; round < arguments.rounds; ++round) {
    DiskTime host_of_reads{0};
    for (Cell& cell : cells) {
      // What the last pattern left in the write cache is not this one's.
      disk.control("fast on");
      disk.control("fast off");
      if (measure(disk, target, *profile, arguments, cell, host_of_reads)) continue;
      std::cerr << "disk_bench: fio failed, or the disk did not answer (is fio installed?)\n";
      return 1;
    }
  }
  bool good = true;
  for (const Cell& cell : cells) {
    for (const bench::Samples* samples :
         {&cell.rate, &cell.ratio, &cell.ratio_with_host, &cell.host, &cell.late}) {
      if (!samples->empty()) report.add(profile->name, *samples);
    }
    good = good && !cell.ratio_with_host.empty() &&
           std::abs(cell.ratio_with_host.median() - 1) <= kDeviationMax;
  }
  std::string command = "disk_bench";
  for (const std::string& word : words) command += " " + word;
  if (!arguments.out.empty() && !report.write(arguments.out, command)) {
    std::cerr << "disk_bench: cannot write " << arguments.out << '\n';
    return 1;
  }
  std::cout << (good ? "all within 5 % of the formula with the host's time\n"
                     : "NOT all within 5 % of the formula with the host's time\n");
  return good ? 0 : 1;
}
