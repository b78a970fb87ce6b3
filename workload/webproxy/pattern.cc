#include "workload/webproxy/pattern.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <utility>

namespace webproxy {

using storage::OpenMode;

uint32_t names_for(uint32_t files) {
  const uint64_t names =
      (static_cast<uint64_t>(files) * 100 + kPresentPercent - 1) / kPresentPercent;
  return static_cast<uint32_t>(std::min<uint64_t>(names, FileSet::kNamesMax));
}

Pattern::Pattern(boost::asio::io_context& io, const storage::Clock& clock,
                 std::vector<storage::IoEngine*> engines, const PatternOptions& options)
    : io_(io),
      clock_(clock),
      engines_(std::move(engines)),
      options_(options),
      content_(options.seed),
      files_(names_for(options.files), options.files),
      account_(options.sample_interval) {}

template <class Start>
void Pattern::run_workers(Start start) {
  unsigned running = 0;
  for (unsigned number = 0; number < options_.workers; ++number) {
    ++running;
    boost::asio::co_spawn(io_, start(number), [this, &running](const std::exception_ptr& failure) {
      --running;
      if (failure && failure_.empty()) failure_ = storage::text_of(failure);
    });
  }
  io_.restart();
  // Completions may be on their way from other threads while the context is idle.
  const auto busy = boost::asio::make_work_guard(io_);
  while (running > 0) io_.run_one();
}

bool Pattern::prepare() {
  run_workers([this](unsigned) { return prepare_files(); });
  return failure_.empty();
}

bool Pattern::measure() {
  begin_ = clock_.steady_now();
  run_workers([this](unsigned number) { return work(number); });
  account_.finish(elapsed());
  return failure_.empty();
}

bool Pattern::goal_met() const {
  const workload::Goal& goal = options_.goal;
  return (goal.duration && elapsed() >= *goal.duration) ||
         (goal.requests && started_ >= *goal.requests) ||
         (goal.fill && static_cast<double>(account_.written_bytes()) >=
                           *goal.fill * static_cast<double>(options_.cache_size_bytes));
}

bool Pattern::goes_on() const {
  return failure_.empty() && !stopped_ && !goal_met();
}

void Pattern::fail(FileVersion file, const char* what, const storage::Error& error) {
  if (!failure_.empty()) return;
  failure_ = "file " + file_name(file) + ": " + what + ": " + storage::to_string(error);
}

Pattern::Nothing Pattern::take_turns() {
  co_await boost::asio::post(io_, boost::asio::use_awaitable);
}

Pattern::Nothing Pattern::prepare_files() {
  while (failure_.empty() && !stopped_ && next_prepared_ < options_.files) {
    const FileVersion file{next_prepared_++, 0};
    co_await write_file(file);
    co_await take_turns();
  }
}

Pattern::Nothing Pattern::work(unsigned number) {
  storage::Random dice = storage::Random(options_.seed).fork(number + 1);
  // One byte more than any file has, so that what is too much is seen too.
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(kFileSizeMax + 1);
  const std::span<std::byte> buffer(memory.get(), kFileSizeMax + 1);
  while (goes_on()) {
    co_await delete_one(dice);
    co_await create_one(dice);
    for (int i = 0; i < kReadsPerLoop && goes_on(); ++i) co_await read_one(dice, buffer);
  }
}

Pattern::Nothing Pattern::delete_one(storage::Random& dice) {
  co_await take_turns();
  if (!goes_on()) co_return;
  const FileVersion file = files_.take_present(dice);
  const auto begin = clock_.steady_now();
  const std::filesystem::path path = file_name(file);
  const auto gone = co_await engine_of(file).unlink(path);
  if (!gone) {
    fail(file, "can't be deleted", gone.error());
    co_return;
  }
  account_.count_deleted(clock_.steady_now() - begin);
  files_.give_absent(file);
}

Pattern::Nothing Pattern::create_one(storage::Random& dice) {
  co_await take_turns();
  // Another worker may have met the goal meanwhile, or failed.
  if (!goes_on()) co_return;
  const FileVersion file = files_.take_absent(dice);
  ++started_;
  const auto begin = clock_.steady_now();
  if (!co_await write_file(file)) co_return;
  account_.count_created(elapsed(), clock_.steady_now() - begin, content_.size_bytes(file));
  files_.give_present(file);
}

boost::asio::awaitable<bool> Pattern::write_file(FileVersion file) {
  const std::filesystem::path path = file_name(file);
  auto opened = co_await engine_of(file).open(path, OpenMode::kCreateExclusive);
  if (!opened) {
    fail(file, "can't be created", opened.error());
    co_return false;
  }
  const auto bytes = content_.bytes(file);
  const auto written = co_await (*opened)->write(0, bytes);
  const auto closed = co_await (*opened)->close();
  if (!written) {
    fail(file, "can't be written", written.error());
    co_return false;
  }
  if (!closed) {
    fail(file, "can't be closed", closed.error());
    co_return false;
  }
  co_return true;
}

Pattern::Nothing Pattern::read_one(storage::Random& dice, std::span<std::byte> buffer) {
  co_await take_turns();
  if (!goes_on()) co_return;
  const FileVersion file = files_.take_present(dice);
  ++started_;
  const auto begin = clock_.steady_now();
  const std::filesystem::path path = file_name(file);
  auto opened = co_await engine_of(file).open(path, OpenMode::kRead);
  if (!opened) {
    fail(file, "can't be opened", opened.error());
    co_return;
  }
  const auto got = co_await (*opened)->read(0, buffer);
  const auto closed = co_await (*opened)->close();
  if (!got || !closed) {
    fail(file, "can't be read", got ? closed.error() : got.error());
    co_return;
  }
  const auto took = clock_.steady_now() - begin;
  files_.give_present(file);
  if (content_.matches(file, buffer.first(*got))) {
    account_.count_read(elapsed(), took, *got);
    co_return;
  }
  account_.count_wrong(elapsed());
  if (failure_.empty()) {
    failure_ = "file " + file_name(file) + ": wrong content: its " + std::to_string(*got) +
               " bytes are not the " + std::to_string(content_.size_bytes(file)) +
               " that were written";
  }
}

}  // namespace webproxy
