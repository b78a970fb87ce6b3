#include "workload/measure/interval_log.h"

#include <zlib.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <limits>
#include <optional>
#include <span>
#include <sstream>

namespace workload {
namespace {

// The cookies' second hexadecimal digit from the right is the word size, 1: variable length.
constexpr uint32_t kCompressedCookie = 0x1c849314;
constexpr uint32_t kCountersCookie = 0x1c849313;
// Writers differ in that digit; readers ignore it.
constexpr uint32_t kCookieMask = ~0xf0U;
constexpr size_t kHeaderBytes = 40;
constexpr size_t kCompressedHeaderBytes = 8;
// A run of zeros and each counter take at most 9 bytes.
constexpr size_t kPayloadBytesMax = 1 << 20;
constexpr size_t kLineBytesMax = 16 << 20;
constexpr size_t kRowsMax = 1'000'000;
constexpr int kVarintBytesMax = 9;

void put_big_endian(std::string& out, uint64_t value, int size_bytes) {
  for (int shift = 8 * (size_bytes - 1); shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(value >> shift & 0xff));
  }
}

uint64_t get_big_endian(std::string_view bytes, size_t offset, size_t size_bytes) {
  uint64_t value = 0;
  for (size_t index = 0; index < size_bytes; ++index) {
    value = value << 8 | static_cast<uint8_t>(bytes[offset + index]);
  }
  return value;
}

/// ZigZag, then 7 bits a byte from the lowest on; a ninth byte holds 8 bits and ends the number.
void put_varint(std::string& out, int64_t value) {
  uint64_t rest = static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
  for (int index = 1; index < kVarintBytesMax && rest > 0x7f; ++index) {
    out.push_back(static_cast<char>((rest & 0x7f) | 0x80));
    rest >>= 7;
  }
  out.push_back(static_cast<char>(rest));
}

std::optional<int64_t> get_varint(std::string_view bytes, size_t& offset) {
  uint64_t value = 0;
  for (int index = 0; index < kVarintBytesMax; ++index) {
    if (offset == bytes.size()) return std::nullopt;
    const uint8_t byte = static_cast<uint8_t>(bytes[offset++]);
    const bool last_possible = index == kVarintBytesMax - 1;
    const uint64_t bits = last_possible ? byte : byte & 0x7f;
    value |= bits << (7 * index);
    if (last_possible || (byte & 0x80) == 0) break;
  }
  return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t offset = 0; offset < bytes.size(); offset += 3) {
    const size_t size = std::min<size_t>(3, bytes.size() - offset);
    const uint64_t group = get_big_endian(bytes, offset, size) << (8 * (3 - size));
    for (size_t index = 0; index < 4; ++index) {
      const bool padding = index > size;
      out.push_back(padding ? '=' : kBase64[group >> (18 - 6 * index) & 0x3f]);
    }
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (size_t offset = 0; offset < text.size(); offset += 4) {
    uint32_t group = 0;
    for (size_t index = offset; index < offset + 4; ++index) {
      const bool is_padding = index >= text.size() - padding;
      const size_t digit = is_padding ? 0 : kBase64.find(text[index]);
      if (digit == std::string_view::npos) return std::nullopt;
      group = group << 6 | static_cast<uint32_t>(digit);
    }
    put_big_endian(out, group, 3);
  }
  for (; padding > 0; --padding) out.pop_back();
  return out;
}

std::string encode_counters(const Histogram& histogram) {
  const std::span<const uint64_t> counters = histogram.counters();
  std::string payload;
  for (size_t index = 0; index < counters.size();) {
    size_t zeros = 0;
    while (index + zeros < counters.size() && counters[index + zeros] == 0) ++zeros;
    if (zeros > 1) {
      put_varint(payload, -static_cast<int64_t>(zeros));
      index += zeros;
    } else {
      put_varint(payload, static_cast<int64_t>(counters[index]));
      ++index;
    }
  }
  std::string bytes;
  put_big_endian(bytes, kCountersCookie, 4);
  put_big_endian(bytes, payload.size(), 4);
  put_big_endian(bytes, 0, 4);  // Normalising index offset.
  put_big_endian(bytes, Histogram::kSignificantDigits, 4);
  put_big_endian(bytes, Histogram::kLowestNs, 8);
  put_big_endian(bytes, Histogram::kHighestNs, 8);
  put_big_endian(bytes, std::bit_cast<uint64_t>(1.0), 8);  // Integer to double conversion.
  return bytes + payload;
}

std::variant<Histogram, std::string> decode_counters(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return "the counters end within their header";
  const auto cookie = static_cast<uint32_t>(get_big_endian(bytes, 0, 4));
  if ((cookie & kCookieMask) != (kCountersCookie & kCookieMask)) return "not V2 counters";
  const uint64_t length = get_big_endian(bytes, 4, 4);
  if (length > bytes.size() - kHeaderBytes) return "the counters are cut short";
  if (get_big_endian(bytes, 8, 4) != 0) return "a shifted histogram is not supported";
  if (get_big_endian(bytes, 12, 4) != Histogram::kSignificantDigits) {
    return "the significant digits are not 3";
  }
  if (get_big_endian(bytes, 16, 8) != Histogram::kLowestNs) {
    return "the lowest discernible value is not 1";
  }
  const std::string_view payload = bytes.substr(kHeaderBytes, length);
  Histogram histogram;
  size_t index = 0;
  for (size_t offset = 0; offset < payload.size();) {
    const std::optional<int64_t> value = get_varint(payload, offset);
    if (!value) return "a counter is cut short";
    if (*value < 0) {
      const uint64_t zeros = ~static_cast<uint64_t>(*value) + 1;
      if (zeros > Histogram::counter_count_max() - index) return "counters past 24 h";
      index += zeros;
      continue;
    }
    if (index >= Histogram::counter_count_max()) return "counters past 24 h";
    if (!histogram.add_to_counter(index, static_cast<uint64_t>(*value))) return "counts overflow";
    ++index;
  }
  return histogram;
}

/// A field as a finite number.
std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

/// The number of `#[Name: 123.456 (...)]`.
std::optional<double> parse_header_number(std::string_view line, std::string_view name) {
  const std::string start = "#[" + std::string(name) + ": ";
  if (!line.starts_with(start)) return std::nullopt;
  line.remove_prefix(start.size());
  return parse_number(line.substr(0, line.find_first_of(" ]")));
}

/// Takes the text up to the next comma off `line`.
std::optional<std::string_view> take_field(std::string_view& line) {
  const size_t comma = line.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const std::string_view field = line.substr(0, comma);
  line.remove_prefix(comma + 1);
  return field;
}

std::variant<LogInterval, std::string> parse_row(std::string_view line) {
  LogInterval row;
  if (line.starts_with("Tag=")) {
    const auto tag = take_field(line);
    if (!tag) return "no field behind the tag";
    row.tag = tag->substr(4);
  }
  std::array<double, 3> numbers{};
  for (double& number : numbers) {
    const auto field = take_field(line);
    const auto value = field ? parse_number(*field) : std::nullopt;
    if (!value || *value < 0) return "not start, length, maximum, histogram";
    number = *value;
  }
  row.start_s = numbers[0];
  row.length_s = numbers[1];
  auto histogram = decode_histogram(line);
  if (auto* reason = std::get_if<std::string>(&histogram)) return std::move(*reason);
  row.histogram = std::get<Histogram>(std::move(histogram));
  return row;
}

}  // namespace

std::string encode_histogram(const Histogram& histogram) {
  const std::string counters = encode_counters(histogram);
  uLongf size = compressBound(counters.size());
  std::string deflated(size, '\0');
  // Cannot fail: the bound is zlib's own, and the only other reason is no memory.
  compress2(reinterpret_cast<Bytef*>(deflated.data()), &size,
            reinterpret_cast<const Bytef*>(counters.data()), counters.size(),
            Z_DEFAULT_COMPRESSION);
  deflated.resize(size);
  std::string bytes;
  put_big_endian(bytes, kCompressedCookie, 4);
  put_big_endian(bytes, deflated.size(), 4);
  return to_base64(bytes + deflated);
}

std::variant<Histogram, std::string> decode_histogram(std::string_view text) {
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  if (text.size() > kPayloadBytesMax) return "the histogram is longer than 1 MiB";
  const std::optional<std::string> bytes = from_base64(text);
  if (!bytes) return "the histogram is not base64";
  if (bytes->size() < kCompressedHeaderBytes) return "the histogram ends within its header";
  const auto cookie = static_cast<uint32_t>(get_big_endian(*bytes, 0, 4));
  if ((cookie & kCookieMask) != (kCompressedCookie & kCookieMask)) {
    return "not a compressed V2 histogram";
  }
  const uint64_t length = get_big_endian(*bytes, 4, 4);
  if (length > bytes->size() - kCompressedHeaderBytes) return "the histogram is cut short";
  std::string counters(kPayloadBytesMax, '\0');
  uLongf size = counters.size();
  const int status =
      uncompress(reinterpret_cast<Bytef*>(counters.data()), &size,
                 reinterpret_cast<const Bytef*>(bytes->data() + kCompressedHeaderBytes), length);
  if (status == Z_BUF_ERROR && size == counters.size()) return "the counters are over 1 MiB";
  if (status != Z_OK) return "the histogram cannot be inflated";
  return decode_counters(std::string_view(counters).substr(0, size));
}

IntervalLogWriter::IntervalLogWriter(std::ostream& out, storage::WallTime start) : out_(out) {
  const double start_s = std::chrono::duration<double>(start.time_since_epoch()).count();
  out_ << "#[Response times in nanoseconds, written by cacheoff]\n"
       << "#[Histogram log format version 1.3]\n"
       << std::fixed << std::setprecision(3)  //
       << "#[BaseTime: " << start_s << " (seconds since epoch)]\n"
       << "#[StartTime: " << start_s << " (seconds since epoch)]\n"
       << R"("StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram")"
       << '\n';
}

void IntervalLogWriter::write(std::string_view tag, double start_s, double length_s,
                              const Histogram& histogram) {
  if (!tag.empty()) out_ << "Tag=" << tag << ',';
  const double max_ms = static_cast<double>(histogram.max_ns().value_or(0)) / 1e6;
  out_ << std::fixed << std::setprecision(3) << start_s << ',' << length_s << ',' << max_ms << ','
       << encode_histogram(histogram) << '\n';
}

std::variant<IntervalLog, std::string> read_interval_log(std::istream& in) {
  IntervalLog log;
  std::optional<double> base_s;
  std::string line;
  for (size_t number = 1; std::getline(in, line); ++number) {
    const auto wrong = [number](const std::string& reason) {
      return "line " + std::to_string(number) + ": " + reason;
    };
    if (line.size() > kLineBytesMax) return wrong("longer than 16 MiB");
    if (line.starts_with('#')) {
      if (const auto value = parse_header_number(line, "StartTime")) log.start_unix_s = *value;
      if (const auto value = parse_header_number(line, "BaseTime")) base_s = *value;
      continue;
    }
    if (line.empty() || line.starts_with('"')) continue;
    if (log.intervals.size() == kRowsMax) return wrong("more than a million rows");
    auto row = parse_row(line);
    if (const auto* reason = std::get_if<std::string>(&row)) return wrong(*reason);
    log.intervals.push_back(std::get<LogInterval>(std::move(row)));
  }
  // Without a base time, timestamps far before the start cannot be absolute: they count from it.
  constexpr double kYearS = 365.0 * 24 * 3600;
  for (LogInterval& interval : log.intervals) {
    const bool relative = !base_s && interval.start_s < log.start_unix_s - kYearS;
    const double base = base_s ? *base_s : relative ? log.start_unix_s : 0;
    interval.start_s = interval.start_s + base - log.start_unix_s;
  }
  return log;
}

}  // namespace workload
