// The process that decides over a run of several, and what it does for the others.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workload/client/load_options.h"
#include "workload/client/request_source.h"
#include "workload/client/run_part.h"
#include "workload/ensemble/dealt_pages.h"
#include "workload/ensemble/ensemble.h"
#include "workload/ensemble/messages.h"
#include "workload/ensemble/sharing.h"
#include "workload/measure/run_result.h"

namespace workload {

/// Holds the only stream, schedule and RunControl of the run. In a closed loop each rank asks for
/// pages as its robots need them, a few ahead; in an open loop pages are dealt to all ranks in
/// turn, shortly before they are due. What the ranks report moves goals, peak finder and all else
/// on as if it had happened here. All on the process' main thread.
class Lead {
 public:
  /// All references must outlive it. `hosts`: by rank. `start`: the run's.
  Lead(Ensemble& ensemble, const storage::Clock& clock, RunControl& control, RequestSource& source,
       TransactionsUnderWay& under_way, const LoadOptions& options, std::vector<std::string> hosts,
       storage::SteadyTime start, const EnsembleTiming& timing);
  ~Lead();
  Lead(const Lead&) = delete;
  Lead& operator=(const Lead&) = delete;

  /// Where the threads of this process get their pages from.
  PageSource& pages();
  DoubtSink& doubts() { return sharing_; }

  /// Takes what has come and sends what is due. `rate_rps`: that of the open loop as of `now`. Call
  /// it every `poll` or so. Sets the run's abort reason where a rank fails or is lost.
  void look(storage::SteadyTime now, double rate_rps);
  /// A rank was told to stop.
  bool interrupted() const { return interrupted_; }
  /// All other ranks have sent what they measured (or are lost), and nothing is in doubt.
  bool all_ended() const;
  /// Adds what the others measured; after all_ended().
  void merge_into(RunPart& part) const;
  /// Adds, as offered, what was dealt to this process in an open loop, or drawn to be dealt, and
  /// was due before the run's end without being sent. After the run.
  void add_never_sent(RunPart& part);
  /// A rank was lost: it may never end by itself.
  bool lost_any() const;

  /// By rank, the lead first; after all_ended(). `own`: this process' part.
  std::vector<RankResult> reports(const RunPart& own) const;
  /// What ranks warned of, with their names.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Rank;

  void take_message(const EnsembleMessage& got, storage::SteadyTime now);
  void take_report(Rank& rank, WireReader& reader, storage::SteadyTime now);
  void take_result(Rank& rank, WireReader& reader);
  void serve(Rank& rank, uint64_t wanted, storage::SteadyTime now);
  void take_back(Rank& rank, ScheduledPage page);
  void deal(storage::SteadyTime now);
  bool exhausted(storage::SteadyTime now) const;
  void send_word(Rank& rank, storage::SteadyTime now);
  void lose(Rank& rank, const std::string& why);
  std::string name_of(const Rank& rank) const;

  Ensemble& ensemble_;
  const storage::Clock& clock_;
  RunControl& control_;
  RequestSource& source_;
  TransactionsUnderWay& under_way_;
  const LoadOptions& options_;
  EnsembleTiming timing_;
  std::vector<std::unique_ptr<Rank>> ranks_;  ///< By rank; the first is this process' own.
  DealtPages own_pages_;                      ///< Of an open loop.
  SharingInquiry sharing_;
  double rate_rps_ = 0;
  std::optional<ScheduledPage> next_page_;  ///< Drawn, and not due soon enough yet.
  size_t turn_ = 0;
  bool all_dealt_ = false;
  bool interrupted_ = false;
  bool abort_told_ = false;
  std::vector<std::string> warnings_;
};

/// Tells all other ranks how the run ends. Nothing may be sent afterwards.
void send_final(Ensemble& ensemble, int exit_status);

}  // namespace workload
