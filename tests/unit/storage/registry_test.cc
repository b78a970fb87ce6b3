#include "storage/registry.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/support/counts.h"
#include "tests/support/run_task.h"
#include "tests/support/temp_dir.h"

namespace storage {
namespace {

TEST(Registry, RowsHaveNamesOfTheirOwnAndSayWhatTheyAre) {
  std::set<std::string_view> names;
  for (const SchemeRow& row : registry()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.summary.empty()) << row.name;
    EXPECT_NE(row.make, nullptr) << row.name;
    for (const SchemeOption& option : row.options) {
      EXPECT_FALSE(option.name.empty() || option.meaning.empty()) << row.name;
    }
  }
  EXPECT_TRUE(names.contains("none"));
  EXPECT_TRUE(names.contains("memory"));
}

TEST(SchemeSpec, ReadsWhatAUserWrites) {
  std::string error;
  const SchemeSpec spec =
      parse_scheme_spec("scheme=memory,path=/tmp/a=b,size=1.5G,max-object=8M,l1=16", error);
  EXPECT_EQ(error, "");
  EXPECT_EQ(spec.scheme, "memory");
  EXPECT_EQ(spec.path, "/tmp/a=b");
  EXPECT_EQ(spec.capacity_bytes, 3ull << 29);
  EXPECT_EQ(spec.options, (std::map<std::string, std::string>{{"max-object", "8M"}, {"l1", "16"}}));
  EXPECT_EQ(parse_scheme_spec("scheme=none", error).scheme, "none");
  EXPECT_EQ(error, "");
}

TEST(SchemeSpec, AnExampleIsOfTheSchemeThatIsMeant) {
  const std::vector<std::pair<const char*, const char*>> examples = {
      {"scheme=rock,size=x", "(for example scheme=rock,path=/var/cache/web.rock,size=1G)"},
      {"size=x,scheme=coss", "(for example scheme=coss,path=/var/cache/web.coss,size=1G)"},
      {"scheme=aufs,a", "(for example scheme=aufs,path=/var/cache/web,size=1G)"},
      {"scheme=memory,size=x", "(for example scheme=memory,size=1G)"},
      {"scheme=none,x", "(for example scheme=none)"},
      {"scheme=floppy", "(for example scheme=ufs,path=/var/cache/web,size=1G)"},
  };
  for (const auto& [text, example] : examples) {
    std::string error;
    static_cast<void>(parse_scheme_spec(text, error));
    EXPECT_TRUE(error.ends_with(example)) << error;
  }
}

TEST(SchemeSpec, SaysInOneLineWhatIsWrong) {
  const std::vector<std::pair<const char*, const char*>> wrong = {
      {"", "'' is not of the form key=value"},
      {"memory", "'memory' is not of the form"},
      {"size=1G", "scheme= is missing"},
      {"scheme=floppy", "unknown scheme 'floppy': known are none, memory"},
      {"scheme=memory,size=", "'size=' is not of the form"},
      {"scheme=memory,=1", "'=1' is not of the form"},
      {"scheme=memory,size=1G,", "'' is not of the form"},
      {"scheme=memory,size=big", "size=big is not a size"},
      {"scheme=memory,size=0", "size=0 is not a size"},
      {"scheme=memory,size=1G,size=2G", "'size' is given twice"},
      {"scheme=memory,scheme=none", "'scheme' is given twice"},
      {"scheme=memory,a=1,a=2", "'a' is given twice"},
  };
  for (const auto& [text, message] : wrong) {
    std::string error;
    static_cast<void>(parse_scheme_spec(text, error));
    EXPECT_NE(error.find(message), std::string::npos) << text << " gave: " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
}

class MakeScheme : public ::testing::Test {
 protected:
  SchemeOrError make(const std::string& text) {
    std::string error;
    const SchemeSpec spec = parse_scheme_spec(text, error);
    EXPECT_EQ(error, "") << text;
    const SchemeEnvironment environment{io_.get_executor(), clock_, buffers_};
    return make_scheme(spec, environment);
  }
  SystemClock clock_;
  boost::asio::io_context io_;
  BufferPool buffers_{io_.get_executor(), 65536, 1 << 20};
};

TEST_F(MakeScheme, MakesWhatIsAskedFor) {
  const SchemeOrError made = make("scheme=memory,size=1M,max-object=100K");
  ASSERT_TRUE(made.scheme) << made.error;
  EXPECT_EQ(made.scheme->info().name, "memory");
  EXPECT_EQ(made.scheme->info().capacity_bytes, 1u << 20);
  EXPECT_EQ(made.scheme->info().object_size_bytes_max, 100u * 1024);
  EXPECT_TRUE(made.scheme->info().warnings.empty());
}

TEST_F(MakeScheme, NoneTakesASizeButSaysThatItHasNoEffect) {
  EXPECT_TRUE(make("scheme=none").scheme->info().warnings.empty());
  EXPECT_EQ(make("scheme=none,size=1G").scheme->info().warnings.size(), 1u);
}

TEST_F(MakeScheme, SaysInOneLineWhatIsWrong) {
  const std::vector<std::pair<const char*, const char*>> wrong = {
      {"scheme=memory", "scheme memory needs size="},
      {"scheme=memory,size=1M,path=/tmp", "leave out path="},
      {"scheme=memory,size=1M,l1=16", "has no option 'l1': it has max-object"},
      {"scheme=none,l1=16", "has no option 'l1': it has none"},
      {"scheme=memory,size=1K", "size is too small: at least 64.0 KiB"},
      {"scheme=memory,size=1M,max-object=2M", "max-object=2M is not"},
      {"scheme=memory,size=1M,max-object=0", "max-object=0 is not"},
      {"scheme=memory,size=1M,max-object=x", "max-object=x is not"},
      {"scheme=ufs,path=/nowhere,size=1", "can hold nothing in size=1; give at least 64K"},
      {"scheme=coss,path=/nowhere,size=60K", "can hold nothing in size=61440"},
      {"scheme=rock,path=/nowhere,size=60K", "can hold nothing in size=61440"},
  };
  for (const auto& [text, message] : wrong) {
    const SchemeOrError made = make(text);
    EXPECT_FALSE(made.scheme) << text;
    EXPECT_NE(made.error.find(message), std::string::npos) << text << " gave: " << made.error;
    EXPECT_EQ(made.error.find('\n'), std::string::npos);
  }
}

TEST_F(MakeScheme, ALowerBoundAboveTheLargestObjectIsRefused) {
  const testing_support::TempDir folder;
  const SchemeOrError made =
      make("scheme=ufs,size=1M,min-size=300K,path=" + folder.path().string());
  EXPECT_FALSE(made.scheme);
  EXPECT_NE(made.error.find("min-size=307200 is above the largest object"), std::string::npos)
      << made.error;
  EXPECT_FALSE(made.not_opened);
  for (const char* scheme : {"ufs", "coss", "rock"}) {
    const std::string path = (folder.path() / scheme).string();
    EXPECT_FALSE(
        make("scheme=" + std::string(scheme) + ",size=8M,min-size=7M,path=" + path).scheme);
    EXPECT_FALSE(std::filesystem::exists(path)) << "what was refused leaves nothing";
  }
}

TEST_F(MakeScheme, NoneSaysThatItKeepsNothing) {
  const SchemeOrError made = make("scheme=none");
  ASSERT_TRUE(testing_support::run_task(io_, made.scheme->start()).has_value());
  const auto writer =
      testing_support::run_task(io_, made.scheme->create(Key("key"), Metadata("head"), 4));
  ASSERT_TRUE(writer.has_error());
  EXPECT_EQ(writer.error(), Errc::kKeepsNothing);
  testing_support::Counts counts;
  made.scheme->visit_counters(counts);
  EXPECT_EQ(counts.of("declines_total", "reason=\"keeps_nothing\""), 1);
  EXPECT_EQ(counts.of("declines_total", "reason=\"no_space\""), 0);
}

TEST_F(MakeScheme, WhatOnlyOpeningTellsIsNoErrorOfUsage) {
  const testing_support::TempDir folder;
  std::ofstream(folder.path() / "file") << "x";
  const std::string there = ",size=8M,path=" + folder.path().string();
  for (const char* scheme : {"ufs", "coss", "rock"}) {
    const std::string name = "scheme=" + std::string(scheme);
    EXPECT_TRUE(make(name + there).not_opened) << scheme;
    EXPECT_FALSE(make(name + there + "/file/below").not_opened) << scheme;
    EXPECT_FALSE(make(name + there + ",nonsense=1").not_opened) << scheme;
  }
}

TEST_F(MakeScheme, ASchemeThatNeedsAPathSaysSo) {
  for (const SchemeRow& row : registry()) {
    if (!row.needs_path) continue;
    const SchemeOrError made = make("scheme=" + std::string(row.name) + ",size=1M");
    EXPECT_NE(made.error.find("needs path="), std::string::npos) << made.error;
  }
}

}  // namespace
}  // namespace storage
