#include "workload/ensemble/follower.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "storage/base/units.h"
#include "workload/ensemble/wire_part.h"
#include "workload/ensemble/wire_run.h"

namespace workload {
namespace {

/// Pages in hand last for so long at the pace that they go at.
constexpr double kInHandS = 0.03;
constexpr uint64_t kInHandMax = 8192;
/// How fast an estimate of that pace falls, a report.
constexpr double kPaceKept = 0.8;
/// The clocks are compared anew over so long.
constexpr std::chrono::seconds kMatchWindow{10};

}  // namespace

Follower::Follower(Ensemble& ensemble, const storage::Clock& clock, RunControl& control,
                   TransactionsUnderWay& under_way, const LoadOptions& options,
                   const RunStart& start, const EnsembleTiming& timing)
    : ensemble_(ensemble),
      clock_(clock),
      control_(control),
      under_way_(under_way),
      options_(options),
      timing_(timing),
      offset_(start.offset),
      match_since_(start.at),
      pages_(control, start.at),
      sharing_(ensemble, under_way, control, start.offset, options.sample_interval),
      early_(start.early),
      heard_(start.at),
      reported_(start.at),
      fills_reported_(control.phases().size(), 0),
      rate_since_(start.at) {}

void Follower::lose(const std::string& why) {
  if (lost_) return;
  lost_ = true;
  loss_ = why;
  control_.abort(why);
}

void Follower::look(storage::SteadyTime now, bool interrupted) {
  try {
    for (const EnsembleMessage& got : std::exchange(early_, {})) take_message(got, now);
    while (const auto got = ensemble_.receive()) take_message(*got, now);
  } catch (const WireError& error) {
    lose(error.what());
  }
  // Behind the run the lead writes files and says nothing meanwhile.
  const auto patience = result_sent_ ? timing_.silence + timing_.opening : timing_.silence;
  if (now - heard_ > patience) {
    lose("rank 0 does not answer for " +
         std::to_string(static_cast<int>(storage::seconds_of(patience))) + " s");
  }
  if (lost_ || final_status_) return;
  sharing_.look();
  const bool news = (interrupted && !interrupt_reported_) ||
                    (control_.aborted() && !told_to_abort_ && !abort_reported_);
  if (report_open_ && !news) return;
  const bool due = now - reported_ >= timing_.report || pages_.any_overdue();
  const uint64_t pages = wanted(now);
  // Less than half of what should be in hand is soon nothing.
  if (due || news || pages > pages_.on_hand()) report(now, interrupted, pages);
}

bool Follower::idle(storage::SteadyTime now) const {
  if (options_.load.open_loop()) return false;
  const double active = control_.factors(now).robots * static_cast<double>(options_.load.robots);
  return static_cast<double>(options_.first_thread()) >= std::max(1.0, std::round(active)) ||
         control_.factors(now).robots <= 0;
}

uint64_t Follower::wanted(storage::SteadyTime now) {
  if (options_.load.open_loop() || control_.over(now)) return 0;
  const double elapsed_s = storage::seconds_of(now - rate_since_);
  const uint64_t handed_out = pages_.handed_out();
  if (elapsed_s >= storage::seconds_of(timing_.report)) {
    const auto pages = static_cast<double>(handed_out - handed_out_before_);
    pages_per_s_ = std::max(pages_per_s_ * kPaceKept, pages / elapsed_s);
    handed_out_before_ = handed_out;
    rate_since_ = now;
  }
  waiting_seen_ = pages_.waiting();
  const auto ahead = static_cast<uint64_t>(std::ceil(pages_per_s_ * kInHandS));
  const uint64_t in_hand = std::min(std::max<uint64_t>(ahead, 1), kInHandMax);
  // Once there was nothing left, only what others give back can come: robots may have gone home by
  // then, so a page is asked for where one waits for it and not ahead.
  const bool ask_ahead = !idle(now) && !control_.all_granted() && !told_exhausted_;
  const uint64_t target = std::min(waiting_seen_, kInHandMax) + (ask_ahead ? in_hand : 0);
  const uint64_t on_hand = pages_.on_hand();
  return target > on_hand ? target - on_hand : 0;
}

void Follower::report(storage::SteadyTime now, bool interrupted, uint64_t wanted) {
  WireWriter writer = message(MessageKind::kReport);
  put_time(writer, clock_.steady_now());
  const RankMark mark = under_way_.mark(clock_);
  // Later by what the clocks may differ: then nothing that counts as ended ended afterwards.
  put_time(writer, offset_.to_there(mark.at) + offset_.bound);
  writer.number(*mark.first_open);
  const LiveCounts counts = control_.live();
  put_counts(writer, counts_since(counts, counts_reported_));
  counts_reported_ = counts;
  std::vector<PhaseFill> fills = control_.own_fills();
  for (PhaseFill& fill : fills) {
    fill.bytes -= std::exchange(fills_reported_[fill.phase], fill.bytes);
  }
  put_fills(writer, fills);
  // Counted before it is taken: what comes in between is told with the next report.
  const uint64_t give_backs = control_.give_backs();
  put_grants(writer, control_.take_given_back());
  writer.number(give_backs);
  std::vector<ScheduledPage> unused = pages_.take_overdue();
  if (idle(now) && !control_.all_granted()) {
    for (ScheduledPage& page : pages_.take_all()) unused.push_back(std::move(page));
  }
  writer.number(unused.size());
  for (const ScheduledPage& page : unused) put_page(writer, page);
  writer.number(wanted);
  pages_.asked_for(std::exchange(waiting_seen_, 0));
  abort_reported_ = control_.aborted() && !told_to_abort_;
  writer.text(abort_reported_ ? control_.abort_reason() : std::string());
  interrupt_reported_ = interrupted;
  writer.flag(interrupted);
  reported_ = now;
  report_open_ = true;
  ensemble_.send(0, writer.take());
}

void Follower::take_message(const EnsembleMessage& got, storage::SteadyTime now) {
  WireReader reader(got.bytes);
  const MessageKind kind = kind_of(reader);
  if (kind == MessageKind::kQuestions) {
    sharing_.answer(got.from, reader);
  } else if (kind == MessageKind::kAnswers) {
    sharing_.take_answers(got.from, reader);
  } else if (got.from == 0 && kind == MessageKind::kWord) {
    take_word(reader, now);
  } else if (got.from == 0 && kind == MessageKind::kFinal) {
    final_status_ = static_cast<int>(reader.number_up_to(255));
  } else {
    throw WireError("a message out of order");
  }
  reader.end();
}

void Follower::take_word(WireReader& reader, storage::SteadyTime now) {
  heard_ = now;
  const size_t phases = control_.phases().size();
  const auto report_sent = get_optional_time(reader);
  const auto lead_now = get_time(reader);
  if (report_sent) {
    report_open_ = false;
    if (now - match_since_ > kMatchWindow) {
      later_match_.clear();
      match_since_ = now;
    }
    later_match_.add(*report_sent, lead_now, clock_.steady_now());
  }
  RunState state = get_state(reader, phases);
  const auto shift = [this](std::optional<storage::SteadyTime>& time) {
    if (time) time = offset_.to_here(*time);
  };
  for (PhaseTimes& times : state.times) {
    shift(times.from);
    shift(times.until);
  }
  shift(state.end);
  control_.follow(state);
  const bool aborted = reader.flag();
  const std::string reason = reader.text();
  if (aborted) {
    told_to_abort_ = true;
    control_.abort(reason);
  }
  const bool exhausted = reader.flag();
  const uint64_t give_backs = reader.number();
  for (size_t left = reader.count(); left > 0; --left) {
    const auto at = offset_.to_here(get_time(reader));
    pages_.set_rate(reader.real(), at);
  }
  for (size_t rank = 0; rank < ensemble_.size(); ++rank) {
    if (!reader.flag()) continue;
    RankMark mark;
    mark.at = offset_.to_here(get_time(reader)) + offset_.bound;
    mark.first_open = reader.number();
    under_way_.set_mark(rank, mark);
  }
  std::vector<ScheduledPage> pages;
  for (size_t left = reader.count(); left > 0; --left) pages.push_back(get_page(reader, phases));
  pages_.put(std::move(pages));
  if (exhausted) told_exhausted_ = true;
  // Behind a report that was not replied to yet pages may still come: robots must not go home.
  pages_.set_exhausted(exhausted && !report_open_, give_backs);
}

void Follower::add_never_sent(RunPart& part) const {
  if (options_.load.open_loop()) pages_.add_never_sent(part);
}

void Follower::send_result(RunPart part, const std::vector<std::string>& warnings,
                           storage::SteadyTime now) {
  part.merge(sharing_.corrections());
  part.last_counted_end = offset_.to_there(part.last_counted_end);
  // What happened since the last report comes first.
  report(now, interrupt_reported_, 0);
  WireWriter writer = message(MessageKind::kResult);
  put_part(writer, part);
  writer.signed_number(error_bound(offset_, later_match_.best()).count());
  writer.number(warnings.size());
  for (const std::string& warning : warnings) writer.text(warning);
  ensemble_.send(0, writer.take());
  result_sent_ = true;
}

}  // namespace workload
