#include "storage/replacement/policies.h"

#include <array>

#include "storage/replacement/heap.h"
#include "storage/replacement/lru.h"
#include "storage/replacement/s3_fifo.h"
#include "storage/replacement/sieve.h"
#include "storage/replacement/w_tiny_lfu.h"

namespace storage {

std::span<const PolicyRow> policies() {
  static const std::array<PolicyRow, 6> kRows = {{
      {"lru", "least recently used",
       [](uint64_t) -> std::unique_ptr<ReplacementPolicy> {
         return std::make_unique<LruPolicy>();
       }},
      {"heap-gdsf", "greedy dual size frequency: keeps small popular objects",
       [](uint64_t) -> std::unique_ptr<ReplacementPolicy> {
         return std::make_unique<HeapPolicy>(HeapPolicy::Value::kGdsf);
       }},
      {"heap-lfuda", "least frequently used with dynamic aging: keeps popular objects of any size",
       [](uint64_t) -> std::unique_ptr<ReplacementPolicy> {
         return std::make_unique<HeapPolicy>(HeapPolicy::Value::kLfuda);
       }},
      {"sieve", "lazy promotion and quick demotion by one hand",
       [](uint64_t) -> std::unique_ptr<ReplacementPolicy> {
         return std::make_unique<SievePolicy>();
       }},
      {"s3-fifo", "a small, a main and a ghost queue, each first in first out",
       [](uint64_t capacity_bytes) -> std::unique_ptr<ReplacementPolicy> {
         return std::make_unique<S3FifoPolicy>(capacity_bytes);
       }},
      {"w-tinylfu", "a window, and a main part that only more popular objects enter",
       [](uint64_t capacity_bytes) -> std::unique_ptr<ReplacementPolicy> {
         return std::make_unique<WTinyLfuPolicy>(capacity_bytes);
       }},
  }};
  return kRows;
}

std::unique_ptr<ReplacementPolicy> make_policy(std::string_view name, uint64_t capacity_bytes,
                                               std::string& error) {
  std::string names;
  for (const PolicyRow& row : policies()) {
    if (row.name == name) return row.make(capacity_bytes);
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  error = "unknown replacement policy '" + std::string(name) + "': known are " + names;
  return nullptr;
}

}  // namespace storage
