#include "workload/ensemble/muster.h"

#include <algorithm>
#include <thread>

#include "storage/base/units.h"
#include "workload/ensemble/wire_run.h"

namespace workload {
namespace {

constexpr int kPings = 32;
/// Long enough for the word to reach all before the run starts.
constexpr std::chrono::milliseconds kStartAhead{100};
/// Round trips are measured in this phase, so looks come often.
constexpr std::chrono::microseconds kMusterPoll{50};

std::string name_of_rank(size_t rank, const std::string& host) {
  return "rank " + std::to_string(rank) + (host.empty() ? "" : " (" + host + ")");
}

/// The next message, `until` at the latest.
std::optional<EnsembleMessage> next_message(Ensemble& ensemble, const storage::Clock& clock,
                                            storage::SteadyTime until) {
  for (;;) {
    auto got = ensemble.receive();
    if (got || clock.steady_now() >= until) return got;
    std::this_thread::sleep_for(kMusterPoll);
  }
}

/// The lead's next message, which has to be of that kind; `read` gets the rest of it. What others
/// sent goes to `early`.
template <class Read>
void expect_from_lead(Ensemble& ensemble, const storage::Clock& clock, storage::SteadyTime until,
                      MessageKind kind, std::vector<EnsembleMessage>& early, const Read& read) {
  auto got = next_message(ensemble, clock, until);
  while (got && got->from != 0) {
    early.push_back(std::move(*got));
    got = next_message(ensemble, clock, until);
  }
  if (!got) throw WireError("rank 0 does not answer");
  WireReader reader(got->bytes);
  if (kind_of(reader) != kind) throw WireError("a message out of order");
  read(reader);
  reader.end();
}

}  // namespace

MusterOutcome muster_as_lead(Ensemble& ensemble, const storage::Clock& clock,
                             const MusterEntry& own, const EnsembleTiming& timing) {
  MusterOutcome outcome;
  outcome.hosts.resize(ensemble.size());
  outcome.hosts.front() = ensemble.host();
  std::vector<std::string> refusals(ensemble.size());
  refusals.front() = own.refusal;
  const auto until = clock.steady_now() + timing.opening;
  size_t missing = ensemble.size() - 1;
  while (missing > 0) {
    const auto got = next_message(ensemble, clock, until);
    if (!got) {
      refusals.front() = std::to_string(missing) + " of " + std::to_string(ensemble.size()) +
                         " ranks did not come within " +
                         std::to_string(static_cast<int>(storage::seconds_of(timing.opening))) +
                         " s";
      break;
    }
    WireReader reader(got->bytes);
    if (kind_of(reader) != MessageKind::kHello) throw WireError("a message out of order");
    const std::string fingerprint = reader.text();
    outcome.hosts[got->from] = reader.text();
    const std::string reason = reader.text();
    reader.end();
    const std::string name = name_of_rank(got->from, outcome.hosts[got->from]);
    if (!reason.empty()) {
      refusals[got->from] = name + ": " + reason;
    } else if (fingerprint != own.fingerprint) {
      refusals[got->from] =
          name + ": its version, command line or workload file differs from that of rank 0";
    }
    --missing;
  }
  // What rank 0 says of itself is what people expect; the others mostly say the same.
  for (const std::string& refusal : refusals) {
    if (outcome.refusal.empty()) outcome.refusal = refusal;
  }
  outcome.go = outcome.refusal.empty();
  for (size_t rank = 1; rank < ensemble.size(); ++rank) {
    WireWriter verdict = message(MessageKind::kVerdict);
    verdict.flag(outcome.go);
    ensemble.send(rank, verdict.take());
  }
  return outcome;
}

MusterOutcome muster_as_follower(Ensemble& ensemble, const storage::Clock& clock,
                                 const MusterEntry& own, const EnsembleTiming& timing) {
  WireWriter hello = message(MessageKind::kHello);
  hello.text(own.fingerprint);
  hello.text(ensemble.host());
  hello.text(own.refusal);
  ensemble.send(0, hello.take());
  MusterOutcome outcome;
  // The lead waits for all, and then says so.
  const auto until = clock.steady_now() + 2 * timing.opening;
  std::vector<EnsembleMessage> none;
  expect_from_lead(ensemble, clock, until, MessageKind::kVerdict, none,
                   [&outcome](WireReader& reader) { outcome.go = reader.flag(); });
  return outcome;
}

RunStart start_as_lead(Ensemble& ensemble, const storage::Clock& clock, uint64_t transaction_base,
                       const EnsembleTiming& timing) {
  const auto until = clock.steady_now() + timing.opening;
  size_t missing = ensemble.size() - 1;
  while (missing > 0) {
    const auto got = next_message(ensemble, clock, until);
    if (!got) throw WireError(std::to_string(missing) + " ranks stopped answering at the start");
    WireReader reader(got->bytes);
    const MessageKind kind = kind_of(reader);
    if (kind == MessageKind::kPing) {
      WireWriter pong = message(MessageKind::kPong);
      put_time(pong, get_time(reader));
      put_time(pong, clock.steady_now());
      ensemble.send(got->from, pong.take());
    } else if (kind == MessageKind::kReady) {
      --missing;
    } else {
      throw WireError("a message out of order");
    }
    reader.end();
  }
  RunStart start;
  start.at = clock.steady_now() + kStartAhead;
  start.transaction_base = transaction_base;
  for (size_t rank = 1; rank < ensemble.size(); ++rank) {
    WireWriter word = message(MessageKind::kStart);
    put_time(word, start.at);
    word.number(transaction_base);
    ensemble.send(rank, word.take());
  }
  return start;
}

RunStart start_as_follower(Ensemble& ensemble, const storage::Clock& clock,
                           const EnsembleTiming& timing) {
  RunStart start;
  ClockMatch match;
  const auto until = clock.steady_now() + timing.opening;
  for (int ping = 0; ping < kPings; ++ping) {
    WireWriter writer = message(MessageKind::kPing);
    put_time(writer, clock.steady_now());
    ensemble.send(0, writer.take());
    expect_from_lead(ensemble, clock, until, MessageKind::kPong, start.early,
                     [&](WireReader& reader) {
                       const auto sent = get_time(reader);
                       const auto there = get_time(reader);
                       match.add(sent, there, clock.steady_now());
                     });
  }
  ensemble.send(0, message(MessageKind::kReady).take());
  start.offset = match.best().value_or(ClockOffset());
  expect_from_lead(ensemble, clock, until + timing.opening, MessageKind::kStart, start.early,
                   [&start](WireReader& reader) {
                     start.at = start.offset.to_here(get_time(reader));
                     start.transaction_base = reader.number();
                   });
  return start;
}

}  // namespace workload
