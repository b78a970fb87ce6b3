// What every part of the running proxy shares.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "proxy/caching_rules.h"
#include "proxy/config.h"
#include "proxy/deadlines.h"
#include "proxy/forwarding.h"
#include "proxy/origin_exchange.h"
#include "proxy/origin_pool.h"
#include "proxy/proxy_counters.h"
#include "storage/base/buffer_pool.h"
#include "storage/base/clock.h"
#include "storage/scheme.h"

namespace proxy {

class AccessLogWriter;
class FillTable;

/// References to the parts; the Server owns them and outlives every user. One thread runs all.
struct Services {
  boost::asio::any_io_executor executor;
  const Config& config;
  const storage::Clock& clock;
  storage::StorageScheme& store;
  storage::BufferPool& buffers;
  Deadlines& deadlines;
  OriginPool& origins;
  FillTable& fills;
  ProxyCounters& counters;
  AccessLogWriter* access_log = nullptr;  ///< Null: none is written.
  ForwardingOptions forwarding;
  CachingOptions caching;
  bool stopping = false;  ///< No further request on any connection.

  HttpTime now() const { return to_http_time(clock.wall_now()); }
  ExchangeOptions exchange_options() const {
    ExchangeOptions options;
    options.progress_timeout = config.timeouts.origin;
    options.header_size_bytes_max = config.limits.header_size_bytes_max;
    return options;
  }
};

}  // namespace proxy
