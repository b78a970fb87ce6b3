#include "storage/layout/ufs_directory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "tests/support/temp_dir.h"

namespace storage {
namespace {

using Access = UfsDirectory::Access;
namespace fs = std::filesystem;

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

class UfsDirectoryTest : public ::testing::Test {
 protected:
  std::unique_ptr<UfsDirectory> open(UfsShape shape = {2, 3}, Access access = Access::kUse) {
    error_.clear();
    return UfsDirectory::open(path_, shape, access, error_);
  }
  testing_support::TempDir folder_;
  fs::path path_ = folder_ / "a" / "store";
  std::string error_;
};

TEST(UfsPaths, FilesWrittenTogetherLieTogether) {
  const UfsShape shape{16, 256};
  EXPECT_EQ(ufs_object_path(shape, 0), "00/00/000000000000");
  EXPECT_EQ(ufs_object_path(shape, 255), "00/00/0000000000FF");
  EXPECT_EQ(ufs_object_path(shape, 256), "00/01/000000000100");
  EXPECT_EQ(ufs_object_path(shape, 256 * 256), "01/00/000000010000");
  EXPECT_EQ(ufs_object_path(shape, 256 * 256 * 16), "00/00/000000100000");
  EXPECT_EQ(ufs_temporary_path(shape, 0xABCDEF), "0B/CD/000000ABCDEF.tmp");
  EXPECT_EQ(ufs_object_path(UfsShape{1, 1}, 0xFFFF), "00/00/00000000FFFF");
}

TEST_F(UfsDirectoryTest, MakesWhatIsMissingAndFindsItAgain) {
  {
    const auto made = open();
    ASSERT_NE(made, nullptr) << error_;
    EXPECT_TRUE(made->fresh());
    EXPECT_FALSE(fs::exists(path_ / "00"));
    ASSERT_TRUE(made->make_folder_of(5 * 256).has_value());
    ASSERT_TRUE(made->make_folder_of(5 * 256).has_value());
  }
  EXPECT_TRUE(fs::is_directory(path_ / "01" / "02"));
  EXPECT_FALSE(fs::exists(path_ / "00"));
  const auto again = open();
  ASSERT_NE(again, nullptr) << error_;
  EXPECT_FALSE(again->fresh());
}

TEST_F(UfsDirectoryTest, IsLockedForAsLongAsItIsUsed) {
  auto first = open();
  ASSERT_NE(first, nullptr) << error_;
  EXPECT_EQ(open(), nullptr);
  EXPECT_NE(error_.find("in use by another process"), std::string::npos) << error_;
  EXPECT_EQ(open({}, Access::kInspect), nullptr);
  first->unlock();
  EXPECT_NE(open(), nullptr) << error_;
}

TEST_F(UfsDirectoryTest, LeavesOthersFilesAlone) {
  fs::create_directories(path_);
  write_file(path_ / "letter.txt", "mine");
  EXPECT_EQ(open(), nullptr);
  EXPECT_NE(error_.find("holds files but is no ufs store"), std::string::npos) << error_;
  EXPECT_FALSE(fs::exists(path_ / kUfsMarkerName));
  fs::remove(path_ / "letter.txt");
  fs::create_directory(path_ / "lost+found");  // the root of a new filesystem
  EXPECT_NE(open(), nullptr) << error_;
}

TEST_F(UfsDirectoryTest, SaysWhatIsWrongWithAPath) {
  fs::create_directories(path_.parent_path());
  write_file(path_, "a file");
  EXPECT_EQ(open(), nullptr);
  EXPECT_NE(error_.find("cannot be opened as a folder"), std::string::npos) << error_;
  EXPECT_NE(error_.find(path_.string()), std::string::npos);
  fs::remove(path_);
  EXPECT_EQ(open({}, Access::kInspect), nullptr);
  EXPECT_FALSE(fs::exists(path_)) << "looking made a folder";
}

TEST_F(UfsDirectoryTest, RefusesAnotherShapeAndAnotherVersion) {
  ASSERT_NE(open({2, 3}), nullptr);
  EXPECT_EQ(open({2, 4}), nullptr);
  EXPECT_NE(error_.find("was made with l1=2,l2=3"), std::string::npos) << error_;
  const auto inspected = open({}, Access::kInspect);
  ASSERT_NE(inspected, nullptr) << error_;
  EXPECT_EQ(inspected->shape(), (UfsShape{2, 3}));
  for (const char* text : {"cacheoff ufs store, version 2\nl1=2\nl2=3\n", "rubbish",
                           "cacheoff ufs store, version 1\nl1=2\nl2=0\n",
                           "cacheoff ufs store, version 1\nl1=2\nl2=3\nmore"}) {
    write_file(path_ / kUfsMarkerName, text);
    EXPECT_EQ(open({2, 3}), nullptr) << text;
  }
}

TEST_F(UfsDirectoryTest, AMakerThatWasKilledEarlyIsNoHindrance) {
  fs::create_directories(path_);
  write_file(path_ / kUfsMarkerName, "");
  const auto opened = open();
  ASSERT_NE(opened, nullptr) << error_;
  EXPECT_FALSE(opened->fresh()) << "it may hold objects all the same";
}

TEST_F(UfsDirectoryTest, ScansItsOwnFilesOnly) {
  const auto directory = open();
  ASSERT_NE(directory, nullptr) << error_;
  for (uint64_t folder = 0; folder < 6; ++folder) {
    ASSERT_TRUE(directory->make_folder_of(folder * 256).has_value());
  }
  write_file(path_ / ufs_object_path({2, 3}, 7), "1234567");
  write_file(path_ / ufs_object_path({2, 3}, 300), "");
  write_file(path_ / ufs_temporary_path({2, 3}, 301), "xx");
  write_file(path_ / "00" / "00" / "notes.txt", "other");
  write_file(path_ / "00" / "00" / "00000000000g", "other");
  write_file(path_ / "00" / "00" / "0000000000FF00", "other");
  write_file(path_ / "01" / "02" / "000000000001", "lies in the wrong folder");
  fs::create_directory(path_ / "00" / "00" / "000000000009");
  fs::remove_all(path_ / "01" / "01");

  std::set<std::pair<uint64_t, bool>> found;
  const auto counts = directory->scan([&found](const UfsFoundFile& file) {
    found.emplace(file.sequence, file.temporary);
    if (file.sequence == 7) {
      EXPECT_EQ(file.file_size_bytes, 7u);
      EXPECT_EQ(file.allocated_bytes % 512, 0u);
    }
  });
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(found, (std::set<std::pair<uint64_t, bool>>{{7, false}, {300, false}, {301, true}}));
  EXPECT_EQ(counts->foreign, 5u);
}

}  // namespace
}  // namespace storage
