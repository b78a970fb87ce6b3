// Greedy-Dual-Size-Frequency and Least-Frequently-Used with Dynamic Aging: a heap of keys.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/replacement/policy.h"

namespace storage {

/// Evicts the object with the lowest key, among equals the one whose last use is longest ago. At
/// each use the key becomes `age + value`, where `age` is the key of the last victim, so that
/// objects that were popular once go in the end. With F uses (1 at the beginning) and a size of S
/// bytes the value is
///
/// - gdsf: F / S. Keeps small objects, for the most hits. (Cherkasova: "Improving WWW Proxies
///   Performance with Greedy-Dual-Size-Frequency Caching Policy", HP Laboratories report
///   HPL-98-69R1, 1998.)
/// - lfuda: F. Keeps popular objects whatever their size, for the most bytes hit. (Dilley, Arlitt,
///   Perret: "Enhancement and Validation of Squid's Cache Replacement Policy", HP Laboratories
///   report HPL-1999-69, 1999.)
///
/// A new size counts from the next use on. A victim that is put back gets its key anew, without
/// being used. Every call takes logarithmic time.
class HeapPolicy final : public ReplacementPolicy {
 public:
  enum class Value { kGdsf, kLfuda };

  explicit HeapPolicy(Value value) : value_(value) {}
  HeapPolicy(const HeapPolicy&) = delete;
  HeapPolicy& operator=(const HeapPolicy&) = delete;

  const char* name() const override { return value_ == Value::kGdsf ? "heap-gdsf" : "heap-lfuda"; }
  void insert(PolicyEntry& entry) override;
  void touch(PolicyEntry& entry) override;
  void remove(PolicyEntry& entry) override;
  void resize(PolicyEntry& entry, uint64_t size_bytes) override;
  PolicyEntry* take_victim() override;
  void put_back(PolicyEntry& victim) override;
  uint64_t count() const override { return heap_.size(); }
  uint64_t size_bytes() const override { return size_bytes_; }

 private:
  struct Node {
    double key = 0;
    uint64_t last_use = 0;  // grows with every use of any object
    PolicyEntry* entry = nullptr;
    bool goes_before(const Node& other) const {
      return key != other.key ? key < other.key : last_use < other.last_use;
    }
  };

  Node node_of(PolicyEntry& entry);
  void place(size_t at, const Node& node);
  void sift_up(size_t at, const Node& node);
  void sift_down(size_t at, const Node& node);

  const Value value_;
  double age_ = 0;
  uint64_t uses_ = 0;
  uint64_t size_bytes_ = 0;
  std::vector<Node> heap_;  // the next victim first; PolicyEntry::position is the place in it
};

}  // namespace storage
