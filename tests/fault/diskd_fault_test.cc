// The helper of a diskd store is killed, stopped and lied about while objects are written and read.
#include <gtest/gtest.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "storage/base/random.h"
#include "storage/io/diskd/helper_state.h"
#include "tests/support/helper_processes.h"
#include "tests/support/pattern.h"
#include "tests/support/seed.h"
#include "tests/support/ufs_under_test.h"

namespace testing_support {
namespace {

using storage::Errc;
using storage::Result;

constexpr uint64_t kKeys = 30;

storage::EngineChoice quick_helper(std::chrono::milliseconds timeout) {
  storage::EngineChoice choice = UfsUnderTest::engine_named("helper");
  choice.helper.timeout = timeout;
  choice.helper.restart_delay_min = std::chrono::milliseconds(1);
  choice.helper.restart_delay_max = std::chrono::milliseconds(4);
  return choice;
}

std::string key_of(uint64_t key) {
  return "http://example.org/" + std::to_string(key);
}

StoredObject object_of(uint64_t key) {
  return StoredObject("metadata of " + std::to_string(key),
                      pattern_body(key, 500 + key * key * 300));
}

// What came of all operations.
struct Tally {
  uint64_t right = 0;
  uint64_t wrong = 0;
  uint64_t stored = 0;
  uint64_t failed = 0;
  uint64_t done() const { return right + stored; }
};

// Stores and reads objects; whatever is read to its end must be right.
storage::Task<void> use_store(storage::StorageScheme& scheme, std::shared_ptr<Tally> tally,
                              uint64_t seed, int rounds) {
  storage::Random random(seed);
  for (int round = 0; round < rounds; ++round) {
    const uint64_t key = random.below(kKeys);
    StoredObject object = object_of(key);
    if (random.below(2) == 0) {
      const Result<StoredObject> got = co_await load_object(scheme, key_of(key));
      if (got) ++(*got == object ? tally->right : tally->wrong);
      if (!got && got.error().code != Errc::kNotFound) ++tally->failed;
    } else {
      const Result<void> put =
          co_await store_object(scheme, key_of(key), std::move(object), BodySize::kKnown);
      ++(put ? tally->stored : tally->failed);
    }
  }
  co_return Result<void>();
}

pid_t helper_pid() {
  const std::vector<pid_t> helpers = helpers_of(::getpid());
  return helpers.empty() ? -1 : helpers.front();
}

void let_run(UfsUnderTest& store, std::chrono::microseconds duration) {
  store.io().restart();
  store.io().run_for(duration);
}

// The store is whole: what can be read is right, and new objects are taken.
void expect_usable(UfsUnderTest& store) {
  run_until(store.io(), [&store] { return store.count("helper_running") == 1; });
  for (uint64_t key = 0; key < kKeys; ++key) {
    const auto got = store.get(key_of(key));
    if (got.has_value()) {
      EXPECT_TRUE(*got == object_of(key));
    } else {
      EXPECT_EQ(got.error().code, Errc::kNotFound) << to_string(got.error());
    }
  }
  for (uint64_t key = 0; key < kKeys; ++key) {
    const auto put = store.put(key_of(key), object_of(key));
    EXPECT_TRUE(put.has_value()) << to_string(put.error());
  }
  for (uint64_t key = 0; key < kKeys; ++key) {
    const auto got = store.get(key_of(key));
    ASSERT_TRUE(got.has_value()) << to_string(got.error());
    EXPECT_TRUE(*got == object_of(key));
  }
}

// Work goes on while `disturb` does something to the helper now and then.
template <class Disturb>
void disturb_work(UfsUnderTest& store, uint64_t seed, int rounds, Disturb disturb) {
  ASSERT_TRUE(store.start().has_value());
  storage::Random random(seed);
  const auto tally = std::make_shared<Tally>();
  for (int round = 0; round < rounds; ++round) {
    std::vector<Spawned<Result<void>>> running;
    for (uint64_t i = 0; i < 5; ++i) {
      running.push_back(spawn_task(store.io(), use_store(store.scheme(), tally, random(), 12)));
    }
    const uint64_t wanted = tally->done() + random.below(20);
    run_until(store.io(), [&] {
      return tally->done() >= wanted ||
             std::ranges::all_of(running, [](const auto& one) { return one.ended(); });
    });
    disturb(random);
    for (auto& one : running) (void)one.finish();
    run_until(store.io(), [&store] { return store.count("helper_running") == 1; });
  }
  EXPECT_EQ(tally->wrong, 0u);
  EXPECT_GT(tally->right, 0u);
  EXPECT_GT(tally->stored, 0u);
  expect_usable(store);
  EXPECT_EQ(store.count("dropped_objects_total", "reason=\"damaged\""), 0);
  EXPECT_TRUE(store.stop().has_value());
  store.crash();
  EXPECT_TRUE(helpers_of(::getpid()).empty());
  EXPECT_EQ(ipc_objects_of(::getpid()), 0u);

  const auto recovery = store.start();
  ASSERT_TRUE(recovery.has_value());
  EXPECT_TRUE(recovery->clean);
  EXPECT_EQ(recovery->objects, store.files().size());
  expect_usable(store);
  store.crash();
  EXPECT_EQ(ipc_objects_of(::getpid()), 0u);
}

TEST(DiskdFault, AHelperThatIsKilledCostsOnlyWhatWasUnderWay) {
  const uint64_t seed = test_seed(1);
  SCOPED_TRACE(seed_trace(seed));
  UfsUnderTest store(64 << 20);
  store.engine = quick_helper(std::chrono::seconds(20));
  disturb_work(store, seed, 8, [](storage::Random&) {
    const pid_t helper = helper_pid();
    if (helper > 0) ::kill(helper, SIGKILL);
  });
}

TEST(DiskdFault, ALossAndWhatBecomesOfItAreTold) {
  UfsUnderTest store(64 << 20);
  store.engine = quick_helper(std::chrono::seconds(20));
  ASSERT_TRUE(store.start().has_value());
  EXPECT_TRUE(store.events.empty()) << store.events.front();
  const pid_t helper = helper_pid();
  ASSERT_GT(helper, 0);
  ::kill(helper, SIGKILL);
  ASSERT_TRUE(wait_for_end(helper));
  (void)store.put(key_of(1), object_of(1));
  run_until(store.io(), [&store] { return store.count("helper_running") == 1; });
  ASSERT_EQ(store.events.size(), 2u);
  const std::string& loss = store.events[0];
  EXPECT_TRUE(loss.starts_with("cache directory " + store.folder().string() + ": the helper ("))
      << loss;
  EXPECT_NE(loss.find("process " + std::to_string(helper) + ") has ended"), std::string::npos);
  EXPECT_NE(loss.find("it is started again"), std::string::npos) << loss;
  EXPECT_NE(store.events[1].find("process " + std::to_string(helper_pid()) + ") runs"),
            std::string::npos)
      << store.events[1];
  for (const std::string& line : store.events) EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(DiskdFault, AHelperThatIsStoppedIsReplaced) {
  const uint64_t seed = test_seed(2);
  SCOPED_TRACE(seed_trace(seed));
  UfsUnderTest store(64 << 20);
  // Long enough for a busy machine, most of the time; too short is only another failure.
  store.engine = quick_helper(std::chrono::milliseconds(300));
  disturb_work(store, seed, 4, [](storage::Random&) {
    const pid_t helper = helper_pid();
    if (helper > 0) ::kill(helper, SIGSTOP);
  });
}

TEST(DiskdFault, AHelperThatIsSlowForAWhileIsKept) {
  const uint64_t seed = test_seed(3);
  SCOPED_TRACE(seed_trace(seed));
  UfsUnderTest store(64 << 20);
  store.engine = quick_helper(std::chrono::seconds(60));
  pid_t helper = -1;
  disturb_work(store, seed, 6, [&](storage::Random& random) {
    if (helper < 0) helper = helper_pid();
    ASSERT_EQ(helper_pid(), helper) << "it is still the first one";
    ::kill(helper, SIGSTOP);
    let_run(store, std::chrono::microseconds(random.below(3000)));
    ::kill(helper, SIGCONT);
  });
}

// Puts noise into one of the store's queues, as only its own user could.
void put_noise(const UfsUnderTest& store, bool into_requests, storage::Random& random) {
  std::ifstream file(store.folder() / std::string(storage::kHelperStateName));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto objects = storage::decode_helper_objects(text);
  ASSERT_TRUE(objects.has_value());
  const int id = ::msgget(into_requests ? objects->requests_key : objects->replies_key, 0);
  if (id < 0) return;  // the helper is being replaced
  struct {
    long type = 1;
    std::array<char, 2000> bytes{};
  } message;
  for (char& byte : message.bytes) byte = static_cast<char>(random());
  const std::array<size_t, 4> sizes = {0, 32, 56, 2000};
  (void)::msgsnd(id, &message, sizes[random.below(sizes.size())], IPC_NOWAIT);
}

TEST(DiskdFault, NoiseInTheQueuesIsNeverTakenForAnAnswer) {
  const uint64_t seed = test_seed(4);
  SCOPED_TRACE(seed_trace(seed));
  UfsUnderTest store(64 << 20);
  store.engine = quick_helper(std::chrono::seconds(20));
  disturb_work(store, seed, 10, [&store](storage::Random& random) {
    put_noise(store, random.below(2) == 0, random);
  });
}

TEST(DiskdFault, AStoreWithOneSlotAndTwoMessagesSurvivesManyKills) {
  const uint64_t seed = test_seed(5);
  SCOPED_TRACE(seed_trace(seed));
  UfsUnderTest store(64 << 20);
  store.engine = quick_helper(std::chrono::seconds(20));
  store.engine.helper.q2 = 2;
  store.engine.helper.slots = 1;
  ASSERT_TRUE(store.start().has_value());
  for (int round = 0; round < 40; ++round) {
    const pid_t helper = helper_pid();
    ASSERT_GT(helper, 0);
    ::kill(helper, SIGKILL);
    (void)store.put(key_of(1), object_of(20));
    run_until(store.io(), [&store, helper] {
      return store.count("helper_running") == 1 && helper_pid() != helper;
    });
  }
  ASSERT_TRUE(store.put(key_of(1), object_of(1)).has_value());
  EXPECT_TRUE(*store.get(key_of(1)) == object_of(1));
  EXPECT_EQ(store.count("helper_starts_total"), 41);
  EXPECT_EQ(store.count("helper_failures_total", "reason=\"ended\""), 40);
  store.crash();
  EXPECT_EQ(ipc_objects_of(::getpid()), 0u);
}

}  // namespace
}  // namespace testing_support
