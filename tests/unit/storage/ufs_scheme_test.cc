#include "storage/layout/ufs_scheme.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/pattern.h"
#include "tests/support/ufs_under_test.h"

namespace storage {
namespace {

using testing_support::pattern_body;
using testing_support::StoredObject;
using testing_support::UfsUnderTest;

class UfsOptionsTest : public ::testing::Test {
 protected:
  std::string error_of(std::map<std::string, std::string> options) {
    UfsUnderTest around;
    around.spec().options = std::move(options);
    const SchemeOrError made = make_ufs(around.spec(), around.environment());
    EXPECT_EQ(made.scheme == nullptr, !made.error.empty());
    object_size_max_ = made.scheme != nullptr ? made.scheme->info().object_size_bytes_max : 0;
    return made.error;
  }
  uint64_t object_size_max_ = 0;
};

TEST_F(UfsOptionsTest, DefaultsAreGood) {
  EXPECT_EQ(error_of({}), "");
  EXPECT_EQ(object_size_max_, (8U << 20) / 4) << "a quarter of the cache";
  EXPECT_EQ(error_of({{"max-object", "100K"}, {"high-water", "99"}, {"low-water", "99"}}), "");
  EXPECT_EQ(object_size_max_, 100U * 1024);
}

TEST_F(UfsOptionsTest, ErrorsNameTheOptionAndWhatWouldBeRight) {
  EXPECT_EQ(error_of({{"l1", "0"}}),
            "option l1=0 of scheme ufs: give a whole number from 1 to 256");
  EXPECT_EQ(error_of({{"l2", "257"}}),
            "option l2=257 of scheme ufs: give a whole number from 1 to 256");
  EXPECT_EQ(error_of({{"high-water", "101"}}),
            "option high-water=101 of scheme ufs: give a whole number from 1 to 100");
  EXPECT_EQ(error_of({{"low-water", "x"}}),
            "option low-water=x of scheme ufs: give a whole number from 1 to 100");
  EXPECT_EQ(error_of({{"low-water", "96"}}),
            "option low-water=96 of scheme ufs: must not be above high-water, which is 95");
  EXPECT_EQ(error_of({{"max-object", "9M"}}),
            "option max-object=9M of scheme ufs: give a size from 1 to that of the cache, such as "
            "max-object=4M");
}

TEST(UfsScheme, ASizeBeyondTheFilesystemIsWarnedOf) {
  UfsUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  EXPECT_TRUE(store.scheme().info().warnings.empty());
  UfsUnderTest vast(uint64_t{1} << 59);
  ASSERT_TRUE(vast.start().has_value());
  ASSERT_EQ(vast.scheme().info().warnings.size(), 1u);
  EXPECT_NE(vast.scheme().info().warnings[0].find("size asked is"), std::string::npos);
}

TEST(UfsScheme, ADamagedMarkerSaysHowToGoOn) {
  UfsUnderTest store;
  std::ofstream(store.folder() / "cacheoff-ufs") << "rubbish";
  const SchemeOrError made = make_ufs(store.spec(), store.environment());
  EXPECT_TRUE(made.not_opened);
  EXPECT_NE(made.error.find("cacheoff-ufs is damaged"), std::string::npos) << made.error;
  EXPECT_NE(made.error.find("'cacheoff ufs store, version 1', 'l1=16', 'l2=256'"),
            std::string::npos);
  // As it says.
  std::ofstream(store.folder() / "cacheoff-ufs") << "cacheoff ufs store, version 1\nl1=2\nl2=2\n";
  EXPECT_EQ(make_ufs(store.spec(), store.environment()).error, "");
}

TEST(UfsScheme, SecondStoreOfAFolderIsRefusedUntilTheFirstHasStopped) {
  UfsUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  const SchemeOrError second = make_ufs(store.spec(), store.environment());
  EXPECT_EQ(second.scheme, nullptr);
  EXPECT_NE(second.error.find("is in use by another process"), std::string::npos) << second.error;
  ASSERT_TRUE(store.stop().has_value());
  EXPECT_NE(make_ufs(store.spec(), store.environment()).scheme, nullptr);
}

TEST(UfsScheme, ASmallObjectIsOneWriteAndOneRead) {
  UfsUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  ASSERT_TRUE(store.put("first", StoredObject("head", "makes the folders")).has_value());
  const double writes = store.count("io_operations_total", "operation=\"write\"");
  ASSERT_TRUE(store.put("key", StoredObject("head", pattern_body(1, 11'000))).has_value());
  EXPECT_EQ(store.count("io_operations_total", "operation=\"write\"") - writes, 1);
  const double reads = store.count("io_operations_total", "operation=\"read\"");
  EXPECT_TRUE(store.get("key").has_value());
  EXPECT_EQ(store.count("io_operations_total", "operation=\"read\"") - reads, 1);
  const double opened = store.count("io_operations_total", "operation=\"open\"") -
                        store.count("io_errors_total", "operation=\"open\"");
  EXPECT_EQ(store.count("io_operations_total", "operation=\"close\""), opened - 1)
      << "only the log stays open";
}

TEST(UfsScheme, EvictsDownToTheLowWaterMarkByLastUse) {
  UfsUnderTest store(4 << 20);
  store.spec().options["high-water"] = "50";
  store.spec().options["low-water"] = "25";
  ASSERT_TRUE(store.start().has_value());
  double size_max = 0;
  double size_min = 4 << 20;
  for (uint64_t i = 0; i < 400; ++i) {
    ASSERT_TRUE(store.put(std::to_string(i), StoredObject("", pattern_body(i, 20'000))));
    ASSERT_TRUE(store.get("0").has_value()) << "used all the time";
    size_max = std::max(size_max, store.count("size_bytes"));
    if (i > 150) size_min = std::min(size_min, store.count("size_bytes"));
  }
  EXPECT_LE(size_max, (4 << 20) * 0.50 + 32'768);
  EXPECT_GE(size_max, (4 << 20) * 0.45);
  EXPECT_LE(size_min, (4 << 20) * 0.26);
  EXPECT_GE(size_min, (4 << 20) * 0.20);
}

TEST(UfsScheme, KeepsTheOrderOfUseOverACleanRestart) {
  UfsUnderTest store(1 << 20);
  ASSERT_TRUE(store.start().has_value());
  for (uint64_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(store.put(std::to_string(i), StoredObject("", pattern_body(i, 30'000))));
  }
  for (const char* used : {"3", "0", "7"}) ASSERT_TRUE(store.get(used).has_value());
  ASSERT_TRUE(store.stop().has_value());
  ASSERT_TRUE(store.start()->clean);
  for (uint64_t i = 100; i < 125; ++i) {  // pushes out all but the last used
    ASSERT_TRUE(store.put(std::to_string(i), StoredObject("", pattern_body(i, 30'000))));
  }
  EXPECT_TRUE(store.get("7").has_value());
  EXPECT_TRUE(store.get("0").has_value());
  for (const char* unused : {"1", "2", "4", "15"}) EXPECT_FALSE(store.get(unused).has_value());
}

TEST(UfsScheme, UpdatesInPlaceWhereTheyFitAndRewritesOtherwise) {
  UfsUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  for (const size_t size : {size_t{0}, size_t{10}, size_t{200'000}}) {
    const std::string body = pattern_body(size, size);
    ASSERT_TRUE(store.put("key", StoredObject("old", body)).has_value());
    const double in_place = store.count("update_methods_total", "how=\"in_place\"");
    for (const std::string metadata : {"new", "", "newer and longer"}) {
      ASSERT_TRUE(store.update("key", metadata).has_value());
      EXPECT_TRUE(*store.get("key") == StoredObject(metadata, body));
    }
    EXPECT_EQ(store.count("update_methods_total", "how=\"in_place\""), in_place + 3);
    const std::string long_metadata(Metadata::kSizeMax, 'm');
    const double rewritten = store.count("update_methods_total", "how=\"rewritten\"");
    ASSERT_TRUE(store.update("key", long_metadata).has_value());
    EXPECT_EQ(store.count("update_methods_total", "how=\"rewritten\""), rewritten + 1);
    EXPECT_TRUE(*store.get("key") == StoredObject(long_metadata, body));
    ASSERT_TRUE(store.update("key", "short again").has_value());
    EXPECT_TRUE(*store.get("key") == StoredObject("short again", body));
    EXPECT_EQ(store.update("key", long_metadata + "m").error().code, Errc::kTooLarge);
    EXPECT_EQ(store.files().size(), 1u);
    EXPECT_EQ(store.count("size_bytes"), static_cast<double>(store.allocated_bytes()));
  }
}

TEST(UfsScheme, LongKeysAndMetadataAreNoSpecialCaseForACaller) {
  UfsUnderTest store(8 << 20, 4096);  // buffers shorter than the prefix of the file
  ASSERT_TRUE(store.start().has_value());
  const std::string key(Key::kLengthMax, 'k');
  for (const size_t size : {size_t{0}, size_t{5000}, size_t{100'000}}) {
    const StoredObject object(std::string(Metadata::kSizeMax, 'm'), pattern_body(1, size));
    ASSERT_TRUE(store.put(key, object).has_value());
    EXPECT_TRUE(*store.get(key) == object) << size;
    ASSERT_TRUE(store.put(key, object, testing_support::BodySize::kUnknown).has_value());
    EXPECT_TRUE(*store.get(key) == object) << size;
  }
  EXPECT_EQ(store.put(key + "k", StoredObject()).error().code, Errc::kTooLarge);
}

TEST(UfsScheme, ReadsWhatWasWrittenWithBuffersOfAnotherSize) {
  UfsUnderTest written(64 << 20, 64 * 1024);
  ASSERT_TRUE(written.start().has_value());
  const StoredObject object("head", pattern_body(1, 1'000'000));
  ASSERT_TRUE(written.put("key", object).has_value());
  ASSERT_TRUE(written.stop().has_value());
  written.crash();
  UfsUnderTest read(64 << 20, 4096, written.folder());
  ASSERT_TRUE(read.start().has_value());
  EXPECT_TRUE(*read.get("key") == object);
}

TEST(UfsScheme, RangesAreReadWhereTheyLie) {
  UfsUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  const size_t size = 500'000;
  ASSERT_TRUE(store.put("key", StoredObject("head", pattern_body(1, size))).has_value());
  const auto reader = store.run(store.scheme().open(Key("key")));
  ASSERT_TRUE(reader.has_value());
  for (const uint64_t offset : {uint64_t{499'999}, uint64_t{0}, uint64_t{250'000}, uint64_t{16'384},
                                uint64_t{16'383}, uint64_t{249'990}}) {
    for (const size_t length : {size_t{1}, size_t{20}, size_t{100'000}}) {
      const auto piece = store.run((*reader)->read(offset, length));
      ASSERT_TRUE(piece.has_value());
      EXPECT_GE(piece->size(), 1u);
      EXPECT_LE(piece->size(), length);
      EXPECT_TRUE(testing_support::matches_pattern(1, offset, piece->bytes())) << offset;
    }
  }
  EXPECT_TRUE(store.run((*reader)->read(size, 10))->empty());
  EXPECT_TRUE(store.run((*reader)->read(~uint64_t{0}, 10))->empty());
}

TEST(UfsScheme, TheLogStaysShortHoweverMuchChanges) {
  UfsUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  for (uint64_t i = 0; i < 8'500; ++i) {
    ASSERT_TRUE(store.put("key", StoredObject("head", "body")).has_value());
  }
  EXPECT_GE(store.count("swap_log_rewrites_total"), 2) << "one at the start, one on the way";
  EXPECT_LT(std::filesystem::file_size(store.folder() / "swap.log"), 1'000'000u);
  EXPECT_EQ(store.count("swap_log_errors_total"), 0);
}

}  // namespace
}  // namespace storage
