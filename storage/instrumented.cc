#include "storage/instrumented.h"

#include <array>
#include <string>

namespace storage {
namespace {

enum class Operation {
  kStart,
  kOpen,
  kRead,
  kCreate,
  kReserve,
  kAppend,
  kCommit,
  kUpdate,
  kRemove,
  kStop
};

constexpr std::array<const char*, 10> kOperationNames = {
    "start", "open", "read", "create", "reserve", "append", "commit", "update", "remove", "stop"};
constexpr size_t kOperationCount = kOperationNames.size();
constexpr size_t kErrcCount = static_cast<size_t>(Errc::kStopped) + 1;

using CountsByReason = std::array<uint64_t, kErrcCount>;

/// Everything that is counted. Executor of the scheme only.
struct Counts {
  explicit Counts(const Clock& clock_in) : clock(clock_in) {}

  uint64_t& failures_of(Operation operation, const Error& error) {
    return failures[static_cast<size_t>(operation)][static_cast<size_t>(error.code)];
  }

  const Clock& clock;
  std::array<uint64_t, kOperationCount> calls{};
  std::array<uint64_t, kOperationCount> time_ns{};
  std::array<CountsByReason, kOperationCount> failures{};
  CountsByReason declines{};
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t creates = 0;
  uint64_t commits = 0;
  uint64_t aborts = 0;
  uint64_t updates = 0;
  uint64_t update_misses = 0;
  uint64_t removes = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t bytes_published = 0;
  uint64_t in_flight = 0;
  uint64_t readers_open = 0;
  uint64_t writers_open = 0;
};

/// One call: counted and timed however it ends, the destruction of its coroutine included.
class Call {
 public:
  Call(Counts& counts, Operation operation)
      : counts_(counts), operation_(operation), begin_(counts.clock.steady_now()) {
    ++counts_.in_flight;
  }
  ~Call() {
    const auto at = static_cast<size_t>(operation_);
    --counts_.in_flight;
    ++counts_.calls[at];
    counts_.time_ns[at] += static_cast<uint64_t>((counts_.clock.steady_now() - begin_).count());
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Counts the error, if there is one, and says whether there was none.
  template <class T>
  bool succeeded(const Result<T>& result) {
    if (result.has_error()) ++counts_.failures_of(operation_, result.error());
    return result.has_value();
  }

 private:
  Counts& counts_;
  const Operation operation_;
  const SteadyTime begin_;
};

class InstrumentedReader final : public Reader {
 public:
  InstrumentedReader(std::unique_ptr<Reader> inner, Counts& counts)
      : inner_(std::move(inner)), counts_(counts) {
    ++counts_.readers_open;
  }
  ~InstrumentedReader() override { --counts_.readers_open; }

  const Metadata& metadata() const override { return inner_->metadata(); }
  uint64_t body_size_bytes() const override { return inner_->body_size_bytes(); }
  bool in_memory() const override { return inner_->in_memory(); }

  Task<Piece> read(uint64_t offset_bytes, size_t size_bytes_max) override {
    Call call(counts_, Operation::kRead);
    Result<Piece> piece = co_await inner_->read(offset_bytes, size_bytes_max);
    if (call.succeeded(piece)) counts_.bytes_read += piece->size();
    co_return piece;
  }

 private:
  std::unique_ptr<Reader> inner_;
  Counts& counts_;
};

class InstrumentedWriter final : public Writer {
 public:
  /// `size_bytes`: of the key and the metadata.
  InstrumentedWriter(std::unique_ptr<Writer> inner, uint64_t size_bytes, Counts& counts)
      : inner_(std::move(inner)), size_bytes_(size_bytes), counts_(counts) {
    ++counts_.writers_open;
  }
  ~InstrumentedWriter() override {
    --counts_.writers_open;
    if (!committed_) ++counts_.aborts;
  }

  Task<Space> reserve(size_t size_hint_bytes) override {
    Call call(counts_, Operation::kReserve);
    Result<Space> space = co_await inner_->reserve(size_hint_bytes);
    call.succeeded(space);
    co_return space;
  }

  Result<void> append(Space space, size_t used_bytes) override {
    Call call(counts_, Operation::kAppend);
    const Result<void> appended = inner_->append(std::move(space), used_bytes);
    if (call.succeeded(appended)) {
      counts_.bytes_written += used_bytes;
      size_bytes_ += used_bytes;
    }
    return appended;
  }

  Task<void> commit() override {
    Call call(counts_, Operation::kCommit);
    const Result<void> committed = co_await inner_->commit();
    if (call.succeeded(committed)) {
      ++counts_.commits;
      counts_.bytes_published += size_bytes_;
      committed_ = true;
    }
    co_return committed;
  }

 private:
  std::unique_ptr<Writer> inner_;
  uint64_t size_bytes_;
  Counts& counts_;
  bool committed_ = false;
};

class InstrumentedScheme final : public StorageScheme {
 public:
  InstrumentedScheme(std::unique_ptr<StorageScheme> inner, const Clock& clock)
      : counts_(clock), inner_(std::move(inner)) {}

  const SchemeInfo& info() const override { return inner_->info(); }

  Task<RecoveryReport> start() override {
    Call call(counts_, Operation::kStart);
    Result<RecoveryReport> report = co_await inner_->start();
    call.succeeded(report);
    co_return report;
  }

  Task<std::unique_ptr<Reader>> open(Key key) override {
    Call call(counts_, Operation::kOpen);
    Result<std::unique_ptr<Reader>> reader = co_await inner_->open(std::move(key));
    if (reader.has_error() && reader.error().code == Errc::kNotFound) {
      ++counts_.misses;
      co_return reader.error();
    }
    if (!call.succeeded(reader)) co_return reader.error();
    ++counts_.hits;
    co_return std::make_unique<InstrumentedReader>(std::move(*reader), counts_);
  }

  Task<std::unique_ptr<Writer>> create(Key key, Metadata metadata,
                                       std::optional<uint64_t> body_size_bytes) override {
    Call call(counts_, Operation::kCreate);
    const uint64_t head_size_bytes = key.text().size() + metadata.size();
    Result<std::unique_ptr<Writer>> writer =
        co_await inner_->create(std::move(key), std::move(metadata), body_size_bytes);
    if (writer.has_error()) {
      ++counts_.declines[static_cast<size_t>(writer.error().code)];
      co_return writer.error();
    }
    ++counts_.creates;
    co_return std::make_unique<InstrumentedWriter>(std::move(*writer), head_size_bytes, counts_);
  }

  Task<void> update(Key key, Metadata metadata) override {
    Call call(counts_, Operation::kUpdate);
    const uint64_t size_bytes = metadata.size();
    const Result<void> updated = co_await inner_->update(std::move(key), std::move(metadata));
    if (updated.has_error() && updated.error().code == Errc::kNotFound) {
      ++counts_.update_misses;
    } else if (call.succeeded(updated)) {
      ++counts_.updates;
      counts_.bytes_published += size_bytes;
    }
    co_return updated;
  }

  Task<void> remove(Key key) override {
    Call call(counts_, Operation::kRemove);
    const Result<void> removed = co_await inner_->remove(std::move(key));
    if (call.succeeded(removed)) ++counts_.removes;
    co_return removed;
  }

  Task<void> stop(StopMode mode) override {
    Call call(counts_, Operation::kStop);
    const Result<void> stopped = co_await inner_->stop(mode);
    call.succeeded(stopped);
    co_return stopped;
  }

  void visit_counters(CounterVisitor& visitor) const override;

 private:
  uint64_t failures_total(Operation operation) const;
  void visit_failures(CounterVisitor& visitor) const;

  Counts counts_;  // Before inner_, whose Readers and Writers count until they are gone.
  std::unique_ptr<StorageScheme> inner_;
};

void InstrumentedScheme::visit_counters(CounterVisitor& visitor) const {
  visitor.counter("opens_total", "result=\"hit\"", counts_.hits);
  visitor.counter("opens_total", "result=\"miss\"", counts_.misses);
  visitor.counter("opens_total", "result=\"error\"", failures_total(Operation::kOpen));
  uint64_t declined = 0;
  for (const uint64_t count : counts_.declines) declined += count;
  visitor.counter("creates_total", "result=\"accepted\"", counts_.creates);
  visitor.counter("creates_total", "result=\"declined\"", declined);
  for (size_t at = 1; at < kErrcCount; ++at) {
    const std::string label = std::string("reason=\"") + name_of(static_cast<Errc>(at)) + "\"";
    visitor.counter("declines_total", label, counts_.declines[at]);
  }
  visitor.counter("commits_total", "result=\"published\"", counts_.commits);
  visitor.counter("commits_total", "result=\"failed\"", failures_total(Operation::kCommit));
  visitor.counter("aborts_total", "", counts_.aborts);
  visitor.counter("updates_total", "result=\"done\"", counts_.updates);
  visitor.counter("updates_total", "result=\"miss\"", counts_.update_misses);
  visitor.counter("updates_total", "result=\"error\"", failures_total(Operation::kUpdate));
  visitor.counter("removes_total", "result=\"done\"", counts_.removes);
  visitor.counter("removes_total", "result=\"error\"", failures_total(Operation::kRemove));
  visitor.counter("bytes_read_total", "", counts_.bytes_read);
  visitor.counter("bytes_written_total", "", counts_.bytes_written);
  // Keys, metadata and bodies of what was committed, and metadata of updates: what the bytes that
  // an engine wrote are compared with.
  visitor.counter("published_bytes_total", "", counts_.bytes_published);
  for (size_t at = 0; at < kOperationCount; ++at) {
    const std::string label = std::string("operation=\"") + kOperationNames[at] + "\"";
    visitor.counter("operations_total", label, counts_.calls[at]);
    visitor.counter("operation_time_ns_total", label, counts_.time_ns[at]);
  }
  visit_failures(visitor);
  visitor.gauge("operations_in_flight", "", static_cast<double>(counts_.in_flight));
  visitor.gauge("readers_open", "", static_cast<double>(counts_.readers_open));
  visitor.gauge("writers_open", "", static_cast<double>(counts_.writers_open));
  inner_->visit_counters(visitor);
}

uint64_t InstrumentedScheme::failures_total(Operation operation) const {
  uint64_t total = 0;
  for (const uint64_t count : counts_.failures[static_cast<size_t>(operation)]) total += count;
  return total;
}

void InstrumentedScheme::visit_failures(CounterVisitor& visitor) const {
  for (size_t operation = 0; operation < kOperationCount; ++operation) {
    for (size_t reason = 1; reason < kErrcCount; ++reason) {
      const uint64_t count = counts_.failures[operation][reason];
      if (count == 0) continue;  // Most pairs cannot happen; they would only be noise.
      const std::string label = std::string("operation=\"") + kOperationNames[operation] +
                                "\",reason=\"" + name_of(static_cast<Errc>(reason)) + "\"";
      visitor.counter("failures_total", label, count);
    }
  }
}

}  // namespace

std::unique_ptr<StorageScheme> make_instrumented(std::unique_ptr<StorageScheme> inner,
                                                 const Clock& clock) {
  return std::make_unique<InstrumentedScheme>(std::move(inner), clock);
}

}  // namespace storage
