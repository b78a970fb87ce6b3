#include "storage/layout/ufs_rebuild.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/layout/ufs_object.h"

namespace storage {

namespace {

// No store has a file beyond this; a log record that says so is damage that its checksum missed.
constexpr uint64_t kFootprintMax = uint64_t{1} << 47;

bool sensible(const UfsLogRecord& record) {
  return record.sequence <= kUfsSequenceMax && record.file_size_bytes <= kFootprintMax &&
         record.allocated_bytes <= kFootprintMax;
}

// A recovery by scanning, step by step.
class Rebuild {
 public:
  Rebuild(IoEngine& engine, UfsDirectory& directory, BufferPool& buffers, UfsIndex& index)
      : engine_(engine), directory_(directory), buffers_(buffers), index_(index) {}

  Task<UfsRecovery> run(UfsLogContents log);

 private:
  struct Listed {
    size_t position = 0;  // in the log, the later the newer
    UfsLogRecord record;
  };
  struct Candidate {
    std::pair<bool, uint64_t> order;  // what the log does not know is newest, by file number
    UfsLogRecord object;
  };

  void replay(const UfsLogContents& log);
  Task<void> examine(UfsFoundFile file);
  Task<UfsLogRecord> identify(UfsFoundFile file);
  Task<void> remove(std::string path, uint64_t& count);

  IoEngine& engine_;
  UfsDirectory& directory_;
  BufferPool& buffers_;
  UfsIndex& index_;
  std::unordered_map<uint64_t, Listed> listed_;
  std::vector<Candidate> candidates_;
  UfsRecovery recovery_;
};

void Rebuild::replay(const UfsLogContents& log) {
  size_t position = 0;
  for (const UfsLogRecord& record : log.records) {
    ++position;
    if (!sensible(record)) {
      ++recovery_.report.dropped_damaged;
      continue;
    }
    recovery_.next_sequence = std::max(recovery_.next_sequence, record.sequence + 1);
    if (record.kind == UfsLogRecord::Kind::kAdd) {
      Listed& listed = listed_[record.sequence];
      listed.position = position;
      listed.record = record;
    } else {
      listed_.erase(record.sequence);
    }
  }
}

Task<UfsRecovery> Rebuild::run(UfsLogContents log) {
  recovery_.report.clean = false;
  recovery_.report.dropped_damaged = log.damaged_records;
  recovery_.next_sequence = std::min(log.next_sequence, kUfsSequenceMax);
  replay(log);

  std::vector<UfsFoundFile> files;
  const auto scanned =
      directory_.scan([&files](const UfsFoundFile& file) { files.push_back(file); });
  if (!scanned) co_return scanned.error();
  for (const UfsFoundFile& file : files) {
    recovery_.next_sequence = std::max(recovery_.next_sequence, file.sequence + 1);
    const Result<void> examined = co_await examine(file);
    if (!examined) co_return examined.error();
  }
  std::ranges::sort(candidates_, {}, &Candidate::order);
  for (const Candidate& candidate : candidates_) {
    // The higher number is the later version, whatever the order of last use.
    const std::optional<UfsLogRecord> other = index_.find(candidate.object.hash);
    uint64_t older = candidate.object.sequence;
    if (!other || other->sequence < older) {
      const std::optional<UfsLogRecord> replaced = index_.insert(candidate.object);
      if (!replaced) continue;
      older = replaced->sequence;
    }
    const Result<void> removed =
        co_await remove(ufs_object_path(directory_.shape(), older), recovery_.report.dropped_stray);
    if (!removed) co_return removed.error();
  }
  co_return recovery_;
}

Task<void> Rebuild::examine(UfsFoundFile file) {
  if (file.temporary) {
    co_return co_await remove(ufs_temporary_path(directory_.shape(), file.sequence),
                              recovery_.report.dropped_stray);
  }
  Candidate candidate;
  const auto listed = listed_.find(file.sequence);
  if (listed != listed_.end() && listed->second.record.file_size_bytes == file.file_size_bytes) {
    candidate.order = {false, listed->second.position};
    candidate.object = listed->second.record;
  } else {
    const Result<UfsLogRecord> identified = co_await identify(file);
    if (!identified) {
      const Errc code = identified.error().code;
      if (code == Errc::kNotFound) co_return Result<void>();  // somebody removed it just now
      if (code != Errc::kCorrupt && code != Errc::kIo) co_return identified.error();
      co_return co_await remove(ufs_object_path(directory_.shape(), file.sequence),
                                recovery_.report.dropped_damaged);
    }
    candidate.order = {true, file.sequence};
    candidate.object = *identified;
  }
  candidate.object.allocated_bytes = std::max(file.allocated_bytes, file.file_size_bytes);
  candidates_.push_back(candidate);
  co_return Result<void>();
}

Task<UfsLogRecord> Rebuild::identify(UfsFoundFile file) {
  Result<std::unique_ptr<File>> opened =
      co_await engine_.open(ufs_object_path(directory_.shape(), file.sequence), OpenMode::kRead);
  if (!opened) co_return opened.error();
  const Result<UfsHead> head = co_await read_ufs_head(**opened, buffers_, file.sequence);
  (void)co_await (*opened)->close();
  if (!head) co_return head.error();
  if (head->header.file_size_bytes() != file.file_size_bytes) co_return Error(Errc::kCorrupt);
  UfsLogRecord object;
  object.sequence = file.sequence;
  object.hash = Key(std::string(head->key)).hash();
  object.file_size_bytes = file.file_size_bytes;
  co_return object;
}

Task<void> Rebuild::remove(std::string path, uint64_t& count) {
  const Result<void> removed = co_await engine_.unlink(std::move(path));
  if (!removed && removed.error().code != Errc::kNotFound) co_return removed;
  ++count;
  co_return Result<void>();
}

// Takes over a clean log; versions that share their shortened hash leave all but one.
Task<UfsRecovery> adopt(IoEngine& engine, UfsDirectory& directory, UfsIndex& index, UfsSwapLog& log,
                        UfsLogContents contents) {
  UfsRecovery recovery;
  recovery.next_sequence = contents.next_sequence;
  const Result<void> reopened =
      co_await log.reopen_clean(contents.records.size(), contents.next_sequence);
  if (!reopened) co_return reopened.error();
  for (const UfsLogRecord& record : contents.records) {
    recovery.next_sequence = std::max(recovery.next_sequence, record.sequence + 1);
    const std::optional<UfsLogRecord> replaced = index.insert(record);
    if (!replaced) continue;
    (void)co_await engine.unlink(ufs_object_path(directory.shape(), replaced->sequence));
    ++recovery.report.dropped_stray;
  }
  co_return recovery;
}

}  // namespace

Task<UfsRecovery> recover_ufs(IoEngine& engine, UfsDirectory& directory, BufferPool& buffers,
                              UfsIndex& index, UfsSwapLog& log) {
  Result<UfsLogContents> contents = co_await log.load();
  if (!contents) co_return contents.error();
  if (contents->clean && std::ranges::all_of(contents->records, sensible)) {
    co_return co_await adopt(engine, directory, index, log, std::move(*contents));
  }
  UfsRecovery recovery;
  if (!directory.fresh()) {
    Rebuild rebuild(engine, directory, buffers, index);
    const Result<UfsRecovery> rebuilt = co_await rebuild.run(std::move(*contents));
    if (!rebuilt) co_return rebuilt.error();
    recovery = *rebuilt;
  }
  // Without a log the store works all the same, and the next start scans again.
  (void)co_await log.rewrite(index.by_sequence(), false, recovery.next_sequence);
  co_return recovery;
}

}  // namespace storage
