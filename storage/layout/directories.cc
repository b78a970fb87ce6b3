#include "storage/layout/directories.h"

#include <algorithm>
#include <utility>

#include "storage/base/guarded_task.h"
#include "storage/instrumented.h"
#include "storage/layout/directory_counters.h"
#include "storage/layout/key_turns.h"
#include "storage/layout/size_bounds.h"

namespace storage {

namespace {

/// A directory and what is under way in it.
struct Directory {
  Directory(CacheDirectory given, const Clock& clock)
      : plain(given.scheme.get()),
        measured(make_instrumented(std::move(given.scheme), clock)),
        path(std::move(given.path)),
        takes_any_size(given.takes_any_size) {}

  const StorageScheme* plain;  // inside `measured`
  std::unique_ptr<StorageScheme> measured;
  const std::string path;
  const bool takes_any_size;
  uint64_t load = 0;
  uint64_t chosen = 0;
};

/// A part of a directory's load, for as long as it lives.
class Load {
 public:
  explicit Load(Directory& directory) : directory_(directory) { ++directory_.load; }
  ~Load() { --directory_.load; }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  Directory& directory_;
};

class DirectoryReader final : public Reader {
 public:
  DirectoryReader(std::unique_ptr<Reader> inner, Directory& directory)
      : inner_(std::move(inner)), directory_(directory) {}

  const Metadata& metadata() const override { return inner_->metadata(); }
  uint64_t body_size_bytes() const override { return inner_->body_size_bytes(); }
  bool in_memory() const override { return inner_->in_memory(); }
  Task<Piece> read(uint64_t offset_bytes, size_t size_bytes_max) override {
    const Load load(directory_);
    co_return co_await inner_->read(offset_bytes, size_bytes_max);
  }

 private:
  std::unique_ptr<Reader> inner_;
  Directory& directory_;
};

/// What asking all directories gave.
struct Found {
  std::unique_ptr<Reader> reader;  // null: none has it
  bool in_several = false;
  Found() = default;
};

/// The higher, the more hopeful a refusal: a later object may be taken after all.
int hope(Errc code) {
  switch (code) {
    case Errc::kOverloaded:
      return 4;
    case Errc::kNoSpace:
      return 3;
    case Errc::kTooSmall:
      return 1;
    case Errc::kTooLarge:
      return 0;
    default:
      return 2;
  }
}

class Directories final : public StorageScheme {
 public:
  Directories(std::vector<CacheDirectory> directories, StoreSelection selection,
              const SchemeEnvironment& environment);

  const SchemeInfo& info() const override { return info_; }
  Task<RecoveryReport> start() override;
  Task<std::unique_ptr<Reader>> open(Key key) override {
    return guarded(open_object(std::move(key)));
  }
  Task<std::unique_ptr<Writer>> create(Key key, Metadata metadata,
                                       std::optional<uint64_t> body_size_bytes) override {
    return guarded(create_object(std::move(key), std::move(metadata), body_size_bytes));
  }
  Task<void> update(Key key, Metadata metadata) override {
    return guarded(update_object(std::move(key), std::move(metadata)));
  }
  Task<void> remove(Key key) override { return guarded(remove_object(std::move(key))); }
  Task<void> stop(StopMode mode) override;
  void visit_counters(CounterVisitor& visitor) const override;

  KeyTurns& turns() { return turns_; }
  /// Removes `key` from all directories but `kept`; goes on after errors, and gives the first.
  Task<void> remove_except(Key key, const Directory* kept);

 private:
  std::vector<Directory*> in_order_of_choice(bool size_is_known);
  Task<Found> ask_all(Key key);
  Task<std::unique_ptr<Reader>> open_object(Key key);
  Task<std::unique_ptr<Writer>> create_object(Key key, Metadata metadata,
                                              std::optional<uint64_t> body_size_bytes);
  Task<void> update_object(Key key, Metadata metadata);
  Task<void> remove_object(Key key);

  const StoreSelection selection_;
  std::vector<std::unique_ptr<Directory>> directories_;
  SchemeInfo info_;
  KeyTurns turns_;
  size_t next_ = 0;
  uint64_t duplicates_ = 0;
};

class DirectoryWriter final : public Writer {
 public:
  DirectoryWriter(std::unique_ptr<Writer> inner, Directories& all, Directory& directory, Key key,
                  std::optional<uint64_t> body_size_bytes)
      : inner_(std::move(inner)),
        all_(all),
        directory_(directory),
        load_(directory),
        key_(std::move(key)),
        body_size_bytes_(body_size_bytes) {}

  Task<Space> reserve(size_t size_hint_bytes) override { return inner_->reserve(size_hint_bytes); }
  Result<void> append(Space space, size_t used_bytes) override {
    const Result<void> appended = inner_->append(std::move(space), used_bytes);
    failed_ = failed_ || !appended;
    written_bytes_ += used_bytes;
    return appended;
  }
  Task<void> commit() override { return guarded(commit_object()); }

 private:
  Task<void> commit_object() {
    // What cannot succeed must not cost the old version.
    const bool complete = !body_size_bytes_ || *body_size_bytes_ == written_bytes_;
    if (failed_ || !complete) co_return co_await inner_->commit();
    const Result<KeyTurns::Turn> turn = co_await all_.turns().take(key_.hash());
    if (!turn) co_return turn.error();
    const Result<void> removed = co_await all_.remove_except(key_, &directory_);
    if (!removed) co_return removed;
    co_return co_await inner_->commit();
  }

  std::unique_ptr<Writer> inner_;
  Directories& all_;
  Directory& directory_;
  const Load load_;
  const Key key_;
  const std::optional<uint64_t> body_size_bytes_;
  uint64_t written_bytes_ = 0;
  bool failed_ = false;
};

std::string title_of(size_t number, const Directory& directory) {
  return "cache directory " + std::to_string(number) + " (" + directory.measured->info().name +
         (directory.path.empty() ? "" : " " + directory.path) + ")";
}

Directories::Directories(std::vector<CacheDirectory> directories, StoreSelection selection,
                         const SchemeEnvironment& environment)
    : selection_(selection), turns_(environment.executor) {
  info_.persistent = true;
  for (CacheDirectory& given : directories) {
    directories_.push_back(std::make_unique<Directory>(std::move(given), environment.clock));
    const Directory& directory = *directories_.back();
    const SchemeInfo& info = directory.measured->info();
    if (("+" + info_.name + "+").find("+" + info.name + "+") == std::string::npos) {
      info_.name += (info_.name.empty() ? "" : "+") + info.name;
    }
    info_.persistent = info_.persistent && info.persistent;
    info_.capacity_bytes += info.capacity_bytes;
    info_.object_size_bytes_max = std::max(info_.object_size_bytes_max, info.object_size_bytes_max);
    info_.alignment_bytes = std::max(info_.alignment_bytes, info.alignment_bytes);
    const std::string title = title_of(directories_.size() - 1, directory);
    for (const std::string& warning : info.warnings) {
      info_.warnings.push_back(title + ": " + warning);
    }
  }
}

Task<RecoveryReport> Directories::start() {
  RecoveryReport sum;
  for (size_t at = 0; at < directories_.size(); ++at) {
    Directory& directory = *directories_[at];
    const size_t warnings_before = directory.measured->info().warnings.size();
    const Result<RecoveryReport> report = co_await directory.measured->start();
    const std::vector<std::string>& warnings = directory.measured->info().warnings;
    const std::string title = title_of(at, directory);
    for (size_t i = warnings_before; i < warnings.size(); ++i) {
      info_.warnings.push_back(title + ": " + warnings[i]);
    }
    if (!report) {
      info_.warnings.push_back(title + ": cannot be started: " + to_string(report.error()));
      (void)co_await stop(StopMode::kDrain);
      co_return report.error();
    }
    sum.clean = sum.clean && report->clean;
    sum.objects += report->objects;
    sum.size_bytes += report->size_bytes;
    sum.dropped_damaged += report->dropped_damaged;
    sum.dropped_stray += report->dropped_stray;
    sum.duration += report->duration;
  }
  co_return sum;
}

Task<void> Directories::stop(StopMode mode) {
  Result<void> first_error;
  for (const auto& directory : directories_) {
    const Result<void> stopped = co_await directory->measured->stop(mode);
    if (first_error && !stopped) first_error = stopped;
  }
  co_return first_error;
}

Task<Found> Directories::ask_all(Key key) {
  Found found;
  for (const auto& directory : directories_) {
    const Load load(*directory);
    Result<std::unique_ptr<Reader>> reader = co_await directory->measured->open(key);
    if (!reader && reader.error().code == Errc::kNotFound) continue;
    if (!reader) co_return reader.error();
    found.in_several = found.reader != nullptr;
    if (found.in_several) break;
    found.reader = std::make_unique<DirectoryReader>(std::move(*reader), *directory);
  }
  co_return found;
}

Task<std::unique_ptr<Reader>> Directories::open_object(Key key) {
  Result<Found> found = co_await ask_all(key);
  if (!found) co_return found.error();
  if (found->in_several) {
    // Perhaps because it was moved meanwhile.
    const Result<KeyTurns::Turn> turn = co_await turns_.take(key.hash());
    if (!turn) co_return turn.error();
    found = co_await ask_all(key);
    if (!found) co_return found.error();
    if (found->in_several) {
      found->reader.reset();
      ++duplicates_;
      const Result<void> removed = co_await remove_except(key, nullptr);
      if (!removed) co_return removed.error();
    }
  }
  if (found->reader == nullptr) co_return Error(Errc::kNotFound);
  co_return std::move(found->reader);
}

std::vector<Directory*> Directories::in_order_of_choice(bool size_is_known) {
  std::vector<Directory*> order;
  order.reserve(directories_.size());
  for (const auto& directory : directories_) order.push_back(directory.get());
  std::ranges::rotate(order, order.begin() + static_cast<std::ptrdiff_t>(next_));
  next_ = (next_ + 1) % directories_.size();
  if (selection_ == StoreSelection::kLeastLoad) {
    std::ranges::stable_sort(order, {}, &Directory::load);
  }
  if (!size_is_known)
    std::ranges::stable_partition(
        order, [](const Directory* directory) { return directory->takes_any_size; });
  return order;
}

Task<std::unique_ptr<Writer>> Directories::create_object(Key key, Metadata metadata,
                                                         std::optional<uint64_t> body_size_bytes) {
  Error declined(Errc::kTooLarge);
  for (Directory* const directory : in_order_of_choice(body_size_bytes.has_value())) {
    const Load load(*directory);
    Result<std::unique_ptr<Writer>> writer =
        co_await directory->measured->create(key, metadata, body_size_bytes);
    if (writer) {
      ++directory->chosen;
      co_return std::make_unique<DirectoryWriter>(std::move(*writer), *this, *directory,
                                                  std::move(key), body_size_bytes);
    }
    const Errc code = writer.error().code;
    if (code == Errc::kStopped || code == Errc::kAborted) co_return writer.error();
    if (hope(code) > hope(declined.code)) declined = writer.error();
  }
  co_return declined;
}

Task<void> Directories::update_object(Key key, Metadata metadata) {
  const Result<KeyTurns::Turn> turn = co_await turns_.take(key.hash());
  if (!turn) co_return turn.error();
  for (const auto& directory : directories_) {
    const Load load(*directory);
    const Result<void> updated = co_await directory->measured->update(key, metadata);
    if (updated || updated.error().code != Errc::kNotFound) co_return updated;
  }
  co_return Error(Errc::kNotFound);
}

Task<void> Directories::remove_object(Key key) {
  const Result<KeyTurns::Turn> turn = co_await turns_.take(key.hash());
  if (!turn) co_return turn.error();
  co_return co_await remove_except(key, nullptr);
}

Task<void> Directories::remove_except(Key key, const Directory* kept) {
  Result<void> first_error;
  for (const auto& directory : directories_) {
    if (directory.get() == kept) continue;
    const Load load(*directory);
    const Result<void> removed = co_await directory->measured->remove(key);
    if (first_error && !removed) first_error = removed;
  }
  co_return first_error;
}

void Directories::visit_counters(CounterVisitor& visitor) const {
  CounterSums sums;
  for (const auto& directory : directories_) directory->plain->visit_counters(sums);
  sums.report(visitor);
  visitor.counter("duplicates_removed_total", "", duplicates_);
  for (size_t at = 0; at < directories_.size(); ++at) {
    const Directory& directory = *directories_[at];
    LabelledCounters labelled(visitor, "directory_", "dir=\"" + std::to_string(at) + "\"");
    labelled.gauge("info",
                   "type=\"" + directory.measured->info().name + "\",path=\"" +
                       escaped_label_value(directory.path) + "\"",
                   1);
    labelled.counter("chosen_total", "", directory.chosen);
    labelled.gauge("load", "", static_cast<double>(directory.load));
    directory.measured->visit_counters(labelled);
  }
}

/// What is wrong with several directories together; empty if nothing is.
std::string check_together(std::span<const SchemeSpec> specs) {
  for (size_t at = 0; at < specs.size(); ++at) {
    if (specs[at].scheme == "none") {
      return "scheme none holds nothing: leave it out where there are other cache directories";
    }
    for (size_t other = 0; other < at; ++other) {
      if (specs[at].path.empty() ||
          specs[at].path.lexically_normal() != specs[other].path.lexically_normal()) {
        continue;
      }
      return "two cache directories have path=" + specs[at].path.string() + ": give each its own";
    }
  }
  return "";
}

}  // namespace

std::optional<StoreSelection> parse_store_selection(std::string_view text) {
  if (text == "round-robin") return StoreSelection::kRoundRobin;
  if (text == "least-load") return StoreSelection::kLeastLoad;
  return std::nullopt;
}

std::unique_ptr<StorageScheme> make_directories(std::vector<CacheDirectory> directories,
                                                StoreSelection selection,
                                                const SchemeEnvironment& environment) {
  return std::make_unique<Directories>(std::move(directories), selection, environment);
}

SchemeOrError make_store(std::span<const SchemeSpec> specs, StoreSelection selection,
                         const SchemeEnvironment& environment) {
  if (specs.empty()) {
    SchemeSpec none;
    none.scheme = "none";
    return make_scheme(none, environment);
  }
  if (specs.size() == 1) return make_scheme(specs.front(), environment);
  SchemeOrError made;
  made.error = check_together(specs);
  std::vector<CacheDirectory> directories;
  for (const SchemeSpec& spec : specs) {
    if (!made.error.empty()) return made;
    SchemeSpec bare = spec;
    const SizeBounds bounds = take_size_bounds(bare, made.error);
    if (!made.error.empty()) return made;
    made = make_bare_scheme(spec, environment);
    CacheDirectory directory;
    directory.scheme = std::move(made.scheme);
    directory.path = spec.path.string();
    directory.takes_any_size = bounds.takes_any_size();
    directories.push_back(std::move(directory));
  }
  if (!made.error.empty()) return made;
  made.scheme = make_instrumented(make_directories(std::move(directories), selection, environment),
                                  environment.clock);
  return made;
}

}  // namespace storage
