#include "storage/layout/size_bounds.h"

#include <algorithm>
#include <utility>

#include "storage/base/units.h"

namespace storage {

namespace {

/// Of an object of unknown size: at most `size_bytes_max`.
class BoundedWriter final : public Writer {
 public:
  BoundedWriter(std::unique_ptr<Writer> inner, uint64_t size_bytes_max)
      : inner_(std::move(inner)), room_bytes_(size_bytes_max) {}

  Task<Space> reserve(size_t size_hint_bytes) override { return inner_->reserve(size_hint_bytes); }

  Result<void> append(Space space, size_t used_bytes) override {
    if (too_large_) return Error(Errc::kAborted);
    if (used_bytes > room_bytes_) {
      too_large_ = true;
      return Error(Errc::kTooLarge);
    }
    room_bytes_ -= used_bytes;
    return inner_->append(std::move(space), used_bytes);
  }

  Task<void> commit() override {
    if (too_large_) co_return Error(Errc::kAborted);
    co_return co_await inner_->commit();
  }

 private:
  std::unique_ptr<Writer> inner_;
  uint64_t room_bytes_;
  bool too_large_ = false;
};

class SizeBoundedScheme final : public StorageScheme {
 public:
  SizeBoundedScheme(std::unique_ptr<StorageScheme> inner, SizeBounds bounds)
      : inner_(std::move(inner)), bounds_(bounds), info_(inner_->info()) {
    info_.object_size_bytes_max = std::min(info_.object_size_bytes_max, bounds_.max_bytes);
  }

  const SchemeInfo& info() const override { return info_; }
  Task<RecoveryReport> start() override {
    Result<RecoveryReport> report = co_await inner_->start();
    info_.warnings = inner_->info().warnings;
    co_return report;
  }
  Task<std::unique_ptr<Reader>> open(Key key) override { return inner_->open(std::move(key)); }
  Task<std::unique_ptr<Writer>> create(Key key, Metadata metadata,
                                       std::optional<uint64_t> body_size_bytes) override;
  Task<void> update(Key key, Metadata metadata) override {
    return inner_->update(std::move(key), std::move(metadata));
  }
  Task<void> remove(Key key) override { return inner_->remove(std::move(key)); }
  Task<void> stop(StopMode mode) override { return inner_->stop(mode); }
  void visit_counters(CounterVisitor& visitor) const override { inner_->visit_counters(visitor); }

 private:
  std::unique_ptr<StorageScheme> inner_;
  const SizeBounds bounds_;
  SchemeInfo info_;
};

Task<std::unique_ptr<Writer>> SizeBoundedScheme::create(Key key, Metadata metadata,
                                                        std::optional<uint64_t> body_size_bytes) {
  if (body_size_bytes.value_or(0) < bounds_.min_bytes) co_return Error(Errc::kTooSmall);
  if (body_size_bytes.value_or(0) > bounds_.max_bytes) co_return Error(Errc::kTooLarge);
  Result<std::unique_ptr<Writer>> writer =
      co_await inner_->create(std::move(key), std::move(metadata), body_size_bytes);
  if (!writer || body_size_bytes) co_return writer;
  co_return std::make_unique<BoundedWriter>(std::move(*writer), bounds_.max_bytes);
}

/// Takes one size out of the options; leaves `size_bytes` alone where it is not there.
void take_size(SchemeSpec& spec, const SchemeOption& option, uint64_t& size_bytes,
               std::string& error) {
  const auto given = spec.options.find(std::string(option.name));
  if (given == spec.options.end()) return;
  const std::optional<uint64_t> size = parse_size_bytes(given->second);
  if (size) {
    size_bytes = *size;
  } else if (error.empty()) {
    error = "option " + given->first + "=" + given->second + " of scheme " + spec.scheme +
            ": give a size such as 64K";
  }
  spec.options.erase(given);
}

}  // namespace

SizeBounds take_size_bounds(SchemeSpec& spec, std::string& error) {
  SizeBounds bounds;
  take_size(spec, kSizeBoundOptions[0], bounds.min_bytes, error);
  take_size(spec, kSizeBoundOptions[1], bounds.max_bytes, error);
  if (error.empty() && bounds.min_bytes > bounds.max_bytes) {
    error = "scheme " + spec.scheme + ": min-size must not be above max-size";
  }
  return bounds;
}

std::unique_ptr<StorageScheme> make_size_bounded(std::unique_ptr<StorageScheme> inner,
                                                 SizeBounds bounds) {
  if (bounds.takes_any_size()) return inner;
  return std::make_unique<SizeBoundedScheme>(std::move(inner), bounds);
}

}  // namespace storage
