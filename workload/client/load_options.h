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
  int threads = 1;            ///< 1 to 64, at most as many as robots or connections.
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
};

}  // namespace workload
