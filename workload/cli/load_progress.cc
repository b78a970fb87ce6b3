#include "workload/cli/load_progress.h"

#include <cmath>
#include <sstream>

#include "storage/base/units.h"

namespace workload {
namespace {

constexpr double kEveryS = 1;

}  // namespace

std::string progress_line(const LoadProgress& progress, const LiveCounts& before, double length_s) {
  const LiveCounts& now = progress.counts;
  const uint64_t good = now.good - before.good;
  std::ostringstream line;
  line.setf(std::ios::fixed);
  line.precision(0);
  line << "load: " << progress.elapsed_s << " s, "
       << (progress.phase.empty() ? "" : progress.phase + " ") << progress.share * 100 << " %";
  if (progress.left_s) {
    line << ", "
         << storage::format_duration(std::chrono::nanoseconds(std::llround(*progress.left_s * 1e9)))
         << " left";
  }
  line << ", " << static_cast<double>(good) / length_s << " good/s";
  if (progress.rate_rps > 0) line << " of " << progress.rate_rps << "/s";
  line.precision(1);
  if (good > 0) {
    const auto sum_ns = static_cast<double>(now.response_time_ns - before.response_time_ns);
    line << ", " << sum_ns / static_cast<double>(good) / 1e6 << " ms";
  }
  if (now.basic > before.basic) {
    line << ", hits " << *percent_of(now.basic_hits - before.basic_hits, now.basic - before.basic)
         << " %";
  }
  line << ", " << now.errors << " errors";
  if (now.not_sent > 0) line << ", " << now.not_sent << " never sent";
  line.precision(2);
  if (progress.fill_ratio) line << ", fill " << *progress.fill_ratio;
  return line.str();
}

void ProgressPrinter::operator()(const LoadProgress& progress) {
  const double length_s = progress.elapsed_s - last_s_;
  if (length_s < kEveryS && (progress.phase == phase_ || length_s <= 0)) return;
  phase_ = progress.phase;
  const std::string line = progress_line(progress, last_, length_s);
  out_ << (terminal_ ? "\r\033[K" : "") << line << (terminal_ ? "" : "\n") << std::flush;
  last_s_ = progress.elapsed_s;
  last_ = progress.counts;
}

void ProgressPrinter::finish() {
  if (terminal_) out_ << "\r\033[K" << std::flush;
}

}  // namespace workload
