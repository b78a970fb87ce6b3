// A rock store on a faulty engine.
#pragma once

#include <string>
#include <vector>

#include "storage/layout/rock_format.h"
#include "storage/layout/rock_scheme.h"
#include "tests/support/engine_under_test.h"
#include "tests/support/volume_under_test.h"

namespace testing_support {

/// Slots of 4 KiB.
class RockUnderTest : public VolumeUnderTest {
 public:
  static constexpr uint32_t kSlotSizeBytes = 4096;

  /// In a folder of its own, or in `folder`, which is then left as it is.
  explicit RockUnderTest(uint64_t capacity_bytes = 8 << 20,
                         const std::filesystem::path& folder = {})
      : VolumeUnderTest({"rock",
                         {{"slot-size", "4K"}},
                         16 * 1024,
                         storage::make_rock,
                         storage::make_chained_slots},
                        capacity_bytes, folder) {}

  /// Where a slot begins in the file.
  static uint64_t slot_offset(uint64_t slot) {
    return storage::kRockSlotsOffset + slot * kSlotSizeBytes;
  }
};

/// The engines that the layout runs on, as far as this machine has them.
inline std::vector<std::string> engines_of_rock() {
  std::vector<std::string> names = usable_engines();
  std::erase_if(names, [](const std::string& name) {
    return name == "libaio" || name == "posix_aio" || name == "helper";
  });
  return names;
}

}  // namespace testing_support
