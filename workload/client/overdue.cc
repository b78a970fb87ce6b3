#include "workload/client/overdue.h"

#include <algorithm>
#include <vector>

namespace workload {

void add_overdue(RunPart& part, const RunControl& control, storage::SteadyTime due,
                 uint64_t requests) {
  const auto from = control.recorded_from();
  const auto end = control.run_end();
  if (requests == 0 || control.aborted() || !from || !end || due < *from || due >= *end) return;
  size_t phase = control.phases().size();
  while (phase > 0) {
    const auto began = control.began(--phase);
    if (began && *began <= due) break;
  }
  if (!control.phases()[phase].recorded) return;
  part.recorder.series.at(due - *from).offered += requests;
  part.phases[phase].total.offered += requests;
}

void add_never_taken(RunPart& part, const RunControl& control, const RequestSource& source) {
  const auto from = control.recorded_from();
  const auto end = control.run_end();
  // With a goal of requests that is reached, nothing more was due.
  if (control.aborted() || control.all_granted() || !from || !end || *from >= *end) return;
  // Cut where an interval or a phase begins, so that each piece belongs to one of either.
  std::vector<storage::SteadyTime> cuts{*end};
  for (auto cut = *from; cut < *end; cut += part.recorder.series.interval()) cuts.push_back(cut);
  for (size_t phase = 0; phase < control.phases().size(); ++phase) {
    const auto began = control.began(phase);
    if (began && *began > *from && *began < *end) cuts.push_back(*began);
  }
  std::ranges::sort(cuts);
  uint64_t before = source.not_taken_until(cuts.front());
  for (size_t index = 0; index + 1 < cuts.size(); ++index) {
    const uint64_t until = source.not_taken_until(cuts[index + 1]);
    add_overdue(part, control, cuts[index], until - std::min(before, until));
    before = until;
  }
}

}  // namespace workload
