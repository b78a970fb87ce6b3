// A coss store on a faulty engine.
#pragma once

#include "storage/layout/coss_format.h"
#include "storage/layout/coss_scheme.h"
#include "tests/support/volume_under_test.h"

namespace testing_support {

/// Stripes of 64 KiB and eight membufs.
class CossUnderTest : public VolumeUnderTest {
 public:
  /// In a folder of its own, or in `folder`, which is then left as it is.
  explicit CossUnderTest(uint64_t capacity_bytes = 8 << 20,
                         const std::filesystem::path& folder = {})
      : VolumeUnderTest({"coss",
                         {{"stripe-size", "64K"}, {"membufs", "8"}},
                         32 * 1024,
                         storage::make_coss,
                         storage::make_log_of_stripes},
                        capacity_bytes, folder) {}

  /// Where a stripe begins in the file.
  static uint64_t stripe_offset(uint64_t stripe) {
    return storage::kCossStripesOffset + stripe * (64 << 10);
  }
};

}  // namespace testing_support
