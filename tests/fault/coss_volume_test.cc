// A coss store on files and devices that do not do what is asked: full, read-only, a block device.
#include <gtest/gtest.h>

#include "tests/support/coss_under_test.h"
#include "tests/support/loop_device.h"
#include "tests/support/pattern.h"
#include "tests/support/small_filesystem.h"

namespace testing_support {
namespace {

StoredObject object_of(uint64_t number) {
  return StoredObject("head", pattern_body(number, 12'000));
}

std::string key_of(uint64_t number) {
  return "key " + std::to_string(number);
}

TEST(CossVolume, AFilesystemWithoutRoomIsSaidAndNoFileIsLeft) {
  const SmallFilesystem filesystem("2m");
  if (!filesystem.mounted()) GTEST_SKIP() << "mounting a tmpfs needs root";
  CossUnderTest store(16 << 20, filesystem.path());
  const auto made = storage::make_coss(store.spec(), store.environment());
  EXPECT_EQ(made.scheme, nullptr);
  EXPECT_NE(made.error.find("cannot make it"), std::string::npos) << made.error;
  EXPECT_FALSE(std::filesystem::exists(store.file()));
}

TEST(CossVolume, AFileWithHolesOnAFullFilesystemCostsObjectsAndNoMore) {
  const SmallFilesystem filesystem("4m");
  if (!filesystem.mounted()) GTEST_SKIP() << "mounting a tmpfs needs root";
  CossUnderTest store(16 << 20, filesystem.path());
  std::ofstream(store.file()).flush();
  std::filesystem::resize_file(store.file(), 17 << 20);
  ASSERT_TRUE(store.start_on_its_engine().has_value());
  for (uint64_t i = 0; i < 1000; ++i) {
    const auto put = store.put(key_of(i), object_of(i));
    EXPECT_TRUE(put.has_value() || put.error().code == storage::Errc::kOverloaded);
    store.run_the_rest();
  }
  EXPECT_GT(store.count("stripe_write_errors_total"), 0);
  EXPECT_GT(store.count("dropped_objects_total", "reason=\"unwritten\""), 0);
  uint64_t found_count = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    const auto found = store.get(key_of(i));
    if (!found) continue;
    EXPECT_TRUE(*found == object_of(i));
    ++found_count;
  }
  EXPECT_GT(found_count, 200u);
  // Whether or not the stop finds room for its index, the next start finds the objects.
  static_cast<void>(store.stop());
  ASSERT_TRUE(store.start_on_its_engine().has_value());
  EXPECT_GE(store.count("objects") + 5, static_cast<double>(found_count));
  store.crash();
}

TEST(CossVolume, AFileThatMayNotBeWrittenIsSaid) {
  CossUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  ASSERT_TRUE(store.stop().has_value());
  store.crash();
  std::filesystem::permissions(store.file(), std::filesystem::perms::owner_read);
  const auto made = storage::make_coss(store.spec(), store.environment());
  if (made.scheme != nullptr) GTEST_SKIP() << "this user may write to every file";
  EXPECT_NE(made.error.find("cannot open it: Permission denied"), std::string::npos) << made.error;
}

TEST(CossVolume, ABlockDeviceHoldsAStoreAsAFileDoes) {
  const LoopDevice device(16 << 20);
  if (device.path().empty()) GTEST_SKIP() << "making a loop device needs root";
  CossUnderTest store(8 << 20);
  store.spec().path = device.path();
  ASSERT_TRUE(store.start_on_its_engine().has_value());
  for (uint64_t i = 0; i < 1200; ++i) {
    ASSERT_TRUE(store.put(key_of(i), object_of(i)).has_value());
    store.run_the_rest();
  }
  const double objects = store.count("objects");
  EXPECT_GT(objects, 500);
  EXPECT_GT(store.count("evictions_total"), 500);
  ASSERT_TRUE(store.stop().has_value());
  for (const bool clean : {true, false}) {
    const auto report = store.start_on_its_engine();
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->clean, clean);
    EXPECT_EQ(static_cast<double>(report->objects), objects);
    EXPECT_TRUE(*store.get(key_of(1199)) == object_of(1199));
    store.crash();
  }
  store.spec().capacity_bytes = 32 << 20;
  const auto made = storage::make_coss(store.spec(), store.environment());
  EXPECT_NE(made.error.find("the device has 16.0 MiB, less than size=32.0 MiB"), std::string::npos)
      << made.error;
}

}  // namespace
}  // namespace testing_support
