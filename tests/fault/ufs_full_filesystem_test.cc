// A ufs store on a real filesystem that is smaller than the store is allowed to be.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/pattern.h"
#include "tests/support/small_filesystem.h"
#include "tests/support/ufs_under_test.h"

namespace testing_support {
namespace {

TEST(UfsFullFilesystem, CostsObjectsAndComesBack) {
  const SmallFilesystem filesystem("2m");
  if (!filesystem.mounted()) GTEST_SKIP() << "mounting a tmpfs needs root";
  UfsUnderTest store(16 << 20, 16 * 1024, filesystem.path());
  ASSERT_TRUE(store.start().has_value());
  const auto put = [&store](uint64_t number) {
    return store.put(std::to_string(number), StoredObject("head", pattern_body(number, 30'000)));
  };
  for (uint64_t i = 0; i < 200; ++i) ASSERT_TRUE(put(i).has_value()) << i;
  EXPECT_GT(store.count("disk_full_total"), 0);
  EXPECT_GE(store.count("size_bytes"), 1 << 20);
  EXPECT_EQ(store.count("size_bytes"), static_cast<double>(store.allocated_bytes()));

  // Somebody else takes all that is left: what is there is served, what is new is declined or
  // takes the place of what was there.
  {
    std::ofstream other(filesystem.path() / "other", std::ios::binary);
    const std::string block(4096, 'x');
    while (other.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  for (uint64_t i = 200; i < 220; ++i) {
    if (!put(i).has_value()) continue;
    EXPECT_EQ(store.get(std::to_string(i))->body, pattern_body(i, 30'000));
  }
  std::filesystem::remove(filesystem.path() / "other");
  ASSERT_TRUE(put(300).has_value());
  ASSERT_TRUE(store.stop().has_value());
  const auto report = store.start();
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->clean);
  EXPECT_EQ(report->size_bytes, store.allocated_bytes());
  EXPECT_EQ(store.get("300")->body, pattern_body(300, 30'000));
  store.crash();
}

}  // namespace
}  // namespace testing_support
