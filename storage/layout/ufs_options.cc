#include "storage/layout/ufs_options.h"

#include <algorithm>
#include <array>

#include "storage/base/units.h"
#include "storage/layout/ufs_file_format.h"
#include "storage/replacement/policies.h"

namespace storage {

namespace {

constexpr std::array<SchemeOption, 6> kOptions = {{
    {"l1", "16", "folders of the first level, 1 to 256"},
    {"l2", "256", "folders in each of them, 1 to 256"},
    {"max-object", "", "largest body that is stored, a size; a quarter of the cache if not given"},
    {"high-water", "95", "fullness in percent at which eviction begins"},
    {"low-water", "90", "fullness in percent at which eviction ends"},
    {"policy", kDefaultPolicy, kPolicyMeaning},
}};

// Reads a whole number from 1 to `highest`, or takes the default.
unsigned parse_number(const SchemeSpec& spec, const SchemeOption& option, unsigned highest,
                      std::string& error) {
  const auto given = spec.options.find(std::string(option.name));
  const std::string text =
      given != spec.options.end() ? given->second : std::string(option.default_value);
  const std::optional<uint64_t> number = parse_count(text);
  if (number && *number >= 1 && *number <= highest) return static_cast<unsigned>(*number);
  if (error.empty()) {
    error = "option " + std::string(option.name) + "=" + text + " of scheme " + spec.scheme +
            ": give a whole number from 1 to " + std::to_string(highest);
  }
  return 1;
}

}  // namespace

std::span<const SchemeOption> ufs_option_table() {
  return kOptions;
}

UfsOptions parse_ufs_options(const SchemeSpec& spec, std::string& error) {
  UfsOptions options;
  options.shape.l1 = parse_number(spec, kOptions[0], 256, error);
  options.shape.l2 = parse_number(spec, kOptions[1], 256, error);
  options.high_water_percent = parse_number(spec, kOptions[3], 100, error);
  options.low_water_percent = parse_number(spec, kOptions[4], 100, error);
  options.capacity_bytes = spec.capacity_bytes;
  options.object_size_bytes_max = std::min(spec.capacity_bytes / 4, kUfsBodySizeMax);
  if (!error.empty()) return options;
  if (options.low_water_percent > options.high_water_percent) {
    error = "option low-water=" + std::to_string(options.low_water_percent) + " of scheme " +
            spec.scheme + ": must not be above high-water, which is " +
            std::to_string(options.high_water_percent);
    return options;
  }
  if (spec.capacity_bytes == 0) {
    error = "scheme " + spec.scheme + ": give its size, such as size=1G";
    return options;
  }
  if (spec.path.empty()) {
    error = "scheme " + spec.scheme + ": give its folder, such as path=/var/cache/cacheoff";
    return options;
  }
  if (const auto named = spec.options.find("policy"); named != spec.options.end()) {
    options.policy = named->second;
  }
  if (make_policy(options.policy, options.capacity_bytes, error) == nullptr) {
    error = "option policy of scheme " + spec.scheme + ": " + error;
    return options;
  }
  const auto given = spec.options.find("max-object");
  if (given == spec.options.end()) return options;
  const std::optional<uint64_t> size = parse_size_bytes(given->second);
  if (size && *size >= 1 && *size <= spec.capacity_bytes) {
    options.object_size_bytes_max = std::min(*size, kUfsBodySizeMax);
  } else {
    error = "option max-object=" + given->second + " of scheme " + spec.scheme +
            ": give a size from 1 to that of the cache, such as max-object=4M";
  }
  return options;
}

}  // namespace storage
