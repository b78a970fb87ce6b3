#include "storage/layout/none.h"

namespace storage {
namespace {

class NoneScheme final : public StorageScheme {
 public:
  explicit NoneScheme(bool size_was_given) {
    info_.name = "none";
    if (size_was_given)
      info_.warnings.emplace_back("size has no effect: scheme none holds nothing");
  }

  const SchemeInfo& info() const override { return info_; }

  Task<RecoveryReport> start() override {
    if (stopped_) co_return Error(Errc::kStopped);
    started_ = true;
    co_return RecoveryReport();
  }
  Task<std::unique_ptr<Reader>> open(Key) override { co_return refusal(Errc::kNotFound); }
  Task<std::unique_ptr<Writer>> create(Key, Metadata, std::optional<uint64_t>) override {
    co_return refusal(Errc::kKeepsNothing);
  }
  Task<void> update(Key, Metadata) override { co_return refusal(Errc::kNotFound); }
  Task<void> remove(Key) override {
    if (!started_ || stopped_) co_return Error(Errc::kStopped);
    co_return Result<void>();
  }
  Task<void> stop(StopMode) override {
    stopped_ = true;
    co_return Result<void>();
  }
  void visit_counters(CounterVisitor& visitor) const override {
    visitor.gauge("objects", "", 0);
    visitor.gauge("size_bytes", "", 0);
  }

 private:
  Error refusal(Errc while_serving) const {
    return Error(started_ && !stopped_ ? while_serving : Errc::kStopped);
  }

  SchemeInfo info_;
  bool started_ = false;
  bool stopped_ = false;
};

}  // namespace

SchemeOrError make_none(const SchemeSpec& spec, const SchemeEnvironment&) {
  SchemeOrError made;
  made.scheme = std::make_unique<NoneScheme>(spec.capacity_bytes != 0);
  return made;
}

}  // namespace storage
