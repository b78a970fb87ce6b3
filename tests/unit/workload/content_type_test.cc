#include "workload/model/content_type.h"

#include <gtest/gtest.h>

#include <set>

namespace workload {
namespace {

TEST(ContentType, KeepsTheCodesAndFilesOfPolyMix4) {
  EXPECT_EQ(ContentType::kImage.code(), 0u);
  EXPECT_EQ(ContentType::kHtml.code(), 1u);
  EXPECT_EQ(ContentType::kDownload.code(), 2u);
  EXPECT_EQ(ContentType::kOther.code(), 3u);
  EXPECT_EQ(ContentType::kImage.name(), "image");
  EXPECT_EQ(ContentType(), ContentType::kOther);
  EXPECT_EQ(ContentType::named("download"), ContentType::kDownload);
  EXPECT_EQ(ContentType::kImage.file_kind(0).extension, ".gif");
  EXPECT_EQ(ContentType::kImage.file_kind(99).extension, ".png");
  EXPECT_EQ(ContentType::kOther.file_kind(50).extension, "");
}

TEST(ContentType, TakesNamesOfItsUsers) {
  const auto video = ContentType::named("video");
  ASSERT_TRUE(video);
  EXPECT_EQ(video->name(), "video");
  EXPECT_EQ(video->file_kind(0).media_type, "video/mp4");
  const auto own = ContentType::named("map-tile-2");
  ASSERT_TRUE(own);
  EXPECT_EQ(own->file_kind(7).media_type, "application/octet-stream");
  std::set<uint64_t> codes;
  for (const char* name : {"image", "html", "download", "other", "video", "vide0", "v", "a", "b"}) {
    codes.insert(ContentType::named(name)->code());
  }
  EXPECT_EQ(codes.size(), 9u);
  EXPECT_LT(ContentType::kOther, *video);
}

TEST(ContentType, RefusesWhatIsNoName) {
  for (const char* name : {"", "Video", "1video", "-video", "vi deo", "video/", "v.mp4", "%76",
                           "video\n", "a-name-of-16-cha",
                           "v\xc3\xad"
                           "deo"}) {
    EXPECT_FALSE(ContentType::named(name)) << name;
  }
  EXPECT_TRUE(ContentType::named("a-name-of-15-ch"));
  EXPECT_FALSE(ContentType::named(std::string_view("vid\0o", 5)));
}

}  // namespace
}  // namespace workload
