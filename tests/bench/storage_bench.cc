// Measures the coss scheme alone, without a network: writing beside fio on the same file, what is
// written for what is accepted, and how long a start takes.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "storage/base/units.h"
#include "storage/layout/coss_format.h"
#include "storage/registry.h"
#include "tests/support/counts.h"
#include "tests/support/run_task.h"
#include "tests/support/stored_object.h"

namespace {

using storage::format_size;
using testing_support::Counts;
using testing_support::run_task;

constexpr unsigned kWriters = 16;
constexpr size_t kObjectSize = 11 * 1024;
constexpr unsigned kMembufs = 10;

struct Settings {
  std::filesystem::path file;
  uint64_t size_bytes = storage::kGiB;
  unsigned rounds = 3;
  std::string engine = "libaio";
};

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "storage_bench: " << what << "\n";
  std::exit(1);
}

double seconds_now() {
  return std::chrono::duration<double>(storage::SystemClock().steady_now().time_since_epoch())
      .count();
}

double cpu_seconds_now() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// A coss store on the real clock, started.
class Store {
 public:
  explicit Store(const Settings& settings) {
    storage::SchemeSpec spec;
    spec.scheme = "coss";
    spec.path = settings.file;
    spec.capacity_bytes = settings.size_bytes;
    spec.options = {{"engine", settings.engine},
                    {"overwrite-percent", "0"},
                    {"membufs", std::to_string(kMembufs)}};
    const storage::SchemeEnvironment environment{io_.get_executor(), clock_, buffers_};
    storage::SchemeOrError made = storage::make_scheme(spec, environment);
    if (!made.scheme) fail(made.error);
    scheme_ = std::move(made.scheme);
    const auto report = run_task(io_, scheme_->start());
    if (report.has_error()) fail("start: " + to_string(report.error()));
    recovery_ = *report;
    for (const std::string& warning : scheme_->info().warnings) std::cout << warning << "\n";
  }

  const storage::RecoveryReport& recovery() const { return recovery_; }
  double count(std::string_view name, std::string_view label = "") const {
    Counts counts;
    scheme_->visit_counters(counts);
    return counts.of(name, label);
  }

  /// Writes objects until so many bytes have gone to the file, and waits until all are there.
  void fill(uint64_t size_bytes) {
    written_max_ = static_cast<double>(size_bytes);
    running_ = kWriters;
    for (unsigned i = 0; i < kWriters; ++i) {
      boost::asio::co_spawn(io_, write_objects(), boost::asio::detached);
    }
    testing_support::run_until(
        io_, [this] { return running_ == 0 && count("stripes_in_flight") == 0; },
        std::chrono::hours(1));
  }
  void stop(storage::StopMode mode) {
    const auto stopped = run_task(io_, scheme_->stop(mode));
    if (stopped.has_error()) fail("stop: " + to_string(stopped.error()));
  }

 private:
  boost::asio::awaitable<void> write_objects() {
    boost::asio::steady_timer pause(io_);
    const std::string body(kObjectSize, 'b');
    while (count("log_written_bytes_total") < written_max_) {
      const std::string key = "http://127.0.0.1/object/" + std::to_string(next_++);
      const auto stored = co_await testing_support::store_object(
          *scheme_, key, testing_support::StoredObject(std::string(200, 'h'), body));
      if (stored.has_value()) continue;
      if (stored.error().code != storage::Errc::kOverloaded) fail(to_string(stored.error()));
      pause.expires_after(std::chrono::microseconds(100));
      co_await pause.async_wait(boost::asio::use_awaitable);
    }
    --running_;
  }

  boost::asio::io_context io_{1};
  storage::SystemClock clock_;
  storage::BufferPool buffers_{io_.get_executor(), 64 * 1024, 64 << 20};
  std::unique_ptr<storage::StorageScheme> scheme_;
  storage::RecoveryReport recovery_;
  double written_max_ = 0;
  unsigned running_ = 0;
  uint64_t next_ = 0;
};

/// Bytes a second that fio writes to the stripes of the file; 0 where there is no fio.
double run_fio(const Settings& settings, uint64_t stripes_bytes) {
  const std::filesystem::path report = settings.file.string() + ".fio.json";
  std::ostringstream command;
  command << "fio --name=reference --filename='" << settings.file.string()
          << "' --offset=" << storage::kCossStripesOffset << " --size=" << stripes_bytes
          << " --bs=1M --rw=write --ioengine=libaio --direct=1 --iodepth=" << kMembufs - 1
          << " --thread --output-format=json --output='" << report.string() << "' 2>/dev/null";
  if (std::system(command.str().c_str()) != 0) return 0;  // NOLINT(concurrency-mt-unsafe)
  std::ifstream in(report);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  std::filesystem::remove(report);
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(text.substr(text.find('{')), error);
  if (error) return 0;
  return value.at("jobs").at(0).at("write").at("bw_bytes").to_number<double>();
}

void measure_starts(const Settings& settings) {
  {
    const Store clean(settings);
    std::cout << "start from a clean index: " << storage::format_duration(clean.recovery().duration)
              << ", " << clean.recovery().objects << " objects"
              << (clean.recovery().clean ? "" : " (NOT CLEAN)") << "\n";
  }
  const Store dirty(settings);  // the one before was not stopped
  std::cout << "start after a crash:      " << storage::format_duration(dirty.recovery().duration)
            << ", " << dirty.recovery().objects << " objects"
            << (dirty.recovery().clean ? " (CLEAN)" : "") << "\n";
}

int run(const Settings& settings) {
  {
    Store fresh(settings);
    fresh.stop(storage::StopMode::kDrain);
  }
  const uint64_t stripe = storage::kMiB;
  const uint64_t stripes_bytes =
      storage::coss_stripe_count(settings.size_bytes, storage::kMiB) * stripe;
  // Once over the whole file, so that neither side pays for its blocks.
  if (run_fio(settings, stripes_bytes) == 0) std::cout << "fio is missing: nothing to compare\n";
  std::vector<double> ratios;
  for (unsigned round = 1; round <= settings.rounds; ++round) {
    const double reference = run_fio(settings, stripes_bytes);
    Store store(settings);
    const double begin = seconds_now();
    const double cpu_begin = cpu_seconds_now();
    store.fill(stripes_bytes);
    const double duration = seconds_now() - begin;
    const double written = store.count("log_written_bytes_total");
    const double rate = written / duration;
    std::cout << "round " << round << ": coss " << format_size(static_cast<uint64_t>(rate))
              << "/s, fio " << format_size(static_cast<uint64_t>(reference))
              << "/s, write amplification " << written / store.count("log_accepted_bytes_total")
              << ", declined for want of a membuf "
              << store.count("overloads_total", "reason=\"membufs\"") << ", CPU "
              << cpu_seconds_now() - cpu_begin << " of " << duration << " s\n";
    if (reference > 0) ratios.push_back(rate / reference);
    store.stop(storage::StopMode::kDrain);
  }
  std::ranges::sort(ratios);
  if (!ratios.empty()) {
    std::cout << "coss / fio, median of " << ratios.size() << ": " << ratios[ratios.size() / 2]
              << "\n";
  }
  measure_starts(settings);
  std::filesystem::remove(settings.file);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  Settings settings;
  const auto number = [&](size_t at) { return storage::parse_size_bytes(arguments[at]); };
  const bool usable = !arguments.empty() && arguments.size() <= 4 && arguments[0][0] != '-' &&
                      (arguments.size() < 2 || number(1).value_or(0) >= 16 * storage::kMiB) &&
                      (arguments.size() < 3 || number(2).value_or(0) >= 1);
  if (!usable) {
    std::cerr << "usage: storage_bench FOLDER [SIZE [ROUNDS [ENGINE]]]\n"
                 "for example: storage_bench /var/tmp 1G 3 libaio\n";
    return 2;
  }
  settings.file = std::filesystem::path(arguments[0]) / "storage_bench.coss";
  if (arguments.size() > 1) settings.size_bytes = *number(1);
  if (arguments.size() > 2) settings.rounds = static_cast<unsigned>(*number(2));
  if (arguments.size() > 3) settings.engine = arguments[3];
  return run(settings);
}
