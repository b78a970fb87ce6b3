#include "storage/layout/rock_options.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "storage/base/units.h"
#include "storage/layout/rock_clean_index.h"
#include "storage/layout/rock_format.h"

namespace storage {

namespace {

constexpr uint32_t kSlotsMin = 16;
/// Behind a limited rate a queue without bound would let clients wait without bound.
constexpr std::chrono::milliseconds kPacedWaitMax{1000};

constexpr std::array<SchemeOption, 7> kOptions = {{
    {"slot-size", "16K", "size of a slot, a power of two from 4K to 1M"},
    {"max-object", "", "largest body that is stored, a size; a quarter of the cache if not given"},
    {"policy", kDefaultPolicy, kPolicyMeaning},
    {"free-slots", "64",
     "slots kept free ahead of their use, at most a sixteenth of all (left out: 64 or that many)"},
    {"direct", "off", "on: past the page cache (O_DIRECT)"},
    {"max-swap-rate", "0", "reads and writes a second, which are paced; 0: as many as there are"},
    {"swap-timeout", "",
     "milliseconds; what would have to wait longer for the disk is declined; 0: nothing is; if not "
     "given, 1000 with a max-swap-rate and 0 without"},
}};

std::string text_of(const SchemeSpec& spec, const SchemeOption& option) {
  const auto given = spec.options.find(std::string(option.name));
  return given != spec.options.end() ? given->second : std::string(option.default_value);
}

// Keeps the first complaint.
void complain(const SchemeSpec& spec, const SchemeOption& option, const std::string& right,
              std::string& error) {
  if (!error.empty()) return;
  error = "option " + std::string(option.name) + "=" + text_of(spec, option) + " of scheme " +
          spec.scheme + ": " + right;
}

uint64_t parse_number(const SchemeSpec& spec, const SchemeOption& option, uint64_t highest,
                      std::string& error) {
  const std::optional<uint64_t> number = parse_count(text_of(spec, option));
  if (number && *number <= highest) return *number;
  complain(spec, option, "give a whole number from 0 to " + std::to_string(highest), error);
  return 0;
}

void parse_slots(const SchemeSpec& spec, RockOptions& options, std::string& error) {
  const std::optional<uint64_t> size = parse_size_bytes(text_of(spec, kOptions[0]));
  if (size && *size >= kRockSlotSizeMin && *size <= kRockSlotSizeMax &&
      std::has_single_bit(*size)) {
    options.slot_size_bytes = static_cast<uint32_t>(*size);
  } else {
    complain(spec, kOptions[0], "give a power of two from 4K to 1M", error);
    options.slot_size_bytes = 16 * kKiB;
  }
  options.slot_count = rock_slot_count(spec.capacity_bytes, options.slot_size_bytes);
  const std::string size_text =
      "scheme " + spec.scheme + ": size=" + format_size(spec.capacity_bytes);
  if (options.slot_count < kSlotsMin && error.empty()) {
    error = size_text + " is too small: it must hold at least " + std::to_string(kSlotsMin) +
            " slots of slot-size=" + format_size(options.slot_size_bytes) +
            " and some room for the index";
  }
  // Slots are numbered with 31 bits.
  const uint64_t capacity_max = uint64_t{options.slot_size_bytes} * kRockNoSlot;
  if (spec.capacity_bytes > capacity_max && error.empty()) {
    error = size_text + " is more than slots of slot-size=" + format_size(options.slot_size_bytes) +
            " can address, which is " + format_size(capacity_max) + ": give a larger slot-size";
  }
}

void parse_object_size(const SchemeSpec& spec, RockOptions& options, std::string& error) {
  const uint64_t capacity = uint64_t{options.slot_count} * options.slot_size_bytes;
  // Key and metadata may need slots of their own.
  const uint64_t listed_slots =
      kRockObjectSlotsMax - 1 - (Key::kLengthMax + Metadata::kSizeMax) / (kRockSlotSizeMin - 128);
  const uint64_t listed = listed_slots * (options.slot_size_bytes - kRockHeaderSize);
  const uint64_t highest = std::min(capacity, listed);
  const std::optional<uint64_t> size = parse_size_bytes(text_of(spec, kOptions[1]));
  if (text_of(spec, kOptions[1]).empty()) {
    options.object_size_bytes_max = std::min(capacity / 4, listed);
  } else if (size && *size >= 1 && *size <= highest) {
    options.object_size_bytes_max = *size;
  } else {
    complain(spec, kOptions[1],
             "give a size from 1 to " + std::to_string(highest) + ", such as max-object=4M", error);
  }
}

}  // namespace

std::span<const SchemeOption> rock_option_table() {
  return kOptions;
}

RockOptions parse_rock_options(const SchemeSpec& spec, std::string& error) {
  RockOptions options;
  options.capacity_bytes = spec.capacity_bytes;
  parse_slots(spec, options, error);
  parse_object_size(spec, options, error);
  options.policy = text_of(spec, kOptions[2]);
  std::string policy_error;
  if (make_policy(options.policy, options.capacity_bytes, policy_error) == nullptr) {
    complain(spec, kOptions[2], policy_error, error);
  }
  const uint64_t wanted_free = parse_number(spec, kOptions[3], kRockNoSlot, error);
  const uint64_t free_max = options.slot_count / 16;
  if (spec.options.contains("free-slots") && wanted_free > free_max) {
    complain(spec, kOptions[3],
             "a store of " + std::to_string(options.slot_count) + " slots keeps at most " +
                 std::to_string(free_max) + " free",
             error);
  }
  options.free_slots = static_cast<uint32_t>(std::min(wanted_free, free_max));
  const std::string direct = text_of(spec, kOptions[4]);
  options.direct = direct == "on";
  if (direct != "on" && direct != "off") complain(spec, kOptions[4], "give on or off", error);
  options.swap_rate_max = parse_number(spec, kOptions[5], 10'000'000, error);
  if (spec.options.contains("swap-timeout")) {
    options.swap_timeout =
        std::chrono::milliseconds(parse_number(spec, kOptions[6], 3'600'000, error));
  } else if (options.swap_rate_max > 0) {
    options.swap_timeout = kPacedWaitMax;
  }
  if (error.empty() && spec.path.empty()) {
    error = "scheme " + spec.scheme +
            ": give its file or block device, such as path=/var/cache/cacheoff.rock";
  }
  return options;
}

}  // namespace storage
