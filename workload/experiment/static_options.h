// What an experiment with static servers is asked for: `--load ab=...`, and which options fit it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/experiment/expected.h"
#include "workload/experiment/options.h"

namespace workload {

/// A load that `cacheoff ab` makes: one URL, again and again.
struct AbLoad {
  unsigned connections = 1;
  std::optional<uint64_t> requests;  ///< Nothing: the goal of the experiment says how many.
  bool keep_alive = false;
  bool gzip = false;     ///< Asks for the page compressed.
  unsigned threads = 1;  ///< Of the generator.

  /// As parse_ab_load() reads it, words always in the same order.
  std::string text() const;
};

/// Whether `--load` says `ab`, well or badly.
bool is_ab_load(std::string_view load);

/// Reads `ab=CONNECTIONS[,requests=N][,keep-alive][,gzip][,threads=T]`. The Problem says what is
/// wrong and what would be right.
Expected<AbLoad> parse_ab_load(std::string_view load);

/// The load of an experiment whose schemes are static servers; nothing for any other.
std::optional<AbLoad> ab_load_of(const ExperimentOptions& options);

/// Whether a scheme is a static server: `static:nginx`.
bool is_static_scheme(std::string_view scheme);

/// Sets `--file-size`.
Expected<void> set_file_size(ExperimentOptions& options, const std::vector<std::string>& values);

/// Whether static servers and `ab` are asked for together or not at all, and no option beside them
/// that means nothing to them. The Problem says what would be right.
Expected<void> check_static_options(const ExperimentOptions& options);

/// What the places of static servers must have room for, in the place of a cache's size.
uint64_t static_place_bytes(const ExperimentOptions& options);

}  // namespace workload
