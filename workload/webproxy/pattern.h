// filebench's webproxy pattern over this project's own I/O engines.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "storage/io/engine.h"
#include "workload/client/goal.h"
#include "workload/webproxy/account.h"
#include "workload/webproxy/file_set.h"

namespace webproxy {

/// Files that each worker reads after each one that it has created.
inline constexpr int kReadsPerLoop = 5;

/// How the pattern is run.
struct PatternOptions {
  unsigned workers = 1;  ///< filebench's threads; here coroutines on one event loop.
  uint32_t files = 2;    ///< That there are at a time; at least two for each worker.
  uint64_t seed = 1;     ///< Of contents and choices.
  workload::Goal goal;   ///< Fill is what was written, over `cache_size_bytes`.
  uint64_t cache_size_bytes = 0;
  std::chrono::nanoseconds sample_interval = std::chrono::milliseconds(250);
};

/// Names that there are for so many files.
uint32_t names_for(uint32_t files);

/// The pattern. Each worker, again and again: deletes a file, creates one under a free name and
/// writes it, then reads kReadsPerLoop files whole; each of them any that no other worker has, and
/// closed after use. A file lies in the folder of the engine that its number says. All bytes that
/// are read are compared. One thread, that of `io`.
class Pattern {
 public:
  /// `io`, `clock` and `engines` (one for each folder, at least one) outlive it.
  Pattern(boost::asio::io_context& io, const storage::Clock& clock,
          std::vector<storage::IoEngine*> engines, const PatternOptions& options);

  /// Makes the files. False where that failed, see failure().
  bool prepare();
  /// Works until the goal is met, stop() was called or something failed. False in the last case.
  bool measure();
  /// Ends prepare() or measure() once what is under way is done; on the thread of `io`.
  void stop() { stopped_ = true; }

  bool stopped() const { return stopped_; }
  /// One line that names the file and what befell it; empty where all went well.
  const std::string& failure() const { return failure_; }
  const Account& account() const { return account_; }

 private:
  using Nothing = boost::asio::awaitable<void>;
  Nothing prepare_files();
  Nothing work(unsigned number);
  Nothing delete_one(storage::Random& dice);
  Nothing create_one(storage::Random& dice);
  Nothing read_one(storage::Random& dice, std::span<std::byte> buffer);
  /// Creates the file and writes it; false where that failed.
  boost::asio::awaitable<bool> write_file(FileVersion file);
  /// Lets the other workers run, which an engine that never waits would not.
  Nothing take_turns();
  template <class Start>
  void run_workers(Start start);
  bool goes_on() const;
  bool goal_met() const;
  std::chrono::nanoseconds elapsed() const { return clock_.steady_now() - begin_; }
  storage::IoEngine& engine_of(FileVersion file) {
    return *engines_[file.number % engines_.size()];
  }
  void fail(FileVersion file, const char* what, const storage::Error& error);

  boost::asio::io_context& io_;
  const storage::Clock& clock_;
  std::vector<storage::IoEngine*> engines_;
  PatternOptions options_;
  FileContent content_;
  FileSet files_;
  Account account_;
  storage::SteadyTime begin_;
  uint64_t started_ = 0;  ///< Requests.
  uint32_t next_prepared_ = 0;
  bool stopped_ = false;
  std::string failure_;
};

}  // namespace webproxy
