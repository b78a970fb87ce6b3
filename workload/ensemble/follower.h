// A process of a run that another one decides over.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workload/client/load_options.h"
#include "workload/client/run_part.h"
#include "workload/ensemble/clock_match.h"
#include "workload/ensemble/dealt_pages.h"
#include "workload/ensemble/ensemble.h"
#include "workload/ensemble/messages.h"
#include "workload/ensemble/muster.h"
#include "workload/ensemble/sharing.h"

namespace workload {

/// Keeps a few pages in hand for this process' threads, tells the lead what they did, and takes
/// over what it decides. No thread ever waits for a message: one that finds no page is woken when
/// some have come. All on the process' main thread.
class Follower {
 public:
  /// All references must outlive it. `control` follows; `start` is as start_as_follower() gave it.
  Follower(Ensemble& ensemble, const storage::Clock& clock, RunControl& control,
           TransactionsUnderWay& under_way, const LoadOptions& options, const RunStart& start,
           const EnsembleTiming& timing);

  PageSource& pages() { return pages_; }
  DoubtSink& doubts() { return sharing_; }

  /// Takes what has come and reports what is due. Call it every `poll` or so. A lead that says
  /// nothing for too long ends the run here too.
  void look(storage::SteadyTime now, bool interrupted);
  /// All that this process has asked is answered, or never will be.
  bool settled() const { return !sharing_.open() || lost_; }
  /// Adds, as offered, what this process had in hand in an open loop and that was due before the
  /// run's end. After its threads have ended.
  void add_never_sent(RunPart& part) const;
  /// Sends what was measured; after settled().
  void send_result(RunPart part, const std::vector<std::string>& warnings, storage::SteadyTime now);
  /// The exit status that the lead has said; nothing until then.
  std::optional<int> final_status() const { return final_status_; }
  /// The lead was lost.
  bool lost() const { return lost_; }
  const std::string& loss() const { return loss_; }

 private:
  void take_message(const EnsembleMessage& got, storage::SteadyTime now);
  void take_word(WireReader& reader, storage::SteadyTime now);
  void lose(const std::string& why);
  uint64_t wanted(storage::SteadyTime now);
  bool idle(storage::SteadyTime now) const;
  void report(storage::SteadyTime now, bool interrupted, uint64_t wanted);

  Ensemble& ensemble_;
  const storage::Clock& clock_;
  RunControl& control_;
  TransactionsUnderWay& under_way_;
  const LoadOptions& options_;
  EnsembleTiming timing_;
  ClockOffset offset_;
  ClockMatch later_match_;  ///< Over the run's round trips.
  storage::SteadyTime match_since_{};
  DealtPages pages_;
  SharingInquiry sharing_;
  std::vector<EnsembleMessage> early_;
  storage::SteadyTime heard_{};
  storage::SteadyTime reported_{};
  bool report_open_ = false;     ///< It was not replied to yet.
  bool told_exhausted_ = false;  ///< There was nothing left once.
  bool abort_reported_ = false;
  bool interrupt_reported_ = false;
  bool told_to_abort_ = false;
  LiveCounts counts_reported_;
  std::vector<uint64_t> fills_reported_;  ///< By phase.
  uint64_t handed_out_before_ = 0;
  uint64_t waiting_seen_ = 0;  ///< Of whom the next report asks for.
  double pages_per_s_ = 0;     ///< That were handed out lately.
  storage::SteadyTime rate_since_{};
  bool result_sent_ = false;
  std::optional<int> final_status_;
  bool lost_ = false;
  std::string loss_;
};

}  // namespace workload
