// What is done to the file of a store behind its back.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/coss_under_test.h"
#include "tests/support/pattern.h"
#include "tests/support/rock_under_test.h"

namespace testing_support {
namespace {

using storage::Errc;

template <class Store>
class FileUnderAStore : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(store_.start().has_value());
    ASSERT_TRUE(store_.put("key", StoredObject("head", pattern_body(1, 2000))).has_value());
  }
  const std::filesystem::path& file() { return store_.spec().path; }
  Store store_;
};

using Stores = ::testing::Types<CossUnderTest, RockUnderTest>;
TYPED_TEST_SUITE(FileUnderAStore, Stores);

TYPED_TEST(FileUnderAStore, StopsWellWhereNothingWasDoneToIt) {
  EXPECT_TRUE(this->store_.stop().has_value());
}

TYPED_TEST(FileUnderAStore, OnceRemovedMakesTheStopFail) {
  std::filesystem::remove(this->file());
  const auto stopped = this->store_.stop();
  EXPECT_EQ(stopped.error(), storage::Error(Errc::kIo, ENOENT));
}

TYPED_TEST(FileUnderAStore, OnceReplacedMakesTheStopFailAndIsLeftAlone) {
  std::filesystem::remove(this->file());
  std::ofstream(this->file()) << "another's";
  EXPECT_EQ(this->store_.stop().error(), storage::Error(Errc::kIo, ESTALE));
  EXPECT_EQ(std::filesystem::file_size(this->file()), 9u);
}

TYPED_TEST(FileUnderAStore, OnceCutMakesTheStopFailAndTheNextStartMissesWhatIsGone) {
  std::filesystem::resize_file(this->file(), 64 << 10);
  EXPECT_EQ(this->store_.stop().error(), storage::Error(Errc::kIo, ENODATA));
  ASSERT_TRUE(this->store_.start().has_value());
  const auto found = this->store_.get("key");
  if (found.has_value()) {
    EXPECT_EQ(found->body, pattern_body(1, 2000));
  } else {
    EXPECT_EQ(found.error().code, Errc::kNotFound);
  }
  EXPECT_TRUE(this->store_.put("new", StoredObject("head", pattern_body(2, 2000))).has_value());
  EXPECT_TRUE(this->store_.get("new").has_value());
}

}  // namespace
}  // namespace testing_support
