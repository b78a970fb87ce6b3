#include "storage/layout/coss_check.h"

#include <algorithm>
#include <utility>

#include "storage/io/blocking.h"
#include "storage/layout/coss_options.h"
#include "storage/layout/coss_recovery.h"
#include "storage/layout/coss_volume.h"

namespace storage {

namespace {

class Check {
 public:
  Check(const CossVolume& volume, const SchemeEnvironment& environment)
      : volume_(volume),
        geometry_(volume.geometry()),
        executor_(environment.executor),
        engine_(environment.clock, volume.directory_fd()),
        index_(geometry_, environment.key_hash_bits) {}

  Task<CheckReport> run();

 private:
  void tell_recovery(const CossRecovery& recovery);
  Task<void> examine(CossLiveStripe live, std::span<std::byte> buffer);
  void examine_directory(const CossLiveStripe& live, std::span<const std::byte> stripe);
  void examine_object(const CossLiveStripe& live, const CossObject& object,
                      std::span<const std::byte> stripe);
  bool verify(const CossLiveStripe& live, const CossObject& object,
              std::span<const std::byte> stripe);
  void note(std::string what);

  const CossVolume& volume_;
  const CossGeometry geometry_;
  boost::asio::any_io_executor executor_;
  BlockingEngine engine_;
  std::shared_ptr<File> file_;
  CossIndex index_;
  CheckReport report_;
};

std::string name_of(uint32_t stripe) {
  return "stripe " + std::to_string(stripe);
}

void Check::note(std::string what) {
  if (report_.findings.size() >= CheckReport::kFindingsMax) return;
  report_.findings.push_back(CheckFinding{volume_.name(), std::move(what)});
}

Task<CheckReport> Check::run() {
  Result<std::unique_ptr<File>> file = co_await engine_.open(volume_.name(), OpenMode::kRead);
  if (!file) co_return file.error();
  file_ = std::move(*file);
  const Result<CossRecovery> recovery =
      co_await recover_coss(file_, geometry_, geometry_.stripe_count, executor_, index_);
  if (!recovery) co_return recovery.error();
  tell_recovery(*recovery);
  const Space buffer = make_coss_buffer(geometry_.stripe_size_bytes);
  for (const CossLiveStripe& live : recovery->live) {
    const Result<void> examined = co_await examine(live, buffer.bytes());
    if (!examined) co_return examined.error();
  }
  const Result<void> closed = co_await file_->close();
  if (!closed) co_return closed.error();
  co_return std::move(report_);
}

void Check::tell_recovery(const CossRecovery& recovery) {
  report_.clean = recovery.clean;
  report_.log_damaged += recovery.damaged.size();
  for (const uint32_t stripe : recovery.damaged) {
    note(name_of(stripe) + ": its directory is damaged: what it held is lost");
  }
  if (recovery.state_damaged) {
    ++report_.log_damaged;
    note("the state page is damaged: the next start reads the ends of all stripes");
  }
  if (recovery.index_damaged) {
    ++report_.log_damaged;
    note("the clean index is damaged: the next start reads the ends of all stripes");
  }
}

Task<void> Check::examine(CossLiveStripe live, std::span<std::byte> buffer) {
  const Result<size_t> got = co_await file_->read(geometry_.stripe_offset(live.stripe), buffer);
  if (got && *got == buffer.size()) {
    examine_directory(live, buffer);
    for (const CossObject& object : index_.objects_of(live.stripe)) {
      examine_object(live, object, buffer);
    }
    co_return Result<void>();
  }
  if (!got && got.error().code != Errc::kIo) co_return got.error();
  const uint64_t objects = index_.objects_of(live.stripe).size();
  report_.unreadable += objects;
  note(name_of(live.stripe) + " with " + std::to_string(objects) + " objects cannot be read: " +
       (got ? std::string("the file ends before") : to_string(got.error())));
  co_return Result<void>();
}

// After a clean stop the index stands for the directories, but a later crash needs them.
void Check::examine_directory(const CossLiveStripe& live, std::span<const std::byte> stripe) {
  const Result<CossTrailer> trailer = decode_coss_trailer(geometry_, live.stripe, stripe);
  const bool sound = trailer && trailer->generation == live.generation &&
                     decode_coss_directory(geometry_, *trailer, stripe).has_value();
  if (sound) {
    report_.log_records += trailer->entry_count;
    return;
  }
  ++report_.log_damaged;
  note(name_of(live.stripe) + ": its directory is damaged: the clean index stands for it");
}

void Check::examine_object(const CossLiveStripe& live, const CossObject& object,
                           std::span<const std::byte> stripe) {
  if (verify(live, object, stripe)) {
    ++report_.objects;
    report_.size_bytes += round_up(object.location.size_bytes, geometry_.block_size_bytes);
    return;
  }
  ++report_.damaged;
  note(name_of(live.stripe) + ": the object at byte " +
       std::to_string(index_.offset_of(object.location)) + " is damaged");
}

bool Check::verify(const CossLiveStripe& live, const CossObject& object,
                   std::span<const std::byte> stripe) {
  const uint32_t offset = index_.offset_of(object.location);
  const auto bytes = stripe.subspan(offset, object.location.size_bytes);
  const uint64_t seed = coss_record_seed(geometry_.store_id, live.generation, offset);
  const Result<CossRecord> record = decode_coss_sizes(bytes, bytes.size());
  if (!record) return false;
  const Result<CossHead> head = decode_coss_head(bytes, seed, *record);
  if (!head) return false;
  const KeyHash hash = Key(std::string(head->key)).hash();
  const bool sound =
      truncated(hash, index_.key_hash_bits()) == object.hash &&
      verify_coss_blocks(seed, head->checksums, 0, bytes.subspan(record->body_offset()));
  if (sound) report_.body_bytes += record->body_size_bytes;
  return sound;
}

}  // namespace

Task<CheckReport> check_coss(SchemeSpec spec, SchemeEnvironment environment) {
  CheckReport failed;
  const std::unique_ptr<CossVolume> volume =
      CossVolume::open(spec.path, CossOptions(), 0, CossVolume::Access::kInspect, failed.error);
  if (volume == nullptr) co_return failed;
  Check check(*volume, environment);
  Result<CheckReport> report = co_await check.run();
  if (report) co_return report;
  failed.error = "cache directory " + spec.path.string() +
                 ": the check cannot go on: " + to_string(report.error());
  co_return failed;
}

}  // namespace storage
