#include <malloc.h>

#include "storage/layout/coss_index.h"
#include "storage/layout/ufs_index.h"
#include "storage/replacement/policies.h"
#include "tests/bench/bench_store.h"
#include "tests/bench/parts.h"

namespace bench {

namespace {

constexpr uint64_t kObjects = 1'000'000;

double heap_bytes() {
  const auto info = ::mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

storage::KeyHash hash_of(uint64_t number) {
  return storage::KeyHash{storage::mix64(number), storage::mix64(~number)};
}

storage::CossGeometry geometry() {
  storage::CossGeometry geometry;
  geometry.store_id = 1;
  geometry.stripe_size_bytes = 1 << 20;
  geometry.block_size_bytes = 512;
  geometry.stripe_count = kObjects / 90;
  return geometry;
}

/// Ninety objects a stripe.
void put(storage::CossIndex& index, uint64_t number) {
  const auto stripe = static_cast<uint32_t>(number / 90 % geometry().stripe_count);
  if (number % 90 == 0) index.drop_stripe(stripe);
  index.put(hash_of(number),
            index.location(stripe, static_cast<uint32_t>(number % 90 * 11'264), 11'200));
}

}  // namespace

void measure_index_memory(const Settings& /*settings*/, Report& report) {
  report.note("index memory: a million objects, bytes that malloc has given out");
  {
    Samples full("coss", "bytes an object");
    Samples turned("coss, after two turns of the log", "bytes an object");
    const double before = heap_bytes();
    storage::CossIndex index(geometry(), 128);
    uint64_t number = 0;
    while (number < kObjects - kObjects % 90) put(index, number++);
    full.add((heap_bytes() - before) / static_cast<double>(index.count()));
    while (number < 3 * (kObjects - kObjects % 90)) put(index, number++);
    turned.add((heap_bytes() - before) / static_cast<double>(index.count()));
    report.add("index_memory", full);
    report.add("index_memory", turned);
  }
  Samples files("files (ufs, aufs, diskd) with lru", "bytes an object");
  const double before = heap_bytes();
  std::string error;
  storage::UfsIndex index(storage::make_policy("lru", storage::kGiB, error), 128);
  for (uint64_t number = 0; number < kObjects; ++number) {
    storage::UfsLogRecord record;
    record.hash = hash_of(number);
    record.sequence = number;
    record.allocated_bytes = 12'288;
    record.file_size_bytes = 11'500;
    index.insert(record);
  }
  files.add((heap_bytes() - before) / static_cast<double>(index.count()));
  report.add("index_memory", files);
}

}  // namespace bench
