#include "workload/ensemble/lead.h"

#include <algorithm>
#include <utility>

#include "storage/base/units.h"
#include "workload/client/overdue.h"
#include "workload/ensemble/wire_part.h"
#include "workload/ensemble/wire_run.h"

namespace workload {
namespace {

/// How long before they are due the pages of an open loop are dealt.
constexpr std::chrono::milliseconds kDealAhead{100};
/// Pages that are dealt before other ranks' messages are looked at again.
constexpr int kPagesDealtInRow = 65536;
/// What a rank may ask for at once.
constexpr uint64_t kWantedMax = 65536;
/// Ranks hear from the lead so often even where nothing happens.
constexpr std::chrono::milliseconds kHeartbeat{500};

}  // namespace

/// What the lead knows of a rank.
struct Lead::Rank {
  explicit Rank(size_t number_in) : number(number_in) {}

  size_t number;
  std::string host;
  storage::SteadyTime heard{};                     ///< When it last said anything.
  storage::SteadyTime told{};                      ///< When it was last told anything.
  std::optional<storage::SteadyTime> report_sent;  ///< Of a report to be replied to, its clock.
  uint64_t give_backs = 0;
  size_t phase_told = 0;
  bool exhausted_told = false;
  std::vector<ScheduledPage> pages;                           ///< To be sent.
  std::vector<std::pair<storage::SteadyTime, double>> rates;  ///< Likewise.
  std::optional<RankMark> mark;  ///< Of its transactions, the instant in the lead's clock.
  std::optional<RunPart> part;
  storage::Nanoseconds clock_error{0};
  bool lost = false;
};

Lead::Lead(Ensemble& ensemble, const storage::Clock& clock, RunControl& control,
           RequestSource& source, TransactionsUnderWay& under_way, const LoadOptions& options,
           std::vector<std::string> hosts, storage::SteadyTime start, const EnsembleTiming& timing)
    : ensemble_(ensemble),
      clock_(clock),
      control_(control),
      source_(source),
      under_way_(under_way),
      options_(options),
      timing_(timing),
      own_pages_(control, start),
      sharing_(ensemble, under_way, control, ClockOffset(), options.sample_interval) {
  for (size_t number = 0; number < ensemble.size(); ++number) {
    ranks_.push_back(std::make_unique<Rank>(number));
    ranks_.back()->host = hosts[number];
    ranks_.back()->heard = ranks_.back()->told = start;
  }
}

Lead::~Lead() = default;

PageSource& Lead::pages() {
  if (options_.load.open_loop()) return own_pages_;
  return source_;
}

std::string Lead::name_of(const Rank& rank) const {
  return "rank " + std::to_string(rank.number) + (rank.host.empty() ? "" : " (" + rank.host + ")");
}

void Lead::lose(Rank& rank, const std::string& why) {
  rank.lost = true;
  control_.abort(name_of(rank) + ": " + why);
}

bool Lead::lost_any() const {
  return std::ranges::any_of(ranks_, [](const auto& rank) { return rank->lost; });
}

bool Lead::all_ended() const {
  const auto ended = [](const auto& rank) { return rank->number == 0 || rank->part || rank->lost; };
  return std::ranges::all_of(ranks_, ended) && (!sharing_.open() || lost_any());
}

void Lead::look(storage::SteadyTime now, double rate_rps) {
  if (options_.load.open_loop() && rate_rps != rate_rps_) {
    rate_rps_ = rate_rps;
    own_pages_.set_rate(rate_rps, now);
    for (const auto& rank : ranks_) rank->rates.emplace_back(now, rate_rps);
  }
  while (const auto got = ensemble_.receive()) {
    Rank& rank = *ranks_[got->from];
    rank.heard = now;
    try {
      take_message(*got, now);
    } catch (const WireError& error) {
      lose(rank, error.what());
    }
  }
  sharing_.look();
  if (options_.load.open_loop()) deal(now);
  ranks_.front()->mark = under_way_.mark(clock_);
  const bool abort_news = control_.aborted() && !std::exchange(abort_told_, control_.aborted());
  const bool none_left = exhausted(now);
  for (const auto& rank : ranks_) {
    if (rank->number == 0 || rank->lost) continue;
    if (now - rank->heard > timing_.silence) {
      lose(*rank, "no word from it for " +
                      std::to_string(static_cast<int>(storage::seconds_of(timing_.silence))) +
                      " s");
      continue;
    }
    const bool news = rank->report_sent || !rank->pages.empty() || !rank->rates.empty() ||
                      abort_news || none_left != rank->exhausted_told ||
                      rank->phase_told != control_.current();
    if (news || now - rank->told >= kHeartbeat) send_word(*rank, now);
  }
}

void Lead::take_message(const EnsembleMessage& got, storage::SteadyTime now) {
  Rank& rank = *ranks_[got.from];
  WireReader reader(got.bytes);
  switch (kind_of(reader)) {
    case MessageKind::kReport:
      take_report(rank, reader, now);
      break;
    case MessageKind::kQuestions:
      sharing_.answer(got.from, reader);
      break;
    case MessageKind::kAnswers:
      sharing_.take_answers(got.from, reader);
      break;
    case MessageKind::kResult:
      take_result(rank, reader);
      break;
    default:
      throw WireError("a message out of order");
  }
  reader.end();
}

void Lead::take_report(Rank& rank, WireReader& reader, storage::SteadyTime now) {
  const size_t phases = control_.phases().size();
  rank.report_sent = get_time(reader);
  RankMark mark;
  mark.at = get_time(reader);
  mark.first_open = reader.number();
  rank.mark = mark;
  under_way_.set_mark(rank.number, mark);
  const LiveCounts more = get_counts(reader);
  control_.add_elsewhere(more, get_fills(reader, phases), now);
  for (const Grant& grant : get_grants(reader, phases)) {
    control_.give_back(grant.requests, grant);
  }
  rank.give_backs = reader.number();
  for (size_t left = reader.count(); left > 0; --left) take_back(rank, get_page(reader, phases));
  const uint64_t wanted = reader.number_up_to(kWantedMax);
  const std::string failure = reader.text();
  if (reader.flag()) interrupted_ = true;
  if (!failure.empty()) control_.abort(name_of(rank) + ": " + failure);
  serve(rank, wanted, now);
}

void Lead::take_back(Rank& rank, ScheduledPage page) {
  // Where all is granted others may have gone home: then it is up to that rank.
  const bool of_last = page.grant.phase + 1 == control_.phases().size();
  if (control_.all_granted() && of_last) {
    rank.pages.push_back(std::move(page));
  } else {
    const Grant grant = page.grant;
    source_.put_back(std::move(page.requests), grant);
  }
}

void Lead::serve(Rank& rank, uint64_t wanted, storage::SteadyTime now) {
  if (options_.load.open_loop()) return;
  for (; wanted > 0; --wanted) {
    ScheduledPage page;
    page.grant = source_.next_page(page.requests, now);
    if (page.grant.requests == 0) return;
    rank.pages.push_back(std::move(page));
  }
}

void Lead::deal(storage::SteadyTime now) {
  std::vector<ScheduledPage> own;
  for (int in_row = 0; !all_dealt_ && in_row < kPagesDealtInRow; ++in_row) {
    if (!next_page_) {
      next_page_.emplace();
      source_.next_page(*next_page_, now);
      if (next_page_->grant.requests == 0) {
        all_dealt_ = true;
        break;
      }
    }
    const auto due = source_.due(next_page_->place);
    if (!due || *due > now + kDealAhead) break;
    std::vector<ScheduledPage>& pages = turn_ == 0 ? own : ranks_[turn_]->pages;
    pages.push_back(std::move(*next_page_));
    next_page_.reset();
    turn_ = (turn_ + 1) % ranks_.size();
  }
  own_pages_.put(std::move(own));
  if (all_dealt_) own_pages_.set_exhausted(true, 0);
}

bool Lead::exhausted(storage::SteadyTime now) const {
  const bool none_left = options_.load.open_loop() ? all_dealt_ : control_.all_granted();
  return none_left || control_.over(now);
}

void Lead::send_word(Rank& rank, storage::SteadyTime now) {
  WireWriter word = message(MessageKind::kWord);
  put_time(word, std::exchange(rank.report_sent, std::nullopt));
  put_time(word, clock_.steady_now());
  const RunState state = control_.state(rank.phase_told);
  put_state(word, state);
  rank.phase_told = state.times.back().phase;
  const bool aborted = control_.aborted();
  word.flag(aborted);
  word.text(aborted ? control_.abort_reason() : std::string());
  rank.exhausted_told = exhausted(now);
  word.flag(rank.exhausted_told);
  word.number(rank.give_backs);
  word.number(rank.rates.size());
  for (const auto& [at, rate_rps] : rank.rates) {
    put_time(word, at);
    word.real(rate_rps);
  }
  rank.rates.clear();
  for (const auto& other : ranks_) {
    const bool told = other->mark && other->number != rank.number;
    word.flag(told);
    if (!told) continue;
    put_time(word, other->mark->at);
    word.number(*other->mark->first_open);
  }
  word.number(rank.pages.size());
  for (const ScheduledPage& page : rank.pages) put_page(word, page);
  rank.pages.clear();
  rank.told = now;
  ensemble_.send(rank.number, word.take());
}

void Lead::take_result(Rank& rank, WireReader& reader) {
  RunPart part(options_.sample_interval, control_.phases().size());
  get_part(reader, part);
  rank.clock_error = storage::Nanoseconds(reader.signed_number());
  for (size_t left = reader.count(); left > 0; --left) {
    warnings_.push_back(name_of(rank) + ": " + reader.text());
  }
  if (!part.first_error.empty()) part.first_error = name_of(rank) + ": " + part.first_error;
  rank.part = std::move(part);
}

void Lead::merge_into(RunPart& part) const {
  part.merge(sharing_.corrections());
  for (const auto& rank : ranks_) {
    if (rank->part) part.merge(*rank->part);
  }
}

void Lead::add_never_sent(RunPart& part) {
  if (!options_.load.open_loop()) return;
  own_pages_.add_never_sent(part);
  if (!next_page_ || next_page_->grant.requests == 0) return;
  if (const auto due = source_.due(next_page_->place)) add_overdue(part, control_, *due, 1);
}

std::vector<RankResult> Lead::reports(const RunPart& own) const {
  std::vector<RankResult> reports;
  for (const auto& rank : ranks_) {
    const RunPart* const part = rank->number == 0 ? &own : rank->part ? &*rank->part : nullptr;
    RankResult report;
    report.host = rank->host;
    report.clock_error = rank->clock_error;
    if (part != nullptr) report.requests = part->recorder.series.total().sent;
    reports.push_back(std::move(report));
  }
  return reports;
}

void send_final(Ensemble& ensemble, int exit_status) {
  for (size_t rank = 1; rank < ensemble.size(); ++rank) {
    WireWriter word = message(MessageKind::kFinal);
    word.number(static_cast<uint64_t>(exit_status));
    ensemble.send(rank, word.take());
  }
}

}  // namespace workload
