#include "storage/layout/rock_check.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "storage/io/blocking.h"
#include "storage/layout/aligned_buffer.h"
#include "storage/layout/rock_clean_index.h"
#include "storage/layout/rock_options.h"
#include "storage/layout/rock_scan.h"
#include "storage/layout/rock_volume.h"
#include "storage/replacement/lru.h"

namespace storage {

namespace {

void note(CheckReport& report, uint32_t slot, std::string what) {
  if (report.findings.size() >= CheckReport::kFindingsMax) return;
  report.findings.push_back(CheckFinding{"slot " + std::to_string(slot), std::move(what)});
}

void report_scan(const RockScan& scan, const RockGeometry& geometry, CheckReport& report) {
  report.objects = scan.objects.size();
  for (const RockFoundObject& object : scan.objects) {
    report.size_bytes += object.chain.slots.size() * geometry.slot_size_bytes;
    report.body_bytes += object.body_size_bytes;
  }
  report.damaged = scan.damaged_slots.size() + scan.broken.size();
  report.unreadable = scan.unreadable_slots.size();
  report.duplicates = scan.older_versions;
  for (const uint32_t slot : scan.damaged_slots) {
    note(report, slot, "began an object, and is damaged");
  }
  for (const uint32_t slot : scan.broken) {
    note(report, slot, "begins an object whose chain is damaged");
  }
  for (const uint32_t slot : scan.unreadable_slots) note(report, slot, "cannot be read");
}

// What a clean stop has left against what the slots say.
Task<void> check_index(File& file, const RockGeometry& geometry, const RockState& state,
                       const RockScan& scan, CheckReport& report) {
  RockIndex index(std::make_unique<LruPolicy>(), geometry.slot_count, 128);
  RockSlots slots(geometry.slot_count);
  const Result<bool> loaded = co_await load_rock_index(file, geometry, state, index, slots);
  if (!loaded) co_return loaded.error();
  if (!*loaded) {
    report.log_damaged = 1;
    report.findings.push_back(
        CheckFinding{"index", "of the last clean stop is damaged: the next start reads all slots"});
    co_return Result<void>();
  }
  report.log_records = index.count();
  uint64_t listed = 0;
  for (const RockFoundObject& object : scan.objects) {
    if (index.current(object.version)) {
      ++listed;
      continue;
    }
    ++report.unlisted;
    note(report, object.version.head_slot, "begins an object that is not in the index");
  }
  report.missing = index.count() - listed;
  // After a clean stop nothing else can have become of them.
  report.damaged = std::max(report.damaged, report.missing);
  co_return Result<void>();
}

Task<CheckReport> check(const RockVolume& volume, const SchemeEnvironment& environment) {
  BlockingEngine engine(environment.clock, volume.directory_fd());
  Result<std::unique_ptr<File>> opened = co_await engine.open(volume.name(), OpenMode::kRead);
  if (!opened) co_return opened.error();
  const std::shared_ptr<File> file = std::move(*opened);
  const RockGeometry geometry = volume.geometry();
  CheckReport report;
  const Space page = make_aligned_buffer(kRockPageSize);
  const Result<size_t> got = co_await file->read(kRockStateOffset, page.bytes());
  if (!got) co_return got.error();
  const std::optional<RockState> state =
      decode_rock_state(geometry.store_id, page.bytes().first(*got));
  report.clean = state && state->clean;
  const Result<RockScan> scan =
      co_await scan_rock(file, geometry, geometry.slot_count, 128, environment.executor);
  if (!scan) co_return scan.error();
  report_scan(*scan, geometry, report);
  if (report.clean) {
    const Result<void> compared = co_await check_index(*file, geometry, *state, *scan, report);
    if (!compared) co_return compared.error();
  }
  co_return report;
}

}  // namespace

Task<CheckReport> check_rock(SchemeSpec spec, SchemeEnvironment environment) {
  CheckReport failed;
  const std::unique_ptr<RockVolume> volume =
      RockVolume::open(spec.path, RockOptions(), 0, RockVolume::Access::kInspect, failed.error);
  if (volume == nullptr) co_return failed;
  Result<CheckReport> report = co_await check(*volume, environment);
  if (report) co_return report;
  failed.error = spec.path.string() + ": the check cannot go on: " + to_string(report.error());
  co_return failed;
}

}  // namespace storage
