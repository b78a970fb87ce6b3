// Follows one response and says whether its body is like the first one's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "workload/ab/first_response.h"
#include "workload/ab/response_reader.h"

namespace workload::ab {

class ResponseCheck;

/// What the checks of one thread share.
struct ThreadChecks {
  /// `first` must outlive it. `head_only`: the responses are to HEAD. `patterns`: heads like the
  /// first one need not be kept as they came.
  ThreadChecks(FirstResponse& first_in, bool head_only_in, bool patterns_in)
      : first(first_in), head_only(head_only_in), patterns(patterns_in) {}

  FirstResponse& first;
  bool head_only;
  bool patterns;
  ResponsePattern pattern;
  /// The one check whose body is being kept for the pattern, and how often that was for nothing.
  const ResponseCheck* recorder = nullptr;
  std::string recorded;
  int recordings = 0;
};

/// How a body compares with the first one.
enum class Likeness { kSame, kOtherLength, kOtherContent };

/// The response of one connection. Keeps no body; compares or hashes its bytes as they pass.
class ResponseCheck {
 public:
  /// Recordings that end in nothing (bodies that differ) before there will be no pattern.
  static constexpr int kRecordingsMax = 16;

  /// `checks` must outlive it.
  explicit ResponseCheck(ThreadChecks& checks) : checks_(&checks) {}

  /// Forgets what was and expects a new response.
  void begin();
  /// Takes bytes; returns what is behind the response's end.
  std::string_view take(std::string_view input);
  /// The connection has ended.
  void end_of_stream() { reader_.end_of_stream(); }

  const ResponseReader& reader() const { return reader_; }
  uint64_t body_bytes() const { return body_bytes_; }
  /// Compares a response that is whole (the reader's state is kDone) with the first, which it
  /// becomes where there was none. Once for a response.
  Likeness compare();

 private:
  void body_begins();
  void on_body(std::string_view piece);
  void stop_recording();

  ThreadChecks* checks_;
  ResponseReader reader_;
  BodyHash hash_;
  uint64_t body_bytes_ = 0;
  bool body_begun_ = false;
  bool comparing_ = false;  ///< With the pattern's bytes; else by digest.
  bool same_ = true;        ///< As far as compared.
};

}  // namespace workload::ab
