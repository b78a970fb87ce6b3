#include "proxy/body_source.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <vector>

#include "storage/registry.h"
#include "tests/support/counts.h"
#include "tests/support/fake_clock.h"
#include "tests/support/run_task.h"
#include "tests/support/stored_object.h"

namespace proxy {
namespace {

using testing_support::FakeClock;
using testing_support::run_task;

/// Where the bytes of a piece lie.
struct Place {
  const std::byte* first;
  size_t size_bytes;
  friend bool operator==(const Place& left, const Place& right) = default;
};

class StoredBodyInMemory : public ::testing::Test {
 protected:
  StoredBodyInMemory() {
    storage::SchemeSpec spec;
    spec.scheme = "memory";
    spec.capacity_bytes = 16 << 20;
    const storage::SchemeEnvironment environment{io_.get_executor(), clock_, buffers_};
    scheme_ = storage::make_scheme(spec, environment).scheme;
    EXPECT_TRUE(run_task(io_, scheme_->start()).has_value());
  }

  std::unique_ptr<storage::Reader> open(const std::string& key) {
    return std::move(*run_task(io_, scheme_->open(storage::Key(key))));
  }

  double leased_bytes() const {
    testing_support::Counts counts;
    buffers_.visit_counters(counts);
    return counts.of("buffer_pool_leased_bytes");
  }

  FakeClock clock_;
  boost::asio::io_context io_;
  storage::BufferPool buffers_{io_.get_executor(), 64 * 1024, 4 * 64 * 1024};
  std::unique_ptr<storage::StorageScheme> scheme_;
};

TEST_F(StoredBodyInMemory, IsHandedToTheSocketWhereItLiesInTheStore) {
  const std::string body(3'000'000, 'x');
  ASSERT_TRUE(run_task(io_, testing_support::store_object(*scheme_, "k",
                                                          testing_support::StoredObject("m", body)))
                  .has_value());
  const auto reader = open("k");
  std::vector<Place> lent;
  for (uint64_t offset = 0; offset < body.size();) {
    const auto piece = run_task(io_, reader->read(offset, body.size()));
    ASSERT_TRUE(piece.has_value());
    lent.push_back({piece->bytes().data(), piece->size()});
    offset += piece->size();
  }
  const auto again = open("k");
  StoredBody source(*again, 0, body.size());
  size_t page = 0;
  size_t offset_in_page = 0;
  for (;;) {
    const auto piece = run_task(io_, source.next());
    ASSERT_TRUE(piece.has_value());
    if (piece->empty()) break;
    ASSERT_LT(page, lent.size());
    EXPECT_EQ(piece->bytes().data(), lent[page].first + offset_in_page) << "it was copied";
    EXPECT_EQ(leased_bytes(), 0) << "a buffer was filled with it";
    offset_in_page += piece->size();
    if (offset_in_page == lent[page].size_bytes) {
      ++page;
      offset_in_page = 0;
    }
  }
  EXPECT_EQ(page, lent.size());
}

}  // namespace
}  // namespace proxy
