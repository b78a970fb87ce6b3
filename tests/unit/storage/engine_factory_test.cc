#include "storage/io/engine_factory.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>

#include "storage/io/diskd/owned_fd.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace storage {
namespace {

SchemeSpec spec_with(std::map<std::string, std::string> options) {
  SchemeSpec spec;
  spec.scheme = "aufs";
  spec.options = std::move(options);
  return spec;
}

std::string error_for(std::map<std::string, std::string> options) {
  std::string error;
  choose_engine(spec_with(std::move(options)), {"thread_pool", "blocking"}, error);
  return error;
}

TEST(EngineFactory, TakesTheFirstFittingEngineIfNoneIsNamed) {
  std::string error;
  EXPECT_EQ(choose_engine(spec_with({}), {"thread_pool", "blocking"}, error).name, "thread_pool");
  EXPECT_EQ(error, "");
}

TEST(EngineFactory, ReadsTheOptions) {
  std::string error;
  const EngineChoice choice =
      choose_engine(spec_with({{"engine", "thread_pool"}, {"threads", "3"}, {"queue-limit", "70"}}),
                    {"blocking", "thread_pool"}, error);
  EXPECT_EQ(error, "");
  EXPECT_EQ(choice.name, "thread_pool");
  EXPECT_EQ(choice.threads, 3u);
  EXPECT_EQ(choice.queue_limit, 70u);
}

TEST(EngineFactory, SaysWhichOptionIsWrongAndWhatWouldBeRight) {
  EXPECT_EQ(error_for({{"engine", "libaio"}}),
            "option engine=libaio of scheme aufs: it does not run on that; give one of "
            "thread_pool, blocking");
  EXPECT_EQ(error_for({{"threads", "0"}}),
            "option threads=0 of scheme aufs: give a whole number from 1 to 256");
  EXPECT_EQ(error_for({{"queue-limit", "many"}}),
            "option queue-limit=many of scheme aufs: give a whole number from 1 to 1000000");
  EXPECT_EQ(error_for({{"engine", "blocking"}, {"threads", "4"}}),
            "option threads of scheme aufs is for engine=thread_pool only, this is "
            "engine=blocking");
}

TEST(EngineFactory, ReadsTheOptionsOfTheHelper) {
  std::string error;
  const EngineChoice choice = choose_engine(
      spec_with(
          {{"q1", "3"}, {"q2", "4"}, {"slots", "5"}, {"timeout", "250ms"}, {"program", "/p"}}),
      {"helper"}, error);
  EXPECT_EQ(error, "");
  EXPECT_EQ(choice.name, "helper");
  EXPECT_EQ(choice.helper.q1, 3u);
  EXPECT_EQ(choice.helper.q2, 4u);
  EXPECT_EQ(choice.helper.slots, 5u);
  EXPECT_EQ(choice.helper.timeout, std::chrono::milliseconds(250));
  EXPECT_EQ(choice.helper.program, "/p");
  choose_engine(spec_with({{"timeout", "0"}}), {"helper"}, error);
  EXPECT_EQ(error, "option timeout=0 of scheme aufs: give a time from 10ms to 10m, such as 5s");
  EXPECT_EQ(error_for({{"q1", "4"}}),
            "option q1 of scheme aufs is for engine=helper only, this is engine=thread_pool");
}

TEST(EngineFactory, MakesAllThatItNames) {
  const testing_support::FakeClock clock;
  boost::asio::io_context io;
  BufferPool buffers(io.get_executor(), 4096, 4096);
  const SchemeEnvironment environment{io.get_executor(), clock, buffers};
  const testing_support::TempDir folder;
  const OwnedFd folder_fd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_GE(engine_names().size(), 3u);
  for (const std::string_view name : engine_names()) {
    EngineChoice choice;
    choice.name = name;
    const EngineOrError made = make_engine(choice, folder_fd.get(), environment);
    if (made.engine == nullptr) {  // the kernel may have forbidden it
      EXPECT_TRUE(made.error.starts_with("engine " + std::string(name) + ": ")) << made.error;
    } else {
      EXPECT_EQ(made.engine->name(), name);
    }
  }
  EngineChoice unknown;
  unknown.name = "punched_cards";
  EXPECT_NE(make_engine(unknown, AT_FDCWD, environment).error.find("thread_pool"),
            std::string::npos);
}

}  // namespace
}  // namespace storage
