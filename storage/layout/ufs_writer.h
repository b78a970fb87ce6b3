// An object on its way into a ufs store.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/layout/ufs_file_format.h"
#include "storage/layout/ufs_store.h"
#include "storage/scheme.h"

namespace storage {

/// Writes an object file. The image of the file is built in the pool's buffers themselves, around
/// the body bytes that the caller puts there: a small object is one buffer and one write.
class UfsWriter final : public Writer {
 public:
  /// Where `replaces` is given, commit() publishes only while that file is still the current one
  /// of this key, and is kNotFound otherwise. `reserved_bytes` have been reserved for it.
  UfsWriter(std::shared_ptr<UfsStore> store, Key key, Metadata metadata,
            std::optional<uint64_t> body_size_bytes, uint64_t reserved_bytes,
            std::optional<uint64_t> replaces);
  ~UfsWriter() override;
  UfsWriter(const UfsWriter&) = delete;
  UfsWriter& operator=(const UfsWriter&) = delete;

  Task<Space> reserve(size_t size_hint_bytes) override;
  Result<void> append(Space space, size_t used_bytes) override;
  Task<void> commit() override;

  /// For the store's stop(): the Writer can only be destroyed from now on, and hands over what is
  /// to be cleaned up.
  UfsStore::Leftover give_up_for_stop();

 private:
  enum class State { kOpen, kFailed, kCommitted, kStopped };

  Task<Space> reserve_now(size_t size_hint_bytes);
  Task<void> commit_now();
  Task<void> begin_file();
  Task<void> begin_buffer();
  Task<void> create_file();
  Task<void> write_out();
  Task<void> write(uint64_t offset_bytes, std::span<const std::byte> bytes);
  Task<void> finish_file();
  Task<void> grow_reservation(uint64_t file_size_bytes);
  Task<void> give_up();
  void encode_prefix(std::span<std::byte> out) const;
  Error closed_error() const;
  UfsStore::Leftover take_leftover();

  std::shared_ptr<UfsStore> store_;
  const Key key_;
  const Metadata metadata_;
  const std::optional<uint64_t> declared_size_bytes_;
  const std::optional<uint64_t> replaces_;
  UfsHeader header_;  // the body's size is what has been appended so far
  UfsBlockHasher hasher_;
  State state_ = State::kOpen;

  uint64_t reserved_bytes_ = 0;
  std::unique_ptr<File> file_;
  std::string temporary_path_;
  uint64_t written_bytes_ = 0;    // of the file, all before the buffer
  bool prefix_buffered_ = false;  // the buffer begins with the prefix, still unwritten
  bool header_final_ = false;     // the header that is written, or will be, has the final size
  bool begun_ = false;            // the prefix has been put somewhere
  Space buffer_;
  size_t buffer_used_bytes_ = 0;
};

/// StorageScheme::create of this layout.
Task<std::unique_ptr<Writer>> create_ufs_object(std::shared_ptr<UfsStore> store, Key key,
                                                Metadata metadata,
                                                std::optional<uint64_t> body_size_bytes,
                                                std::optional<uint64_t> replaces);

}  // namespace storage
