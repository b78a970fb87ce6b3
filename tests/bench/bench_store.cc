#include "tests/bench/bench_store.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>

#include "tests/support/counts.h"
#include "tests/support/run_task.h"

namespace bench {

namespace {

std::string name_of(uint64_t number) {
  return "http://127.0.0.1/object/" + std::to_string(number);
}

}  // namespace

void fail(const std::string& what) {
  std::cerr << "storage_bench: " << what << "\n";
  std::exit(1);  // NOLINT(concurrency-mt-unsafe)
}

double seconds_now() {
  return std::chrono::duration<double>(storage::SystemClock().steady_now().time_since_epoch())
      .count();
}

double cpu_seconds_now() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

BenchStore::BenchStore(const std::string& specification) {
  std::string error;
  const storage::SchemeSpec spec = storage::parse_scheme_spec(specification, error);
  if (!error.empty()) fail(error);
  const storage::SchemeEnvironment environment{io_.get_executor(), clock_, buffers_};
  storage::SchemeOrError made = storage::make_scheme(spec, environment);
  if (!made.scheme) fail(made.error);
  scheme_ = std::move(made.scheme);
  const auto report = testing_support::run_task(io_, scheme_->start());
  if (report.has_error()) fail("start: " + to_string(report.error()));
  recovery_ = *report;
  source_.resize(1 << 20);
  for (char& byte : source_) byte = static_cast<char>(random_.below(256));
}

double BenchStore::count(std::string_view name, std::string_view label) const {
  testing_support::Counts counts;
  scheme_->visit_counters(counts);
  return counts.of(name, label);
}

void BenchStore::run_all() {
  testing_support::run_until(
      io_, [this] { return running_ == 0; }, std::chrono::hours(1));
  // Schemes that write later say how much is still on its way.
  testing_support::run_until(
      io_, [this] { return count("stripes_in_flight") <= 0; }, std::chrono::hours(1));
}

void BenchStore::put(uint64_t size_bytes, unsigned concurrency) {
  const uint64_t until = accepted_bytes + size_bytes;
  for (unsigned i = 0; i < concurrency; ++i) {
    ++running_;
    boost::asio::co_spawn(io_, write_objects(until, After::kNothing, 0),
                          [this](std::exception_ptr) { --running_; });
  }
  run_all();
}

void BenchStore::mix(uint64_t size_bytes, uint64_t hot, unsigned concurrency) {
  const uint64_t until = accepted_bytes + size_bytes;
  for (unsigned i = 0; i < concurrency; ++i) {
    ++running_;
    boost::asio::co_spawn(io_, write_objects(until, After::kHotRead, hot),
                          [this](std::exception_ptr) { --running_; });
  }
  run_all();
}

void BenchStore::get(uint64_t reads, uint64_t newest, unsigned concurrency) {
  reads_left_ = reads;
  const uint64_t oldest = next_ > newest ? next_ - newest : 0;
  for (unsigned i = 0; i < concurrency; ++i) {
    ++running_;
    boost::asio::co_spawn(io_, read_objects(oldest), [this](std::exception_ptr) { --running_; });
  }
  run_all();
}

void BenchStore::stop() {
  const auto stopped = testing_support::run_task(io_, scheme_->stop(storage::StopMode::kDrain));
  if (stopped.has_error()) fail("stop: " + to_string(stopped.error()));
}

boost::asio::awaitable<void> BenchStore::store_one(std::string name) {
  boost::asio::steady_timer pause(io_);
  const size_t size =
      sizes.body_min_bytes + random_.below(sizes.body_max_bytes - sizes.body_min_bytes + 1);
  const size_t begin = random_.below(source_.size() - size);
  const std::string_view body = std::string_view(source_).substr(begin, size);
  const storage::Key key(std::move(name));
  while (true) {
    storage::Metadata metadata(source_.substr(begin, sizes.metadata_bytes));
    auto writer = co_await scheme_->create(key, std::move(metadata), size);
    storage::Result<void> done = writer ? storage::Result<void>() : writer.error();
    for (size_t at = 0; done && at < size;) {
      storage::Result<storage::Space> space = co_await (*writer)->reserve(size - at);
      if (!space) {
        done = space.error();
        break;
      }
      const size_t length = std::min(space->size(), size - at);
      std::memcpy(space->bytes().data(), body.data() + at, length);
      done = (*writer)->append(std::move(*space), length);
      at += length;
    }
    if (done) done = co_await (*writer)->commit();
    if (done) break;
    if (done.error().code != storage::Errc::kOverloaded) fail(to_string(done.error()));
    ++declined;
    pause.expires_after(std::chrono::microseconds(300));
    co_await pause.async_wait(boost::asio::use_awaitable);
  }
  accepted_bytes += key.text().size() + sizes.metadata_bytes + size;
  ++stored;
}

boost::asio::awaitable<bool> BenchStore::read_one(std::string name) {
  const storage::Key key(std::move(name));
  const auto reader = co_await scheme_->open(key);
  if (!reader) co_return false;
  for (uint64_t at = 0; at < (*reader)->body_size_bytes();) {
    const auto piece = co_await (*reader)->read(at, 1 << 20);
    if (!piece) co_return false;
    at += piece->size();
  }
  co_return true;
}

boost::asio::awaitable<void> BenchStore::write_objects(uint64_t until_bytes, After after,
                                                       uint64_t hot) {
  while (accepted_bytes < until_bytes) {
    co_await store_one(name_of(next_++));
    if (after == After::kNothing) continue;
    std::string name = "hot " + name_of(random_.below(hot));
    const bool found = co_await read_one(name);
    ++(found ? hits : misses);
    if (!found) co_await store_one(std::move(name));
  }
}

boost::asio::awaitable<void> BenchStore::read_objects(uint64_t oldest) {
  while (reads_left_ > 0) {
    --reads_left_;
    const bool found = co_await read_one(name_of(oldest + random_.below(next_ - oldest)));
    ++(found ? hits : misses);
  }
}

}  // namespace bench
