// The file in a store's folder that says which System V objects the store has made, so that those
// of a store whose process was killed are found and removed by the next one.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/io/diskd/owned_fd.h"

namespace storage {

inline constexpr std::string_view kHelperStateName = "diskd.state";

/// Under which keys the process `pid` makes objects from `time_s` on. Written before they are made,
/// so that none can be forgotten.
struct HelperObjects {
  pid_t pid = 0;
  int64_t time_s = 0;  ///< Of the kernel's wall clock, which also stamps the objects.
  int32_t requests_key = 0;
  int32_t replies_key = 0;
  int32_t memory_key = 0;  ///< 0, as the others: there is none.
  friend bool operator==(const HelperObjects& left, const HelperObjects& right) = default;
};

/// The text of the file, always of one length; nothing for any other text.
std::string encode_helper_objects(const HelperObjects& objects);
std::optional<HelperObjects> decode_helper_objects(std::string_view text);

/// Removes those of the objects that are certainly meant: made by this user with mode 0600, within
/// seconds of `time_s`, by `pid` (a segment says so; a queue says who has used it last). Others
/// that happen to have the same key are left alone. Returns how many were removed.
unsigned remove_helper_objects(const HelperObjects& objects);

/// The file, open and locked. The helper inherits the lock: while a helper runs, no other store can
/// start one in the folder, whatever became of the process that started it.
class HelperState {
 public:
  /// Opens the file in `folder_fd`, which must stay open for as long as this lives, removes what an
  /// earlier owner has left and waits at most `wait_max` for its helper to end. Null with one line
  /// in `error` where that fails. Blocks.
  static std::unique_ptr<HelperState> open(int folder_fd, std::chrono::milliseconds wait_max,
                                           std::string& error);

  int fd() const { return fd_.get(); }
  /// How many objects open() removed.
  unsigned leftovers() const { return leftovers_; }

  /// Overwrites the file; an errno or 0.
  int write(const HelperObjects& objects);

 private:
  explicit HelperState(OwnedFd fd) : fd_(std::move(fd)) {}

  OwnedFd fd_;
  unsigned leftovers_ = 0;
};

}  // namespace storage
