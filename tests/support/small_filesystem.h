// A filesystem that is soon full.
#pragma once

#include <sys/mount.h>

#include <filesystem>
#include <string>

#include "tests/support/temp_dir.h"

namespace testing_support {

/// A tmpfs of `size`, as mount takes it ("2m"); not mounted where the user may not. Unmounted by
/// the destructor.
class SmallFilesystem {
 public:
  explicit SmallFilesystem(const std::string& size)
      : mounted_(::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, ("size=" + size).c_str()) ==
                 0) {}
  ~SmallFilesystem() {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  SmallFilesystem(const SmallFilesystem&) = delete;
  SmallFilesystem& operator=(const SmallFilesystem&) = delete;
  bool mounted() const { return mounted_; }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TempDir folder_;
  bool mounted_;
};

}  // namespace testing_support
