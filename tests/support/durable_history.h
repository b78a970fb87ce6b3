// What a store may hold after a crash, by what was done before it and how much of that was durable.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace testing_support {

/// Operations on each key, with the number of the stripe that holds them. An operation is durable
/// once its stripe is on disk and all before it; after a crash a key is as its last durable
/// operation left it, or any later one.
class DurableHistory {
 public:
  /// `version` was stored, or the object removed where there is none. `stripe` is that of the
  /// present run, counted from 1.
  void note(uint64_t key, std::optional<uint64_t> version, uint64_t stripe) {
    operations_[key].push_back({version, stripe, false});
  }
  /// Of the present run, so many stripes are on disk, and none is on its way.
  void settle(uint64_t stripes) {
    for (auto& [key, operations] : operations_) {
      for (Operation& operation : operations) {
        if (operation.stripe <= stripes) operation.durable = true;
      }
    }
  }
  /// All that was done is durable, as after a clean stop.
  void settle_all() { settle(UINT64_MAX); }

  /// Whether this is what a crash may have left of the key.
  bool allows(uint64_t key, std::optional<uint64_t> version) const {
    const auto found = operations_.find(key);
    if (found == operations_.end()) return !version;
    const std::vector<Operation>& operations = found->second;
    for (size_t i = operations.size(); i-- > 0;) {
      if (operations[i].version == version) return true;
      if (operations[i].durable) return false;
    }
    return !version;  // nothing was durable
  }

  /// That was found after a crash: the only thing that can be found from now on.
  void found(uint64_t key, std::optional<uint64_t> version) {
    operations_[key].assign(1, {version, 0, true});
  }

 private:
  struct Operation {
    std::optional<uint64_t> version;
    uint64_t stripe = 0;
    bool durable = false;
  };
  std::map<uint64_t, std::vector<Operation>> operations_;
};

}  // namespace testing_support
