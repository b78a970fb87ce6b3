// A store on the real clock, driven as hard as it can be.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "storage/base/buffer_pool.h"
#include "storage/base/clock.h"
#include "storage/base/random.h"
#include "storage/registry.h"

namespace bench {

/// Ends the program with one line.
[[noreturn]] void fail(const std::string& what);

double seconds_now();
/// Of this process.
double cpu_seconds_now();

/// Sizes of the objects that are written.
struct ObjectSizes {
  size_t body_min_bytes = 10 * 1024;
  size_t body_max_bytes = 12 * 1024;
  size_t metadata_bytes = 200;
};

/// A started scheme of the registry, with the instrumenting wrapper as in the proxy. Not stopped by
/// the destructor, which leaves what a crash would leave.
class BenchStore {
 public:
  /// `specification` as a user writes it.
  explicit BenchStore(const std::string& specification);

  const storage::RecoveryReport& recovery() const { return recovery_; }
  const storage::SchemeInfo& info() const { return scheme_->info(); }
  double count(std::string_view name, std::string_view label = "") const;

  /// Stores objects of new keys, so many at a time, until their sum (key, metadata and body) is so
  /// many bytes, and waits until nothing is on its way to the disk any more.
  void put(uint64_t size_bytes, unsigned concurrency);
  /// Reads whole objects out of those stored last, so many at a time.
  void get(uint64_t reads, uint64_t newest, unsigned concurrency);
  /// As put(), with a read of one of `hot` keys after each object; a hot object that is missed is
  /// stored.
  void mix(uint64_t size_bytes, uint64_t hot, unsigned concurrency);
  void stop();

  ObjectSizes sizes;
  uint64_t accepted_bytes = 0;  ///< Key, metadata and body of what was stored.
  uint64_t stored = 0;
  uint64_t declined = 0;
  uint64_t hits = 0;
  uint64_t misses = 0;

 private:
  enum class After { kNothing, kHotRead };
  boost::asio::awaitable<void> write_objects(uint64_t until_bytes, After after, uint64_t hot);
  boost::asio::awaitable<void> read_objects(uint64_t oldest);
  boost::asio::awaitable<void> store_one(std::string name);
  boost::asio::awaitable<bool> read_one(std::string name);
  void run_all();

  storage::SystemClock clock_;
  boost::asio::io_context io_{1};
  storage::BufferPool buffers_{io_.get_executor(), 64 * 1024, 64 << 20};
  std::unique_ptr<storage::StorageScheme> scheme_;
  storage::RecoveryReport recovery_;
  storage::Random random_{1};
  std::string source_;
  unsigned running_ = 0;
  uint64_t next_ = 0;
  uint64_t reads_left_ = 0;
};

}  // namespace bench
