// Asks other ranks about their transactions, answers them, and corrects what was counted.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "workload/client/doubts.h"
#include "workload/client/run_control.h"
#include "workload/client/run_part.h"
#include "workload/client/transactions_under_way.h"
#include "workload/ensemble/clock_match.h"
#include "workload/ensemble/ensemble.h"
#include "workload/ensemble/wire.h"

namespace workload {

/// A rank cannot know at once whether a response that another rank's transaction was made for was
/// shared with it or had been stored before. It counts the likelier case, asks, and adds the
/// difference when the answer comes. All but add() on the process' main thread.
class SharingInquiry final : public DoubtSink {
 public:
  /// `offset`: from this process' clock to the lead's, which messages use. All references must
  /// outlive it.
  SharingInquiry(Ensemble& ensemble, TransactionsUnderWay& under_way, RunControl& control,
                 const ClockOffset& offset, std::chrono::nanoseconds sample_interval);

  void add(DoubtfulTransaction transaction) override;

  /// Sends what is to be asked.
  void look();
  /// The rest of a message of kQuestions, and of kAnswers, from that rank. Throw WireError.
  void answer(size_t from, WireReader& reader);
  void take_answers(size_t from, WireReader& reader);
  /// Whether anything is still in doubt.
  bool open() const;
  /// What answers have changed: to be merged with what was measured. Counters that became smaller
  /// wrap round, and so does the sum.
  const RunPart& corrections() const { return corrections_; }

 private:
  /// What was asked and of whom.
  struct Asked {
    DoubtfulTransaction transaction;
    bool about_cut = false;  ///< Else about `shared`.
    size_t answers_left = 1;
    bool yes = false;
  };
  void ask(std::vector<WireWriter>& messages, std::vector<size_t>& counts,
           const SharingDoubt& doubt, Asked asked);
  void settle(const Asked& asked);
  bool know(const SharingDoubt& doubt) const;

  Ensemble& ensemble_;
  TransactionsUnderWay& under_way_;
  RunControl& control_;
  ClockOffset offset_;
  mutable std::mutex mutex_;
  std::vector<DoubtfulTransaction> added_;
  std::map<uint64_t, Asked> asked_;  ///< By number of the question.
  uint64_t next_number_ = 0;
  RunPart corrections_;
};

}  // namespace workload
