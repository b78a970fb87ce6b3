// Engines by name: how a layout comes to run on the one that a user has asked for.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/io/diskd/helper_queue.h"
#include "storage/io/engine.h"
#include "storage/registry.h"

namespace storage {

/// An engine, or one line that says why there is none and what would help.
struct EngineOrError {
  std::unique_ptr<IoEngine> engine;
  std::string error;  ///< Empty if made.

  EngineOrError() = default;
  template <class Engine>
  EngineOrError(std::unique_ptr<Engine> engine_in) : engine(std::move(engine_in)) {}
  EngineOrError(std::string error_in) : error(std::move(error_in)) {}
};

/// Which engine, and how large.
struct EngineChoice {
  std::string name;          ///< One of engine_names().
  unsigned threads = 16;     ///< Of thread_pool.
  size_t queue_limit = 0;    ///< Of thread_pool: waiting operations; 0: five a thread.
  unsigned depth_max = 256;  ///< Of libaio, posix_aio and io_uring: operations under way at once.
  HelperOptions helper;      ///< Of helper.
};

/// All that this build has: blocking, thread_pool, posix_aio and helper; libaio unless it is a
/// portable build; and io_uring where liburing was found.
std::span<const std::string_view> engine_names();

/// The first of `fitting` that this build has; one of them must be of every build.
std::string_view default_engine_of(std::initializer_list<std::string_view> fitting);

/// The options `engine`, `threads` and `queue-limit`, for a scheme's row; `default_engine` must
/// live as long as the result is used.
std::vector<SchemeOption> engine_options(std::string_view default_engine);

/// The options `q1`, `q2`, `slots`, `timeout` and `program` of the engine helper.
std::span<const SchemeOption> helper_engine_options();

/// Reads these options. `fitting` are the engines that the layout can run on, its
/// default_engine_of() is taken where none is given. On failure `error` is one line that names the
/// option and what would be right.
EngineChoice choose_engine(const SchemeSpec& spec, std::initializer_list<std::string_view> fitting,
                           std::string& error);

/// Makes an engine whose relative paths are resolved against `root_fd` (AT_FDCWD: the current
/// folder), which must stay open for as long as the engine lives. Fails where the kernel refuses.
EngineOrError make_engine(const EngineChoice& choice, int root_fd,
                          const SchemeEnvironment& environment);

}  // namespace storage
