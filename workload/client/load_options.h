// Everything that a load run is told.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "workload/client/goal.h"
#include "workload/client/load_shape.h"
#include "workload/client/transaction.h"
#include "workload/model/workload.h"

namespace workload {

/// Which part of a run a process carries, where several make one.
struct RankPlace {
  size_t rank = 0;  ///< From 0; the one of 0 decides.
  size_t ranks = 1;
};

struct LoadOptions {
  Workload workload;
  uint64_t seed = 1;
  double time_scale = 1;                ///< Divides pauses; above 0.
  boost::asio::ip::tcp::endpoint peer;  ///< Proxy, or the origin itself.
  TargetForm target;
  LoadShape load;
  Goal until;  ///< Where there are no phases; so is the next.
  std::optional<Goal> warm_up;
  std::vector<Phase> phases;  ///< Their durations scaled already; empty: from the goals.
  /// Of this process, 1 to 64; over all ranks at most as many as robots or connections.
  int threads = 1;
  RankPlace place;
  std::chrono::nanoseconds sample_interval = std::chrono::seconds(1);
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);  ///< Of one transaction.
  /// The run is given up when for so long nothing came but errors.
  std::chrono::nanoseconds give_up_after = std::chrono::seconds(30);
  uint64_t cache_size_bytes = 0;  ///< 0: not told.
  bool keep_going = false;        ///< After a wrong body.
  Verification verification = Verification::kBytes;
  /// The first transaction's id; runs against one cache must not share ids, so it is random.
  uint64_t transaction_base = 0;
  /// Local addresses, used in turn by robots or connections; empty: any.
  std::vector<boost::asio::ip::address> sources;
  std::filesystem::path request_log;  ///< Empty: none.

  /// Threads of all ranks.
  uint64_t all_threads() const { return static_cast<uint64_t>(threads) * place.ranks; }
  /// The number of this process' first thread among all.
  uint64_t first_thread() const { return static_cast<uint64_t>(threads) * place.rank; }
};

}  // namespace workload
