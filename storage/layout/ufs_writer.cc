#include "storage/layout/ufs_writer.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "storage/base/guarded_task.h"
#include "storage/layout/ufs_object.h"

namespace storage {

namespace {

// A rest of a buffer that is shorter than this is not worth lending when more is asked for.
constexpr size_t kWorthwhileSize = 4096;
constexpr unsigned kCreateAttempts = 4;

UfsHeader header_for(UfsStore& store, const Key& key, const Metadata& metadata) {
  UfsHeader header;
  header.sequence = store.take_sequence();
  // A block is verified as a whole, so it should fit into a buffer.
  const size_t fitting = std::bit_floor(store.buffers().buffer_size_bytes());
  header.block_size_bytes =
      static_cast<uint32_t>(std::clamp<size_t>(fitting, kUfsBlockSizeMin, kUfsBlockSizeMax));
  header.key_length_bytes = static_cast<uint32_t>(key.text().size());
  header.slot_capacity_bytes = ufs_slot_capacity(metadata.size());
  return header;
}

}  // namespace

UfsWriter::UfsWriter(std::shared_ptr<UfsStore> store, Key key, Metadata metadata,
                     std::optional<uint64_t> body_size_bytes, uint64_t reserved_bytes,
                     std::optional<uint64_t> replaces)
    : store_(std::move(store)),
      key_(std::move(key)),
      metadata_(std::move(metadata)),
      declared_size_bytes_(body_size_bytes),
      replaces_(replaces),
      header_(header_for(*store_, key_, metadata_)),
      hasher_(header_),
      reserved_bytes_(reserved_bytes) {
  store_->enter(*this);
}

UfsWriter::~UfsWriter() {
  store_->leave(*this);
  if (state_ == State::kCommitted || state_ == State::kStopped) return;
  store_->discard_later(take_leftover());
}

UfsStore::Leftover UfsWriter::take_leftover() {
  std::string path = file_ != nullptr ? std::move(temporary_path_) : std::string();
  return {std::move(file_), std::move(path), std::exchange(reserved_bytes_, 0)};
}

UfsStore::Leftover UfsWriter::give_up_for_stop() {
  if (state_ != State::kCommitted) state_ = State::kStopped;
  buffer_ = Space();
  return take_leftover();
}

Error UfsWriter::closed_error() const {
  return state_ == State::kStopped || !store_->running() ? Errc::kStopped : Errc::kAborted;
}

Task<Space> UfsWriter::reserve(size_t size_hint_bytes) {
  return guarded(reserve_now(size_hint_bytes));
}

Task<void> UfsWriter::commit() {
  return guarded(commit_now());
}

Task<Space> UfsWriter::reserve_now(size_t size_hint_bytes) {
  if (state_ != State::kOpen || !store_->running()) co_return closed_error();
  const UfsStore::Operation operation(store_);
  const size_t wanted = std::max(size_hint_bytes, kWorthwhileSize);
  const size_t free_bytes = buffer_.size() - buffer_used_bytes_;
  if (buffer_used_bytes_ > 0 &&
      free_bytes < std::min(kWorthwhileSize, std::max<size_t>(size_hint_bytes, 1))) {
    const Result<void> written = co_await write_out();
    if (!written) {
      (void)co_await give_up();
      co_return written.error();
    }
  }
  const Result<void> ready = begun_ ? co_await begin_buffer() : co_await begin_file();
  if (!ready) {
    // Without a buffer nothing is lost yet: the caller may ask again.
    if (ready.error().code != Errc::kOverloaded) (void)co_await give_up();
    co_return ready.error();
  }
  std::span<std::byte> rest = buffer_.bytes().subspan(buffer_used_bytes_);
  rest = rest.first(std::min(rest.size(), wanted));
  UfsHeader grown = header_;
  grown.body_size_bytes += rest.size();
  // What is lent beyond the declared size will hardly be used, and is not paid for in advance.
  if (declared_size_bytes_) {
    grown.body_size_bytes = std::min(grown.body_size_bytes,
                                     std::max(*declared_size_bytes_, header_.body_size_bytes + 1));
  }
  grown.body_size_bytes = std::min(grown.body_size_bytes, store_->options().object_size_bytes_max);
  const Result<void> reserved = co_await grow_reservation(grown.file_size_bytes());
  if (!reserved) {
    (void)co_await give_up();
    co_return reserved.error();
  }
  co_return Space(rest, buffer_.owner());
}

Result<void> UfsWriter::append(Space space, size_t used_bytes) {
  if (state_ != State::kOpen || !store_->running()) return closed_error();
  const std::span<std::byte> rest = buffer_.bytes().subspan(buffer_used_bytes_);
  if (space.bytes().data() != rest.data() || used_bytes > space.size()) {
    state_ = State::kFailed;  // not from the last reserve() of this Writer
    return Error(Errc::kAborted);
  }
  if (header_.body_size_bytes + used_bytes > store_->options().object_size_bytes_max) {
    state_ = State::kFailed;
    return Error(Errc::kTooLarge);
  }
  hasher_.append(rest.first(used_bytes));
  buffer_used_bytes_ += used_bytes;
  header_.body_size_bytes += used_bytes;
  return {};
}

Task<void> UfsWriter::commit_now() {
  if (state_ != State::kOpen || !store_->running()) co_return closed_error();
  const UfsStore::Operation operation(store_);
  Result<void> result;
  if (declared_size_bytes_ && *declared_size_bytes_ != header_.body_size_bytes) {
    result = Error(Errc::kAborted);
  }
  if (result && !begun_) result = co_await begin_file();
  if (result) result = co_await grow_reservation(header_.file_size_bytes());
  if (result) result = co_await finish_file();
  UfsLogRecord object;
  object.sequence = header_.sequence;
  object.hash = key_.hash();
  object.file_size_bytes = header_.file_size_bytes();
  if (result) {
    const Result<uint64_t> allocated = co_await file_->allocated_bytes();
    if (allocated) {
      // A filesystem that has not decided yet, or packs small files, still counts the bytes.
      object.allocated_bytes = std::max(*allocated, object.file_size_bytes);
      result = co_await file_->close();
    } else {
      result = allocated.error();
    }
  }
  if (result) result = co_await store_->publish(object, reserved_bytes_, replaces_);
  if (!result) {
    (void)co_await give_up();
    co_return result;
  }
  state_ = State::kCommitted;
  reserved_bytes_ = 0;
  file_.reset();
  co_return result;
}

// Puts the prefix to the front of the first buffer, or writes it at once where it is too long.
Task<void> UfsWriter::begin_file() {
  const Result<void> ready = co_await begin_buffer();
  if (!ready) co_return ready;
  const size_t size = header_.body_offset();
  if (size <= buffer_.size() / 2) {
    encode_prefix(buffer_.bytes().first(size));
    prefix_buffered_ = true;
    buffer_used_bytes_ = size;
    begun_ = true;
    co_return Result<void>();
  }
  std::vector<std::byte> prefix(size);
  encode_prefix(prefix);
  const Result<void> written = co_await write(0, prefix);
  if (!written) co_return written;
  written_bytes_ = size;
  begun_ = true;
  co_return Result<void>();
}

Task<void> UfsWriter::begin_buffer() {
  if (buffer_.size() > 0) co_return Result<void>();
  Result<Space> buffer = co_await store_->buffers().acquire();
  if (!buffer) co_return buffer.error();
  buffer_ = std::move(*buffer);
  buffer_used_bytes_ = 0;
  co_return Result<void>();
}

void UfsWriter::encode_prefix(std::span<std::byte> out) const {
  encode_ufs_header(header_, key_.text(), out);
  encode_ufs_slot(header_, 1, metadata_.bytes(),
                  out.subspan(header_.slot_offset(0), header_.slot_size_bytes()));
  // Generation 0 marks a slot that holds nothing.
  std::ranges::fill(out.subspan(header_.slot_offset(1)), std::byte{0});
}

Task<void> UfsWriter::write_out() {
  if (prefix_buffered_ && declared_size_bytes_) {
    // Now rather than at the end: a header with the final size is written once only.
    UfsHeader final_header = header_;
    final_header.body_size_bytes = *declared_size_bytes_;
    encode_ufs_header(final_header, key_.text(), buffer_.bytes());
    header_final_ = true;
  }
  const Result<void> written =
      co_await write(written_bytes_, buffer_.bytes().first(buffer_used_bytes_));
  if (!written) co_return written;
  written_bytes_ += buffer_used_bytes_;
  prefix_buffered_ = false;
  buffer_used_bytes_ = 0;
  buffer_ = Space();
  co_return Result<void>();
}

Task<void> UfsWriter::finish_file() {
  const std::vector<std::byte> trailer = encode_ufs_trailer(header_, hasher_.finish());
  if (prefix_buffered_) {
    encode_ufs_header(header_, key_.text(), buffer_.bytes());
    header_final_ = true;
  }
  const bool fits = buffer_.size() - buffer_used_bytes_ >= trailer.size();
  if (fits) {
    std::ranges::copy(trailer,
                      buffer_.bytes().begin() + static_cast<ptrdiff_t>(buffer_used_bytes_));
    buffer_used_bytes_ += trailer.size();
  }
  if (buffer_used_bytes_ > 0) {
    const Result<void> written = co_await write_out();
    if (!written) co_return written;
  }
  buffer_ = Space();
  if (!fits) {
    const Result<void> written = co_await write(written_bytes_, trailer);
    if (!written) co_return written;
  }
  if (!header_final_) {
    std::vector<std::byte> front(header_.slot_offset(0));
    encode_ufs_header(header_, key_.text(), front);
    const Result<void> written = co_await write(0, front);
    if (!written) co_return written;
  }
  co_return Result<void>();
}

Task<void> UfsWriter::create_file() {
  UfsDirectory& directory = store_->directory();
  temporary_path_ = ufs_temporary_path(directory.shape(), header_.sequence);
  bool folder_made = false;
  for (unsigned attempt = 0;; ++attempt) {
    if (store_->abandoned()) co_return Error(Errc::kStopped);
    Result<std::unique_ptr<File>> file =
        co_await store_->engine().open(temporary_path_, OpenMode::kCreateExclusive);
    if (file) {
      file_ = std::move(*file);
      co_return Result<void>();
    }
    const Error error = file.error();
    Result<void> remedied = error;
    if (error.code == Errc::kNotFound && !std::exchange(folder_made, true)) {
      remedied = directory.make_folder_of(header_.sequence);
    } else if (error.code == Errc::kNoSpace && attempt < kCreateAttempts) {
      remedied = co_await store_->make_disk_space(header_.body_offset(), attempt);
    }
    if (remedied) continue;
    // A missing folder that cannot be made is no miss.
    co_return error.code == Errc::kNotFound ? Error(Errc::kIo, error.system_errno) : error;
  }
}

Task<void> UfsWriter::write(uint64_t offset_bytes, std::span<const std::byte> bytes) {
  if (file_ == nullptr) {
    const Result<void> created = co_await create_file();
    if (!created) co_return created;
  }
  for (unsigned attempt = 0;; ++attempt) {
    if (store_->abandoned()) co_return Error(Errc::kStopped);
    const Result<void> written = co_await file_->write(offset_bytes, bytes);
    if (written || written.error().code != Errc::kNoSpace) co_return written;
    const Result<void> freed = co_await store_->make_disk_space(bytes.size(), attempt);
    if (!freed) co_return written;
  }
}

Task<void> UfsWriter::grow_reservation(uint64_t file_size_bytes) {
  const uint64_t wanted = ufs_expected_footprint(file_size_bytes);
  if (wanted <= reserved_bytes_) co_return Result<void>();
  const Result<void> reserved = co_await store_->reserve_space(wanted - reserved_bytes_);
  if (reserved) reserved_bytes_ = wanted;
  co_return reserved;
}

// At once rather than in the destructor, so that the space is free when the caller is told.
Task<void> UfsWriter::give_up() {
  state_ = State::kFailed;
  buffer_ = Space();
  const uint64_t reserved = std::exchange(reserved_bytes_, 0);
  if (file_ == nullptr) {
    store_->release_space(reserved);
    co_return Result<void>();
  }
  const std::unique_ptr<File> file = std::move(file_);
  (void)co_await file->close();
  (void)co_await store_->discard_temporary(temporary_path_, reserved);
  co_return Result<void>();
}

Task<std::unique_ptr<Writer>> create_ufs_object(std::shared_ptr<UfsStore> store, Key key,
                                                Metadata metadata,
                                                std::optional<uint64_t> body_size_bytes,
                                                std::optional<uint64_t> replaces) {
  if (!store->running()) co_return Error(Errc::kStopped);
  const UfsStore::Operation operation(store);
  // Here rather than at the first write, so that nothing is begun in vain.
  if (store->engine().overloaded()) co_return Error(Errc::kOverloaded);
  const bool too_large = key.text().size() > Key::kLengthMax ||
                         metadata.size() > Metadata::kSizeMax ||
                         body_size_bytes.value_or(0) > store->options().object_size_bytes_max;
  if (too_large) co_return Error(Errc::kTooLarge);
  UfsHeader estimate;
  estimate.block_size_bytes = kUfsBlockSizeMin;
  estimate.key_length_bytes = static_cast<uint32_t>(key.text().size());
  estimate.slot_capacity_bytes = ufs_slot_capacity(metadata.size());
  estimate.body_size_bytes = body_size_bytes.value_or(0);
  const uint64_t footprint = ufs_expected_footprint(estimate.file_size_bytes());
  const Result<void> reserved = co_await store->reserve_space(footprint);
  if (!reserved) co_return reserved.error();
  if (!store->running()) {
    store->release_space(footprint);
    co_return Error(Errc::kStopped);
  }
  co_return std::unique_ptr<Writer>(new UfsWriter(store, std::move(key), std::move(metadata),
                                                  body_size_bytes, footprint, replaces));
}

}  // namespace storage
