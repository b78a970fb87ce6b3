// The messages between the processes of a run: what each begins with.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "workload/ensemble/wire.h"

namespace workload {

/// The first number of a message. To the lead (rank 0) or from it, but for questions and answers,
/// which go between any two.
enum class MessageKind : uint64_t {
  kHello,      ///< To the lead: a process is there; how it was started, or why it can't.
  kVerdict,    ///< From the lead: go on, or end with a status.
  kPing,       ///< To the lead: a time of the sender's clock.
  kPong,       ///< From the lead: that time and the lead's.
  kReady,      ///< To the lead: the clocks are compared.
  kStart,      ///< From the lead: when the run starts, and how transactions are numbered.
  kReport,     ///< To the lead: what happened, and how many pages are wanted.
  kWord,       ///< From the lead: state of the run, rates, pages.
  kQuestions,  ///< About transactions of the one who is asked.
  kAnswers,
  kResult,  ///< To the lead: all that was measured.
  kFinal,   ///< From the lead: the exit status. Nothing follows.
};

inline constexpr uint64_t kMessageKindMax = static_cast<uint64_t>(MessageKind::kFinal);

/// A message of that kind, to be continued.
inline WireWriter message(MessageKind kind) {
  WireWriter writer;
  writer.number(static_cast<uint64_t>(kind));
  return writer;
}

/// Reads the kind. Throws WireError where it is none.
inline MessageKind kind_of(WireReader& reader) {
  return static_cast<MessageKind>(reader.number_up_to(kMessageKindMax));
}

/// How long the processes of a run wait for each other.
struct EnsembleTiming {
  std::chrono::nanoseconds opening = std::chrono::seconds(60);  ///< Until all have come.
  /// Without a word for so long a process counts as lost.
  std::chrono::nanoseconds silence = std::chrono::seconds(20);
  std::chrono::nanoseconds report = std::chrono::milliseconds(20);  ///< Between reports, at most.
  std::chrono::nanoseconds poll = std::chrono::milliseconds(1);     ///< Between looks for messages.
};

}  // namespace workload
