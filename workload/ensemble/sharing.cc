#include "workload/ensemble/sharing.h"

#include <utility>

#include "workload/ensemble/messages.h"
#include "workload/ensemble/wire_run.h"

namespace workload {
namespace {

constexpr uint64_t kDoubtKindMax = static_cast<uint64_t>(SharingDoubt::Kind::kObjectBrokenOff);
/// Longest slack that is answered for: as long as ends are remembered.
constexpr uint64_t kSlackMaxNs = 1'000'000'000;

}  // namespace

SharingInquiry::SharingInquiry(Ensemble& ensemble, TransactionsUnderWay& under_way,
                               RunControl& control, const ClockOffset& offset,
                               std::chrono::nanoseconds sample_interval)
    : ensemble_(ensemble),
      under_way_(under_way),
      control_(control),
      offset_(offset),
      corrections_(sample_interval, control.phases().size()) {}

void SharingInquiry::add(DoubtfulTransaction transaction) {
  const std::lock_guard lock(mutex_);
  added_.push_back(std::move(transaction));
}

bool SharingInquiry::open() const {
  const std::lock_guard lock(mutex_);
  return !added_.empty() || !asked_.empty();
}

void SharingInquiry::ask(std::vector<WireWriter>& messages, std::vector<size_t>& counts,
                         const SharingDoubt& doubt, Asked asked) {
  const auto owner = under_way_.ids().rank_of(doubt.id);
  const bool of_all = doubt.kind == SharingDoubt::Kind::kObjectBrokenOff;
  const uint64_t number = next_number_++;
  asked.answers_left = 0;
  for (size_t rank = 0; rank < messages.size(); ++rank) {
    if (rank == ensemble_.rank() || (!of_all && rank != owner)) continue;
    WireWriter& writer = messages[rank];
    writer.flag(true);
    writer.number(number);
    writer.number(static_cast<uint64_t>(doubt.kind));
    writer.number(doubt.id);
    put_time(writer, offset_.to_there(doubt.instant));
    writer.number(static_cast<uint64_t>(doubt.slack.count()));
    ++counts[rank];
    ++asked.answers_left;
  }
  if (asked.answers_left == 0) return settle(asked);
  asked_.emplace(number, std::move(asked));
}

void SharingInquiry::look() {
  std::vector<DoubtfulTransaction> added;
  {
    const std::lock_guard lock(mutex_);
    added.swap(added_);
  }
  if (added.empty()) return;
  std::vector<WireWriter> messages(ensemble_.size(), message(MessageKind::kQuestions));
  std::vector<size_t> counts(ensemble_.size(), 0);
  for (DoubtfulTransaction& transaction : added) {
    // Whether it was cut as planned is settled first.
    const bool about_cut = transaction.cut.has_value();
    const SharingDoubt doubt = about_cut ? transaction.cut->doubt : *transaction.shared;
    Asked asked;
    asked.transaction = std::move(transaction);
    asked.about_cut = about_cut;
    ask(messages, counts, doubt, std::move(asked));
  }
  for (size_t rank = 0; rank < messages.size(); ++rank) {
    if (counts[rank] == 0) continue;
    messages[rank].flag(false);
    ensemble_.send(rank, messages[rank].take());
  }
}

bool SharingInquiry::know(const SharingDoubt& doubt) const {
  switch (doubt.kind) {
    case SharingDoubt::Kind::kUnderWay:
      return under_way_.was_under_way(doubt.id, doubt.instant, doubt.slack);
    case SharingDoubt::Kind::kBrokenOff:
      return under_way_.was_under_way(doubt.id, doubt.instant, doubt.slack) &&
             under_way_.to_be_broken_off(doubt.id);
    case SharingDoubt::Kind::kObjectBrokenOff:
      return under_way_.object_broken_off(doubt.id, doubt.instant, doubt.slack);
  }
  return false;
}

void SharingInquiry::answer(size_t from, WireReader& reader) {
  WireWriter answers = message(MessageKind::kAnswers);
  while (reader.flag()) {
    const uint64_t number = reader.number();
    SharingDoubt doubt;
    doubt.kind = static_cast<SharingDoubt::Kind>(reader.number_up_to(kDoubtKindMax));
    doubt.id = reader.number();
    doubt.instant = offset_.to_here(get_time(reader));
    doubt.slack = storage::Nanoseconds(static_cast<int64_t>(reader.number_up_to(kSlackMaxNs)));
    answers.flag(true);
    answers.number(number);
    answers.flag(know(doubt));
  }
  answers.flag(false);
  ensemble_.send(from, answers.take());
}

void SharingInquiry::take_answers(size_t, WireReader& reader) {
  while (reader.flag()) {
    const uint64_t number = reader.number();
    const bool yes = reader.flag();
    const auto found = asked_.find(number);
    if (found == asked_.end()) throw WireError("an answer to what was not asked");
    Asked& asked = found->second;
    asked.yes = asked.yes || yes;
    if (--asked.answers_left > 0) continue;
    settle(asked);
    asked_.erase(found);
  }
}

void SharingInquiry::settle(const Asked& asked) {
  const DoubtfulTransaction& transaction = asked.transaction;
  const TransactionRecord& record = transaction.record;
  std::vector<Tally*> tallies;
  if (transaction.counted) {
    tallies = {&corrections_.recorder.series.at(transaction.elapsed),
               &corrections_.phases[transaction.phase].total};
  }
  if (asked.about_cut && !asked.yes) {
    // It was no planned end.
    for (Tally* const tally : tallies) {
      --tally->cut;
      ++tally->errors[static_cast<size_t>(transaction.cut->error) - 1];
    }
    control_.was_error();
    if (corrections_.first_error.empty()) corrections_.first_error = transaction.cut->detail;
    return;
  }
  if (asked.about_cut) {
    if (!transaction.shared) return;
    // It was one, and counts as such now; whether it was shared at its start is the next question.
    DoubtfulTransaction rest = transaction;
    rest.cut.reset();
    return add(std::move(rest));
  }
  if (!asked.yes) return;
  for (Tally* const tally : tallies) {
    if (record.ending == Ending::kCut) {
      ++tally->cut_shared;
    } else if (record.good() && record.basic && record.outcome == Outcome::kHit) {
      ++tally->shared_hits;
    }
  }
}

}  // namespace workload
