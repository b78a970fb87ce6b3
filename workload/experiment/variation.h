// What an option experiment varies: options of a system under test, by themselves or in named sets,
// against a base.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/experiment/expected.h"

namespace workload {

/// What varies where it is our own proxy (`[vary.proxy]`).
inline constexpr std::string_view kVariesProxy = "proxy";
/// What varies where it is a scheme's part of `--cache-dir` (`[vary.scheme]`).
inline constexpr std::string_view kVariesScheme = "scheme";
/// The variant that every other one is compared with.
inline constexpr std::string_view kBaseVariant = "base";

/// An option that takes several values.
struct VariedOption {
  std::string of;      ///< kVariesProxy, kVariesScheme, or the name of another system.
  std::string option;  ///< Its name; the scheme's for kVariesScheme.
  std::vector<std::string> values;
};

/// A set of options under a name of its own.
struct NamedVariant {
  std::string name;
  std::string of;  ///< As in VariedOption.
  std::map<std::string, std::string> options;
};

/// All that an experiment varies.
struct OptionVariation {
  std::vector<VariedOption> options;
  std::vector<NamedVariant> variants;
  /// Every combination of the options' values, each of which can also be as in the base; otherwise
  /// one option at a time.
  bool crossed = false;

  bool any() const { return !options.empty() || !variants.empty(); }
};

/// What a cell has in place of the base's.
struct CellVariant {
  std::string name;
  std::map<std::string, std::string> options;  ///< Of the system, by name.
  /// Behind path and size of the store; nothing where the base's stay.
  std::optional<std::string> scheme_options;
};

/// How many variants cells of that scheme have beside the base, UINT64_MAX where they are more than
/// can be counted. `of` is what the scheme's system is called in a variation.
uint64_t count_variants(const OptionVariation& variation, std::string_view of,
                        std::string_view scheme);

/// These variants, in the order of the file: `worker_processes=2`, `use=epoll, multi_accept=on`,
/// and then the named ones.
std::vector<CellVariant> variants_of(const OptionVariation& variation, std::string_view of,
                                     std::string_view scheme);

/// The tables `vary` and `variant` as results.json keeps them.
boost::json::object varied_options_to_json(const OptionVariation& variation);
boost::json::array named_variants_to_json(const OptionVariation& variation);

/// Read back; the Problem names what is wrong.
Expected<void> read_varied_options(OptionVariation& variation, const boost::json::value& vary);
Expected<void> read_named_variants(OptionVariation& variation, const boost::json::value& variants);

}  // namespace workload
