#include "storage/layout/coss_options.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "storage/base/units.h"
#include "storage/layout/coss_format.h"

namespace storage {

namespace {

constexpr uint32_t kStripesMin = 3;

constexpr std::array<SchemeOption, 5> kOptions = {{
    {"stripe-size", "1M", "what is written at once, 64K to 64M, a multiple of block-size and 4K"},
    {"membufs", "10", "stripes in memory at once, 2 to 1000"},
    {"overwrite-percent", "50",
     "a hit in this part of the log, the next to be overwritten, is moved forward; 0 to 100"},
    {"max-object", "", "largest body that is stored, a size; what a stripe can hold if not given"},
    {"block-size", "512", "objects begin at multiples of it, a power of two from 512 to 32K"},
}};

std::string text_of(const SchemeSpec& spec, const SchemeOption& option) {
  const auto given = spec.options.find(std::string(option.name));
  return given != spec.options.end() ? given->second : std::string(option.default_value);
}

// Keeps the first complaint.
void complain(const SchemeSpec& spec, const SchemeOption& option, const std::string& text,
              const std::string& right, std::string& error) {
  if (!error.empty()) return;
  error = "option " + std::string(option.name) + "=" + text + " of scheme " + spec.scheme + ": " +
          right;
}

unsigned parse_number(const SchemeSpec& spec, const SchemeOption& option, unsigned lowest,
                      unsigned highest, std::string& error) {
  const std::string text = text_of(spec, option);
  const std::optional<uint64_t> number = parse_count(text);
  if (number && *number >= lowest && *number <= highest) return static_cast<unsigned>(*number);
  complain(spec, option, text,
           "give a whole number from " + std::to_string(lowest) + " to " + std::to_string(highest),
           error);
  return lowest;
}

void parse_sizes(const SchemeSpec& spec, CossOptions& options, std::string& error) {
  const std::string block_text = text_of(spec, kOptions[4]);
  const std::optional<uint64_t> block = parse_size_bytes(block_text);
  if (block && *block >= kCossBlockSizeMin && *block <= kCossBlockSizeMax &&
      std::has_single_bit(*block)) {
    options.block_size_bytes = static_cast<uint32_t>(*block);
  } else {
    complain(spec, kOptions[4], block_text, "give a power of two from 512 to 32K", error);
    options.block_size_bytes = kCossBlockSizeMin;
  }
  const std::string stripe_text = text_of(spec, kOptions[0]);
  const std::optional<uint64_t> stripe = parse_size_bytes(stripe_text);
  const uint64_t unit = std::max<uint64_t>(kCossPageSize, options.block_size_bytes);
  if (stripe && *stripe >= kCossStripeSizeMin && *stripe <= kCossStripeSizeMax &&
      *stripe % unit == 0) {
    options.stripe_size_bytes = static_cast<uint32_t>(*stripe);
  } else {
    complain(spec, kOptions[0], stripe_text,
             "give a size from 64K to 64M that is a multiple of " + std::to_string(unit), error);
    options.stripe_size_bytes = kMiB;
  }
}

void check_capacity(const SchemeSpec& spec, CossOptions& options, std::string& error) {
  // Places are kept as block numbers of 32 bits.
  const uint64_t capacity_max = uint64_t{options.block_size_bytes} << 32;
  if (spec.capacity_bytes > capacity_max) {
    error = "scheme " + spec.scheme + ": size=" + format_size(spec.capacity_bytes) +
            " is more than block-size=" + std::to_string(options.block_size_bytes) +
            " can address, which is " + format_size(capacity_max) + ": give a larger block-size";
    return;
  }
  const uint64_t stripes = coss_stripe_count(spec.capacity_bytes, options.stripe_size_bytes);
  if (stripes < kStripesMin) {
    error = "scheme " + spec.scheme + ": size=" + format_size(spec.capacity_bytes) +
            " is too small: it must hold at least " + std::to_string(kStripesMin) +
            " stripes of stripe-size=" + format_size(options.stripe_size_bytes) +
            " and some room for the index";
    return;
  }
  options.stripe_count = static_cast<uint32_t>(stripes);
}

void parse_object_size(const SchemeSpec& spec, CossOptions& options, std::string& error) {
  CossRecord largest;
  largest.body_size_bytes = options.stripe_size_bytes;
  const uint64_t body_max = coss_record_size_max(options.stripe_size_bytes) - largest.body_offset();
  const auto given = spec.options.find("max-object");
  if (given == spec.options.end()) {
    // Leaves some room for key and metadata.
    options.object_size_bytes_max = body_max - options.stripe_size_bytes / 16;
    return;
  }
  const std::optional<uint64_t> size = parse_size_bytes(given->second);
  if (size && *size >= 1 && *size <= body_max) {
    options.object_size_bytes_max = *size;
    return;
  }
  complain(spec, kOptions[3], given->second,
           "give a size from 1 to " + std::to_string(body_max) +
               ", which a stripe can hold, or a larger stripe-size",
           error);
}

}  // namespace

std::span<const SchemeOption> coss_option_table() {
  return kOptions;
}

uint64_t coss_record_size_max(uint32_t stripe_size_bytes) {
  return stripe_size_bytes - kCossTrailerSize - kCossDirectoryEntrySize;
}

CossOptions parse_coss_options(const SchemeSpec& spec, std::string& error) {
  CossOptions options;
  options.capacity_bytes = spec.capacity_bytes;
  parse_sizes(spec, options, error);
  options.membufs = parse_number(spec, kOptions[1], 2, 1000, error);
  options.overwrite_percent = parse_number(spec, kOptions[2], 0, 100, error);
  parse_object_size(spec, options, error);
  if (error.empty()) check_capacity(spec, options, error);
  if (error.empty() && spec.path.empty()) {
    error = "scheme " + spec.scheme +
            ": give its file or block device, such as path=/var/cache/cacheoff.coss";
  }
  return options;
}

}  // namespace storage
