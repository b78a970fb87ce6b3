#include "workload/experiment/progress.h"

#include "storage/base/units.h"
#include "workload/report/json_text.h"
#include "workload/report/summary.h"

namespace workload {

Progress::Progress(std::ostream& out, bool is_terminal, size_t runs,
                   std::optional<double> estimated_s)
    : out_(out), is_terminal_(is_terminal), runs_(runs) {
  if (estimated_s && runs > 0) {
    estimated_per_run_s_ = *estimated_s / static_cast<double>(runs);
  }
}

std::string Progress::time_left() const {
  std::optional<double> per_run_s = estimated_per_run_s_;
  // What runs really took is better than what they should take.
  if (done_ > 0) per_run_s = spent_s_ / static_cast<double>(done_);
  if (!per_run_s) return {};
  const double left_s = *per_run_s * static_cast<double>(runs_ - done_ - skipped_);
  if (left_s < 1) return {};
  return ", about " +
         storage::format_duration(std::chrono::seconds(static_cast<int64_t>(left_s + 0.5))) +
         " left";
}

void Progress::begin_run(const std::string& cell, unsigned round, unsigned rounds) {
  run_began_ = std::chrono::steady_clock::now();
  current_ = "run " + std::to_string(done_ + skipped_ + 1) + " of " + std::to_string(runs_) +
             " (round " + std::to_string(round) + " of " + std::to_string(rounds) + "): " + cell;
  if (is_terminal_) out_ << "\r\033[K" << current_ << time_left() << std::flush;
}

void Progress::end_run(const std::string& result) {
  spent_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - run_began_).count();
  ++done_;
  if (is_terminal_) out_ << "\r\033[K";
  out_ << current_ << ": " << result << time_left() << std::endl;
  current_.clear();
}

void Progress::skip_run() {
  ++skipped_;
}

void Progress::finish() {
  if (is_terminal_ && !current_.empty()) out_ << "\r\033[K";
  if (skipped_ > 0) out_ << skipped_ << " finished runs were kept\n";
  out_ << std::flush;
}

std::string figure_of(const boost::json::object& record) {
  std::string text = figure_text(number_at(record, "throughput_rps")) + " responses/s, " +
                     figure_text(number_at(record, "response_time_ms.mean")) + " ms, " +
                     figure_text(number_at(record, "hit_ratio_percent")) + " % hits";
  const std::string failure = text_at(record, "failure");
  if (!failure.empty()) text += ", not counted: " + failure;
  return text;
}

}  // namespace workload
