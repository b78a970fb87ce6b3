// The engine on a helper process: its limits, and what it says where it cannot begin.
#include "storage/io/diskd/helper_queue.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <vector>

#include "tests/support/engine_under_test.h"
#include "tests/support/helper_processes.h"
#include "tests/support/pattern.h"
#include "tests/support/process.h"

namespace testing_support {
namespace {

using storage::Errc;
using storage::File;
using storage::OpenMode;
using storage::Result;

storage::EngineChoice helper_choice() {
  storage::EngineChoice choice;
  choice.name = "helper";
  choice.helper.restart_delay_min = std::chrono::milliseconds(1);
  choice.helper.restart_delay_max = std::chrono::milliseconds(20);
  return choice;
}

// What the engine says where it cannot be made.
std::string error_of(const storage::EngineChoice& choice) {
  try {
    const EngineUnderTest tested(choice);
    return "";
  } catch (const std::runtime_error& refused) {
    return refused.what();
  }
}

// Writes a body of `id` into a new file.
storage::Task<void> create(storage::IoEngine& engine, uint64_t id, size_t size) {
  const std::string body = pattern_body(id, size);
  auto file = co_await engine.open(std::to_string(id), OpenMode::kCreateExclusive);
  if (!file) co_return file.error();
  const Result<void> written = co_await (*file)->write(0, std::as_bytes(std::span(body)));
  if (!written) co_return written;
  co_return co_await (*file)->close();
}

std::vector<Spawned<Result<void>>> create_many(EngineUnderTest& tested, uint64_t count,
                                               size_t size) {
  std::vector<Spawned<Result<void>>> running;
  for (uint64_t id = 0; id < count; ++id) {
    running.push_back(spawn_task(tested.io(), create(tested.engine(), id, size)));
  }
  return running;
}

void run_until_running(EngineUnderTest& tested) {
  run_until(tested.io(), [&tested] { return tested.count("helper_running") == 1; });
}

TEST(HelperQueue, IsFoundBesideTheRunningProgram) {
  EXPECT_EQ(error_of(helper_choice()), "");
  storage::EngineChoice named = helper_choice();
  named.helper.program = program_path("cacheoff-diskd");
  EXPECT_EQ(error_of(named), "");
}

TEST(HelperQueue, SaysInOneLineWhyThereIsNoHelper) {
  storage::EngineChoice choice = helper_choice();
  choice.helper.program = "/nowhere/cacheoff-diskd";
  std::string error = error_of(choice);
  EXPECT_TRUE(error.starts_with("engine helper: cannot run the helper program /nowhere/")) << error;
  EXPECT_NE(error.find("program="), std::string::npos);
  choice.helper.program = "/bin/true";
  error = error_of(choice);
  EXPECT_EQ(error, "engine helper: /bin/true ended at once; is it a cacheoff-diskd?");
  const TempDir folder;
  choice.helper.timeout = std::chrono::milliseconds(50);
  choice.helper.program = folder.path() / "silent-helper";
  std::ofstream(choice.helper.program) << "#!/bin/sh\nexec sleep 60\n";
  std::filesystem::permissions(choice.helper.program, std::filesystem::perms::owner_all);
  error = error_of(choice);
  EXPECT_NE(error.find("does not say that it is ready"), std::string::npos) << error;
  EXPECT_EQ(ipc_objects_of(::getpid()), 0u);
}

TEST(HelperQueue, AtQ1NoFileIsOpenedAnyMore) {
  storage::EngineChoice choice = helper_choice();
  choice.helper.q1 = 4;
  EngineUnderTest tested(choice);
  const auto file = tested.make_file("a", "text");
  EXPECT_FALSE(tested.engine().overloaded());
  auto running = create_many(tested, 20, 1000);
  size_t overloaded = 0;
  size_t written = 0;
  for (auto& one : running) {
    const Result<void> result = one.finish();
    if (result) ++written;
    if (!result) {
      EXPECT_EQ(result.error().code, Errc::kOverloaded);
      ++overloaded;
    }
  }
  EXPECT_GE(written, 5u) << "one above the limit";
  EXPECT_GE(overloaded, 1u);
  EXPECT_EQ(tested.count("io_refusals_total", "reason=\"q1\""), static_cast<double>(overloaded));
  EXPECT_FALSE(tested.engine().overloaded());
}

TEST(HelperQueue, AtQ2AndWithoutSlotsWhoeverAsksWaitsForATurn) {
  storage::EngineChoice choice = helper_choice();
  choice.helper.q1 = 1000;
  choice.helper.q2 = 3;
  choice.helper.slots = 1;
  EngineUnderTest tested(choice);
  auto running = create_many(tested, 50, 200'000);
  for (auto& one : running) EXPECT_TRUE(one.finish().has_value());
  EXPECT_LE(tested.count("io_in_flight_max"), 3);
  EXPECT_EQ(tested.count("helper_slots_used_max"), 1);
  EXPECT_GT(tested.count("helper_queue_waits_total"), 0);
  for (uint64_t id = 0; id < 50; ++id) {
    const auto file = tested.run(tested.engine().open(std::to_string(id), OpenMode::kRead));
    std::vector<std::byte> buffer(300'000);
    EXPECT_EQ(*tested.run((*file)->read(0, buffer)), 200'000u);
    EXPECT_TRUE(matches_pattern(id, 0, std::span(buffer).first(200'000)));
  }
  EXPECT_EQ(tested.count("helper_starts_total"), 1);
}

TEST(HelperQueue, AFileOfAnEarlierHelperIsStaleAndTheNextOneServes) {
  EngineUnderTest tested(helper_choice());
  const auto file = tested.make_file("a", "text");
  const std::vector<pid_t> helpers = helpers_of(::getpid());
  ASSERT_EQ(helpers.size(), 1u);
  ::kill(helpers[0], SIGKILL);
  ASSERT_TRUE(wait_for_end(helpers[0]));
  std::vector<std::byte> buffer(4);
  EXPECT_FALSE(tested.run(file->read(0, buffer)).has_value());
  EXPECT_TRUE(tested.engine().overloaded());
  EXPECT_EQ(tested.run(tested.engine().open("a", OpenMode::kRead)).error().code, Errc::kOverloaded);
  run_until_running(tested);
  EXPECT_EQ(tested.run(file->read(0, buffer)).error().code, Errc::kOverloaded);
  EXPECT_EQ(tested.run(file->write(0, buffer)).error(), storage::Error(Errc::kIo, ESTALE));
  EXPECT_TRUE(tested.run(file->close()).has_value()) << "it went with its helper";
  const auto again = tested.run(tested.engine().open("a", OpenMode::kRead));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(*tested.run((*again)->read(0, buffer)), 4u);
  EXPECT_EQ(tested.count("helper_starts_total"), 2);
  EXPECT_EQ(tested.count("helper_failures_total", "reason=\"ended\""), 1);
}

TEST(HelperQueue, AStoppedHelperIsReplacedAfterItsTime) {
  storage::EngineChoice choice = helper_choice();
  // Long enough for the next helper to answer on a machine that has much else to do.
  choice.helper.timeout = std::chrono::seconds(2);
  EngineUnderTest tested(choice);
  const auto file = tested.make_file("a", "text");
  const pid_t helper = helpers_of(::getpid()).at(0);
  ::kill(helper, SIGSTOP);
  std::vector<std::byte> buffer(4);
  EXPECT_EQ(tested.run(file->read(0, buffer)).error(), storage::Error(Errc::kIo, EIO));
  EXPECT_EQ(tested.count("helper_failures_total", "reason=\"timeout\""), 1);
  EXPECT_EQ(tested.count("helper_failed_operations_total"), 1);
  run_until_running(tested);
  EXPECT_TRUE(has_ended(helper));
  EXPECT_TRUE(tested.run(tested.engine().open("a", OpenMode::kRead)).has_value());
}

TEST(HelperQueue, AHelperIsUntouchedByTheSignalsOfATerminal) {
  EngineUnderTest tested(helper_choice());
  const pid_t helper = helpers_of(::getpid()).at(0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::kill(helper, number);
  tested.make_file("a", "text");
  EXPECT_EQ(tested.count("helper_starts_total"), 1);
  tested.destroy_engine();
  EXPECT_TRUE(has_ended(helper));
  EXPECT_EQ(ipc_objects_of(::getpid()), 0u);
}

TEST(HelperQueue, TheContextMayGoFirst) {
  pid_t helper = 0;
  {
    EngineUnderTest tested(helper_choice());
    helper = helpers_of(::getpid()).at(0);
    tested.destroy_context();
    EXPECT_TRUE(has_ended(helper));
    EXPECT_EQ(ipc_objects_of(::getpid()), 0u);
  }
}

}  // namespace
}  // namespace testing_support
