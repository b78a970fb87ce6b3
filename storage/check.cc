#include "storage/check.h"

#include <algorithm>

#include "storage/base/units.h"

namespace storage {

namespace {

std::string line(uint64_t count, std::string_view what) {
  return "  " + std::to_string(count) + " " + std::string(what) + "\n";
}

}  // namespace

Task<CheckReport> check_store(SchemeSpec spec, SchemeEnvironment environment) {
  CheckReport report;
  report.usage = true;
  const auto rows = registry();
  const auto row = std::ranges::find(rows, spec.scheme, &SchemeRow::name);
  const bool checkable = row == rows.end() || row->check != nullptr;
  report.error = checkable ? check_spec(spec)
                           : "scheme " + spec.scheme + " keeps nothing that could be checked";
  if (!report.error.empty()) co_return report;
  co_return co_await row->check(std::move(spec), environment);
}

std::string describe(const CheckReport& report) {
  if (!report.error.empty()) return report.error + "\n";
  std::string text = std::string(report.sound() ? "sound" : "DAMAGED") + ", last stop " +
                     (report.clean ? "clean" : "not clean") + "\nholds\n";
  text += line(report.objects, "objects, every byte verified");
  text += "  " + format_size(report.body_bytes) + " of bodies in " +
          format_size(report.size_bytes) + " on disk\n";
  text += "damaged\n";
  text += line(report.damaged, "objects that fail their checks");
  text += line(report.unreadable, "objects that cannot be read");
  text += line(report.log_damaged,
               "of " + std::to_string(report.log_records + report.log_damaged) + " log records");
  text += "dropped by the next start\n";
  text += line(report.strays, "leftovers of unfinished writes");
  text += line(report.duplicates, "older versions");
  text += "for information\n";
  text += line(report.unlisted, "objects that the log does not know");
  text += line(report.missing, "objects of the log without a file");
  text += line(report.foreign, "files that are not the store's, left alone");
  for (const std::string& warning : report.warnings) text += "warning: " + warning + "\n";
  if (!report.findings.empty()) text += "findings\n";
  for (const CheckFinding& finding : report.findings) {
    text += "  " + finding.file + " " + finding.what + "\n";
  }
  const uint64_t all = report.damaged + report.unreadable + report.duplicates + report.strays +
                       report.missing + (report.log_damaged > 0 ? 1 : 0);
  if (all > report.findings.size()) text += "  ... and more\n";
  return text;
}

}  // namespace storage
