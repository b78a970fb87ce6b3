#include "storage/layout/ufs_check.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "storage/io/blocking.h"
#include "storage/layout/filesystem_room.h"
#include "storage/layout/ufs_directory.h"
#include "storage/layout/ufs_object.h"
#include "storage/layout/ufs_reader.h"
#include "storage/layout/ufs_swap_log.h"

namespace storage {

namespace {

// What a sound file turned out to hold.
struct CheckedObject {
  KeyHash hash;
  uint64_t body_bytes = 0;
};

class Check {
 public:
  Check(UfsDirectory& directory, const SchemeEnvironment& environment)
      : directory_(directory),
        environment_(environment),
        engine_(environment.clock, directory.fd()) {}

  Task<CheckReport> run();

 private:
  void replay(const UfsLogContents& log);
  Task<void> examine(UfsFoundFile found);
  Task<CheckedObject> verify(UfsFoundFile found);
  void count_sound(const UfsFoundFile& found, const CheckedObject& object);
  void note(std::string file, std::string what);

  UfsDirectory& directory_;
  SchemeEnvironment environment_;
  BlockingEngine engine_;
  std::unordered_map<uint64_t, UfsLogRecord> listed_;
  std::unordered_map<KeyHash, uint64_t, KeyHashHasher> newest_;
  CheckReport report_;
};

void Check::note(std::string file, std::string what) {
  if (report_.findings.size() >= CheckReport::kFindingsMax) return;
  report_.findings.push_back(CheckFinding{std::move(file), std::move(what)});
}

void Check::replay(const UfsLogContents& log) {
  report_.clean = log.clean;
  report_.log_records = log.records.size();
  report_.log_damaged = log.damaged_records;
  const std::string name(kUfsLogName);
  if (!log.exists) note(name, "is missing: the next start scans all folders");
  if (log.damaged_records > 0) {
    note(name, std::to_string(log.damaged_records) + " damaged records");
  }
  for (const UfsLogRecord& record : log.records) {
    if (record.kind == UfsLogRecord::Kind::kAdd) {
      listed_.insert_or_assign(record.sequence, record);
    } else {
      listed_.erase(record.sequence);
    }
  }
}

Task<CheckReport> Check::run() {
  UfsSwapLog log(engine_);
  const Result<UfsLogContents> contents = co_await log.load();
  if (!contents) co_return contents.error();
  replay(*contents);
  std::vector<UfsFoundFile> files;
  const auto scanned =
      directory_.scan([&files](const UfsFoundFile& file) { files.push_back(file); });
  if (!scanned) co_return scanned.error();
  report_.foreign = scanned->foreign;
  // The newest first, so that of several versions the later is the one that counts.
  std::ranges::sort(files, std::greater<>(), &UfsFoundFile::sequence);
  for (const UfsFoundFile& file : files) {
    const Result<void> examined = co_await examine(file);
    if (!examined) co_return examined.error();
  }
  for (const auto& [sequence, record] : listed_) {
    ++report_.missing;
    note(ufs_object_path(directory_.shape(), sequence), "is in the log and has no file");
  }
  co_return std::move(report_);
}

Task<void> Check::examine(UfsFoundFile found) {
  if (found.temporary) {
    ++report_.strays;
    note(ufs_temporary_path(directory_.shape(), found.sequence), "is left of an unfinished write");
    co_return Result<void>();
  }
  const std::string path = ufs_object_path(directory_.shape(), found.sequence);
  const bool listed = listed_.erase(found.sequence) > 0;
  const Result<CheckedObject> object = co_await verify(found);
  if (object) {
    count_sound(found, *object);
    report_.unlisted += listed ? 0 : 1;
  } else if (object.error().code == Errc::kCorrupt) {
    ++report_.damaged;
    note(path, "is damaged");
  } else if (object.error().code == Errc::kIo) {
    ++report_.unreadable;
    note(path, "cannot be read: " + to_string(object.error()));
  } else {
    co_return object.error();
  }
  co_return Result<void>();
}

void Check::count_sound(const UfsFoundFile& found, const CheckedObject& object) {
  const auto [place, added] = newest_.try_emplace(object.hash, found.sequence);
  if (!added) {
    ++report_.duplicates;
    note(ufs_object_path(directory_.shape(), found.sequence),
         "is an older version of " + ufs_object_path(directory_.shape(), place->second));
    return;
  }
  ++report_.objects;
  report_.size_bytes += found.allocated_bytes;
  report_.body_bytes += object.body_bytes;
}

Task<CheckedObject> Check::verify(UfsFoundFile found) {
  Result<std::unique_ptr<File>> file =
      co_await engine_.open(ufs_object_path(directory_.shape(), found.sequence), OpenMode::kRead);
  if (!file) co_return file.error();
  const Result<UfsHead> head = co_await read_ufs_head(**file, environment_.buffers, found.sequence);
  if (!head) co_return head.error();
  const UfsHeader header = head->header;
  if (header.file_size_bytes() != found.file_size_bytes) co_return Error(Errc::kCorrupt);
  const Result<std::vector<uint64_t>> checksums = co_await read_ufs_trailer(**file, *head);
  if (!checksums) co_return checksums.error();
  std::vector<std::byte> block(header.block_size_bytes);
  for (uint64_t i = 0; i < header.block_count(); ++i) {
    const uint64_t begin = i * header.block_size_bytes;
    const std::span<std::byte> bytes = std::span(block).first(
        std::min<uint64_t>(header.block_size_bytes, header.body_size_bytes - begin));
    const Result<size_t> got = co_await (*file)->read(header.body_offset() + begin, bytes);
    if (!got) co_return got.error();
    if (*got < bytes.size() || !verify_ufs_blocks(header, *checksums, i, bytes)) {
      co_return Error(Errc::kCorrupt);
    }
  }
  CheckedObject object;
  object.hash = Key(std::string(head->key)).hash();
  object.body_bytes = header.body_size_bytes;
  co_return object;
}

}  // namespace

Task<CheckReport> check_ufs(SchemeSpec spec, SchemeEnvironment environment) {
  CheckReport failed;
  const std::unique_ptr<UfsDirectory> directory =
      UfsDirectory::open(spec.path, UfsShape(), UfsDirectory::Access::kInspect, failed.error);
  if (directory == nullptr) co_return failed;
  Check check(*directory, environment);
  Result<CheckReport> report = co_await check.run();
  if (report) {
    std::string warning =
        beyond_filesystem(directory->fd(), spec.capacity_bytes, report->size_bytes);
    if (!warning.empty()) report->warnings.push_back(std::move(warning));
    co_return report;
  }
  failed.error = "cache directory " + spec.path.string() +
                 ": the check cannot go on: " + to_string(report.error());
  co_return failed;
}

}  // namespace storage
