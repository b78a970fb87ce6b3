#include "storage/layout/coss_scheme.h"

#include <gtest/gtest.h>

#include "storage/layout/coss_options.h"
#include "tests/support/coss_under_test.h"
#include "tests/support/pattern.h"

namespace testing_support {
namespace {

using storage::Errc;
using storage::StopMode;

// Five of them fill a stripe.
constexpr size_t kSize = 12'000;

StoredObject object_of(uint64_t number, size_t size = kSize) {
  return StoredObject("head " + std::to_string(number), pattern_body(number, size));
}

std::string key_of(uint64_t number) {
  return "key " + std::to_string(number);
}

std::string options_error(const std::string& text) {
  std::string error;
  storage::SchemeSpec spec = storage::parse_scheme_spec(text, error);
  EXPECT_EQ(error, "") << text;
  static_cast<void>(storage::parse_coss_options(spec, error));
  return error;
}

TEST(CossOptions, HaveTheDefaultsThatTheTableShows) {
  std::string error;
  storage::SchemeSpec spec = storage::parse_scheme_spec("scheme=coss,path=/x,size=1G", error);
  const storage::CossOptions options = storage::parse_coss_options(spec, error);
  EXPECT_EQ(error, "");
  EXPECT_EQ(options.stripe_size_bytes, 1u << 20);
  EXPECT_EQ(options.block_size_bytes, 512u);
  EXPECT_EQ(options.membufs, 10u);
  EXPECT_EQ(options.overwrite_percent, 50u);
  EXPECT_EQ(options.stripe_count, 1015u);
  EXPECT_GT(options.object_size_bytes_max, 900u << 10);
}

TEST(CossOptions, SayInOneLineWhatIsWrong) {
  const std::vector<std::pair<const char*, const char*>> wrong = {
      {"stripe-size=1000", "stripe-size=1000 of scheme coss: give a size from 64K to 64M"},
      {"stripe-size=128M", "stripe-size=128M"},
      {"stripe-size=68K,block-size=32K", "multiple of 32768"},
      {"block-size=256", "block-size=256 of scheme coss: give a power of two from 512 to 32K"},
      {"block-size=1000", "block-size=1000"},
      {"membufs=1", "membufs=1 of scheme coss: give a whole number from 2 to 1000"},
      {"overwrite-percent=101", "overwrite-percent=101"},
      {"max-object=1M", "max-object=1M of scheme coss: give a size from 1 to 10"},
      {"max-object=0", "max-object=0"},
      {"stripe-size=64M", "is too small: it must hold at least 3 stripes"},
  };
  for (const auto& [option, message] : wrong) {
    const std::string error = options_error("scheme=coss,path=/x,size=128M," + std::string(option));
    EXPECT_NE(error.find(message), std::string::npos) << option << " gave: " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
  EXPECT_NE(options_error("scheme=coss,path=/x,size=3T").find("can address, which is 2.00 TiB"),
            std::string::npos);
  EXPECT_EQ(options_error("scheme=coss,path=/x,size=3T,block-size=1K"), "");
}

TEST(CossScheme, RefusesWhatIsNotItsOwn) {
  CossUnderTest store;
  const auto made_error = [&] {
    return storage::make_coss(store.spec(), store.environment()).error;
  };
  std::ofstream(store.file()) << "precious";
  EXPECT_NE(made_error().find("holds something else"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(store.file()), 8u);
  std::filesystem::remove(store.file());
  ASSERT_TRUE(store.start().has_value());
  EXPECT_NE(made_error().find("in use by another process"), std::string::npos);
  ASSERT_TRUE(store.stop().has_value());
  store.spec().options["stripe-size"] = "128K";
  EXPECT_NE(made_error().find("was made with stripe-size=65536"), std::string::npos);
  store.spec().path = "/nonexistent/folder/file";
  EXPECT_NE(made_error().find("cannot open the folder"), std::string::npos);
}

TEST(CossScheme, AFolderGetsAFileOfFixedName) {
  CossUnderTest store;
  store.spec().path = store.file().parent_path();
  ASSERT_TRUE(store.start().has_value());
  ASSERT_TRUE(store.put("key", object_of(1)).has_value());
  ASSERT_TRUE(store.stop().has_value());
  EXPECT_TRUE(std::filesystem::exists(store.spec().path / "cacheoff-coss"));
  ASSERT_TRUE(store.start().has_value());
  EXPECT_TRUE(*store.get("key") == object_of(1));
}

TEST(CossScheme, ReadsComeFromTheMembufUntilTheStripeIsOnDisk) {
  CossUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  ASSERT_TRUE(store.put("key", object_of(1, 40'000)).has_value());
  auto reader = store.open("key");
  ASSERT_TRUE(reader.has_value());
  EXPECT_TRUE((*reader)->in_memory());
  const auto piece = store.run((*reader)->read(0, 40'000));
  ASSERT_EQ(piece->size(), 40'000u) << "lent as a whole, not copied to a buffer of the pool";
  for (uint64_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(store.put(key_of(i), object_of(i)).has_value());
  }
  store.run_the_rest();
  EXPECT_FALSE((*reader)->in_memory());
  EXPECT_TRUE(matches_pattern(1, 0, piece->bytes())) << "a lease outlasts the stripe's writing";
  EXPECT_TRUE(*store.run(read_body(**reader)) == pattern_body(1, 40'000));
}

TEST(CossScheme, DeclinesWhileAllMembufsAreOnTheirWayAndCountsIt) {
  CossUnderTest store;
  store.spec().options["membufs"] = "3";
  ASSERT_TRUE(store.start().has_value());
  store.gate.hold(IoOperation::kWrite, Gate::Side::kBefore, 1000);
  uint64_t accepted = 0;
  storage::Result<void> last;
  while (accepted < 100 && (last = store.put(key_of(accepted), object_of(accepted)))) ++accepted;
  EXPECT_EQ(last.error(), Errc::kOverloaded);
  EXPECT_EQ(accepted, 15u);
  EXPECT_EQ(store.gate.held(), 2u);
  EXPECT_EQ(store.count("overloads_total", "reason=\"membufs\""), 1);
  for (uint64_t i = 0; i < accepted; ++i) EXPECT_TRUE(*store.get(key_of(i)) == object_of(i));
  store.gate.release_all();
  store.run_the_rest();
  EXPECT_TRUE(store.put("later", object_of(99)).has_value());
}

TEST(CossScheme, AnArrivedObjectWaitsForRoom) {
  CossUnderTest store;
  store.spec().options["membufs"] = "3";
  ASSERT_TRUE(store.start().has_value());
  auto writer = store.run(store.scheme().create(storage::Key("slow"), storage::Metadata(), kSize));
  ASSERT_TRUE(writer.has_value());
  ASSERT_TRUE(store.run(append_body(**writer, pattern_body(7, kSize))).has_value());
  store.gate.hold(IoOperation::kWrite, Gate::Side::kBefore, 1000);
  for (uint64_t i = 0; store.put(key_of(i), object_of(i)).has_value();) ++i;
  auto committing = spawn_task(store.io(), (*writer)->commit());
  store.run_what_can();
  EXPECT_FALSE(committing.ended());
  EXPECT_EQ(store.get("slow").error(), Errc::kNotFound) << "published before it was copied";
  store.gate.release_all();
  EXPECT_TRUE(committing.finish().has_value());
  EXPECT_EQ(store.get("slow")->body, pattern_body(7, kSize));
}

TEST(CossScheme, ArrivingObjectsAreBounded) {
  CossUnderTest store;
  store.spec().options["membufs"] = "2";
  ASSERT_TRUE(store.start().has_value());
  std::vector<std::unique_ptr<storage::Writer>> writers;
  storage::Result<void> last;
  while (last) {
    auto writer =
        store.run(store.scheme().create(storage::Key("key"), storage::Metadata(), std::nullopt));
    last = writer.has_error() ? writer.error()
                              : store.run(append_body(**writer, pattern_body(1, kSize)));
    if (writer) writers.push_back(std::move(*writer));
    ASSERT_LE(writers.size(), 20u);
  }
  EXPECT_EQ(last.error(), Errc::kOverloaded);
  EXPECT_GE(writers.size(), 8u);
  EXPECT_LE(store.count("draft_bytes"), 128 << 10);
  EXPECT_EQ(store.count("overloads_total", "reason=\"arriving_objects\""), 1);
  writers.clear();
  EXPECT_EQ(store.count("draft_bytes"), 0);
}

// How many of the objects written first are still there after so many laps of the log, during
// which every tenth of them was used.
uint64_t survivors_of_use(const char* overwrite_percent, size_t size, double* relocated) {
  CossUnderTest store(4 << 20);
  store.spec().options["overwrite-percent"] = overwrite_percent;
  EXPECT_TRUE(store.start().has_value());
  constexpr uint64_t kHot = 10;
  for (uint64_t i = 0; i < kHot; ++i) {
    EXPECT_TRUE(store.put("hot " + key_of(i), object_of(i, size)).has_value());
  }
  for (uint64_t i = 0; i < 1500; ++i) {
    EXPECT_TRUE(store.put(key_of(i), object_of(i)).has_value());
    if (i % 10 == 0) static_cast<void>(store.get("hot " + key_of(i / 10 % kHot)));
    store.run_the_rest();
  }
  uint64_t found = 0;
  for (uint64_t i = 0; i < kHot; ++i) {
    const auto object = store.get("hot " + key_of(i));
    if (object.has_error()) continue;
    EXPECT_TRUE(*object == object_of(i, size));
    ++found;
  }
  *relocated = store.count("relocated_objects_total");
  return found;
}

TEST(CossScheme, WhatIsUsedStaysWhileTheLogGoesRound) {
  double relocated = 0;
  EXPECT_EQ(survivors_of_use("50", kSize, &relocated), 10u);
  EXPECT_GT(relocated, 10);
  EXPECT_EQ(survivors_of_use("50", 50'000, &relocated), 10u) << "larger than a buffer";
  EXPECT_GT(relocated, 10);
  EXPECT_EQ(survivors_of_use("0", kSize, &relocated), 0u);
  EXPECT_EQ(relocated, 0);
}

TEST(CossScheme, WritesLittleMoreThanItAccepts) {
  CossUnderTest store(16 << 20);
  store.spec().options = {{"stripe-size", "1M"}, {"overwrite-percent", "0"}};
  ASSERT_TRUE(store.start().has_value());
  for (uint64_t i = 0; i < 3000; ++i) {
    ASSERT_TRUE(store.put(key_of(i), object_of(i, 11'000)).has_value());
    store.run_the_rest();
  }
  const double accepted = store.count("log_accepted_bytes_total");
  ASSERT_TRUE(store.stop().has_value());
  EXPECT_LE(store.count("log_written_bytes_total"), accepted * 1.05);
  EXPECT_GE(accepted, 3000 * 11'000);
}

TEST(CossScheme, SaysWhereItCannotBypassThePageCache) {
  CossUnderTest store;
  store.plan.refuse_direct = true;
  ASSERT_TRUE(store.start().has_value());
  ASSERT_EQ(store.scheme().info().warnings.size(), 1u);
  EXPECT_NE(store.scheme().info().warnings[0].find("O_DIRECT"), std::string::npos);
  ASSERT_TRUE(store.put("key", object_of(1)).has_value());
  ASSERT_TRUE(store.stop().has_value());
  ASSERT_TRUE(store.start().has_value());
  EXPECT_TRUE(*store.get("key") == object_of(1));
  EXPECT_TRUE(store.scheme().info().warnings.size() == 1);
}

TEST(CossScheme, EveryEngineHoldsTheSameStore) {
  CossUnderTest store;
  uint64_t stored = 0;
  for (const std::string_view engine : storage::engine_names()) {
    store.spec().options["engine"] = engine;
    const auto report = store.start_on_its_engine();
    ASSERT_TRUE(report.has_value()) << engine;
    EXPECT_TRUE(report->clean);
    EXPECT_EQ(report->objects, stored);
    for (uint64_t i = 0; i < stored; ++i) {
      EXPECT_TRUE(*store.get(key_of(i)) == object_of(i)) << engine;
    }
    for (uint64_t i = 0; i < 12; ++i, ++stored) {
      ASSERT_TRUE(store.put(key_of(stored), object_of(stored)).has_value()) << engine;
    }
    ASSERT_TRUE(store.stop().has_value());
  }
  EXPECT_GE(stored, 36u);
}

TEST(CossScheme, AStoreOfManySmallObjectsNeedsNoIndexFile) {
  CossUnderTest store(1 << 20);
  ASSERT_TRUE(store.start().has_value());
  for (uint64_t i = 0; i < 1200; ++i) {
    ASSERT_TRUE(store.put(key_of(i), StoredObject("", "x")).has_value());
  }
  store.run_the_rest();
  const double objects = store.count("objects");
  EXPECT_GT(objects, 1000);
  ASSERT_TRUE(store.stop().has_value());
  const auto report = store.start();
  EXPECT_TRUE(report->clean);
  EXPECT_EQ(static_cast<double>(report->objects), objects);
}

TEST(CossScheme, ASmallerStoreDoesNotRaiseTheDead) {
  CossUnderTest store(8 << 20);
  ASSERT_TRUE(store.start().has_value());
  // Old versions lie in the stripes that are kept, what replaced and removed them beyond.
  for (uint64_t i = 0; i < 50; ++i) ASSERT_TRUE(store.put(key_of(i), object_of(i)).has_value());
  for (uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(store.put("filler " + key_of(i), object_of(i)).has_value());
  }
  for (uint64_t i = 0; i < 25; ++i) {
    ASSERT_TRUE(store.put(key_of(i), object_of(1000 + i)).has_value());
    ASSERT_TRUE(store.remove(key_of(25 + i)).has_value());
  }
  ASSERT_TRUE(store.stop().has_value());
  store.spec().capacity_bytes = 2 << 20;
  for (int restart = 0; restart < 3; ++restart) {
    ASSERT_TRUE(store.start().has_value());
    for (uint64_t i = 0; i < 50; ++i) {
      EXPECT_EQ(store.get(key_of(i)).error(), Errc::kNotFound) << i;
    }
    EXPECT_LE(std::filesystem::file_size(store.file()), uint64_t{2} << 20);
    if (restart == 0) {
      store.crash();
    } else {
      ASSERT_TRUE(store.stop().has_value());
    }
  }
  store.spec().capacity_bytes = 16 << 20;
  ASSERT_TRUE(store.start().has_value());
  EXPECT_GT(store.count("objects"), 50);
  for (uint64_t i = 0; i < 50; ++i) EXPECT_TRUE(store.get(key_of(i)).has_error());
}

}  // namespace
}  // namespace testing_support
