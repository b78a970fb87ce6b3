#include "proxy/stored_response.h"

#include <algorithm>
#include <utility>

#include "proxy/cache_control.h"
#include "proxy/forwarding.h"
#include "proxy/header_lists.h"

namespace proxy {
namespace {

constexpr std::string_view kMagic = "CoRs";
constexpr uint8_t kVersion = 1;
constexpr uint8_t kKindResponse = 0;
constexpr uint8_t kKindMarker = 1;
constexpr size_t kNameLengthMax = 1024;
constexpr size_t kValueLengthMax = 60000;  // Beast keeps field sizes in 16 bits.
constexpr unsigned kStatusMin = 200;
constexpr unsigned kStatusMax = 599;
// The years 0 to 9999: what HTTP can say, and far from any overflow.
constexpr int64_t kTimeMin = -62'167'219'200;
constexpr int64_t kTimeMax = 253'402'300'799;

bool is_valid_time(int64_t seconds) {
  return seconds >= kTimeMin && seconds <= kTimeMax;
}

bool is_valid_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= ' ' && byte != 0x7f) || byte == '\t';
  });
}

bool is_valid_name(std::string_view name) {
  return name.size() <= kNameLengthMax && is_token(name);
}

bool is_valid_value(std::string_view value) {
  return value.size() <= kValueLengthMax && is_valid_text(value) &&
         trim_blanks(value).size() == value.size();
}

class RecordEncoder {
 public:
  explicit RecordEncoder(uint8_t kind) : out_(kMagic) {
    number<uint8_t>(kVersion);
    number<uint8_t>(kind);
  }

  template <class T>
  void number(T value) {
    const auto bits = static_cast<std::make_unsigned_t<T>>(value);
    for (size_t i = 0; i < sizeof(T); ++i) {
      out_ += static_cast<char>(static_cast<uint64_t>(bits) >> (8 * i) & 0xff);
    }
  }

  void text(std::string_view value) {
    number<uint32_t>(static_cast<uint32_t>(value.size()));
    out_ += value;
  }

  std::optional<storage::Metadata> finish() {
    if (out_.size() > storage::Metadata::kSizeMax) return std::nullopt;
    return storage::Metadata(std::move(out_));
  }

 private:
  std::string out_;
};

/// Reads a record; after the first read past the end everything is zero or empty and failed().
class RecordDecoder {
 public:
  explicit RecordDecoder(std::string_view bytes) : rest_(bytes) {}

  bool failed() const { return failed_; }
  bool at_end() const { return !failed_ && rest_.empty(); }

  std::string_view bytes(size_t size) {
    if (failed_ || size > rest_.size()) {
      failed_ = true;
      return {};
    }
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }

  template <class T>
  T number() {
    uint64_t value = 0;
    const std::string_view taken = bytes(sizeof(T));
    for (size_t i = 0; i < taken.size(); ++i) {
      value |= static_cast<uint64_t>(static_cast<unsigned char>(taken[i])) << (8 * i);
    }
    return static_cast<T>(value);
  }

  std::string_view text() { return bytes(number<uint32_t>()); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

bool decode_fields(RecordDecoder& decoder, ResponseHead& head) {
  const size_t count = decoder.number<uint16_t>();
  if (count > kStoredFieldCountMax) return false;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view name = decoder.text();
    const std::string_view value = decoder.text();
    if (decoder.failed() || !is_valid_name(name) || !is_valid_value(value)) return false;
    head.insert(name, value);
  }
  return true;
}

std::optional<StoredRecord> decode_response(RecordDecoder& decoder) {
  StoredResponse out;
  out.fill_id = decoder.number<uint64_t>();
  const auto request_time = decoder.number<int64_t>();
  const auto response_time = decoder.number<int64_t>();
  const unsigned status = decoder.number<uint16_t>();
  const unsigned minor_version = decoder.number<uint8_t>();
  const unsigned has_size = decoder.number<uint8_t>();
  const auto size = decoder.number<uint64_t>();
  const std::string_view reason = decoder.text();
  if (decoder.failed() || !is_valid_time(request_time) || !is_valid_time(response_time) ||
      status < kStatusMin || status > kStatusMax || minor_version > 1 || has_size > 1 ||
      (has_size == 0 && size != 0) || !is_valid_value(reason)) {
    return std::nullopt;
  }
  out.request_time = HttpTime(Seconds(request_time));
  out.response_time = HttpTime(Seconds(response_time));
  if (has_size == 1) out.body_size_bytes = size;
  out.head.result(status);
  out.head.reason(reason);
  out.head.version(10 + minor_version);
  if (!decode_fields(decoder, out.head) || !decoder.at_end()) return std::nullopt;
  return StoredRecord(std::move(out));
}

bool are_valid_names(const std::vector<std::string>& names) {
  if (names.empty() || names.size() > kStoredVaryNamesMax) return false;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!is_valid_name(names[i]) || to_lower(names[i]) != names[i]) return false;
    if (i > 0 && names[i - 1] >= names[i]) return false;
  }
  return true;
}

std::optional<StoredRecord> decode_marker(RecordDecoder& decoder) {
  VaryMarker out;
  out.generation = decoder.number<uint64_t>();
  const auto response_time = decoder.number<int64_t>();
  const size_t count = decoder.number<uint16_t>();
  if (decoder.failed() || !is_valid_time(response_time) || count > kStoredVaryNamesMax) {
    return std::nullopt;
  }
  out.response_time = HttpTime(Seconds(response_time));
  for (size_t i = 0; i < count; ++i) out.names.emplace_back(decoder.text());
  if (!decoder.at_end() || !are_valid_names(out.names)) return std::nullopt;
  return StoredRecord(std::move(out));
}

}  // namespace

std::optional<storage::Metadata> encode_record(const StoredResponse& response) {
  const ResponseHead& head = response.head;
  const int64_t request_time = response.request_time.time_since_epoch().count();
  const int64_t response_time = response.response_time.time_since_epoch().count();
  const auto count = static_cast<size_t>(std::distance(head.begin(), head.end()));
  if (count > kStoredFieldCountMax || head.result_int() < kStatusMin ||
      head.result_int() > kStatusMax || !is_valid_time(request_time) ||
      !is_valid_time(response_time) || !is_valid_value(head.reason())) {
    return std::nullopt;
  }
  RecordEncoder encoder(kKindResponse);
  encoder.number<uint64_t>(response.fill_id);
  encoder.number<int64_t>(request_time);
  encoder.number<int64_t>(response_time);
  encoder.number<uint16_t>(static_cast<uint16_t>(head.result_int()));
  encoder.number<uint8_t>(head.version() == 10 ? 0 : 1);
  encoder.number<uint8_t>(response.body_size_bytes ? 1 : 0);
  encoder.number<uint64_t>(response.body_size_bytes.value_or(0));
  encoder.text(head.reason());
  encoder.number<uint16_t>(static_cast<uint16_t>(count));
  for (const auto& field : head) {
    if (!is_valid_name(field.name_string()) || !is_valid_value(field.value())) {
      return std::nullopt;
    }
    encoder.text(field.name_string());
    encoder.text(field.value());
  }
  return encoder.finish();
}

std::optional<storage::Metadata> encode_record(const VaryMarker& marker) {
  const int64_t response_time = marker.response_time.time_since_epoch().count();
  if (!are_valid_names(marker.names) || !is_valid_time(response_time)) return std::nullopt;
  RecordEncoder encoder(kKindMarker);
  encoder.number<uint64_t>(marker.generation);
  encoder.number<int64_t>(response_time);
  encoder.number<uint16_t>(static_cast<uint16_t>(marker.names.size()));
  for (const std::string& name : marker.names) encoder.text(name);
  return encoder.finish();
}

std::optional<StoredRecord> decode_record(std::string_view bytes) {
  if (bytes.size() > storage::Metadata::kSizeMax) return std::nullopt;
  RecordDecoder decoder(bytes);
  if (decoder.bytes(kMagic.size()) != kMagic || decoder.number<uint8_t>() != kVersion) {
    return std::nullopt;
  }
  const auto kind = decoder.number<uint8_t>();
  if (decoder.failed()) return std::nullopt;
  if (kind == kKindResponse) return decode_response(decoder);
  if (kind == kKindMarker) return decode_marker(decoder);
  return std::nullopt;
}

ResponseHead head_to_store(const ResponseHead& received) {
  ResponseHead out = received;
  const CacheControl control = parse_cache_control(received);
  remove_hop_by_hop(out);
  out.erase(http::field::content_length);
  for (const std::string& name : control.private_fields) out.erase(name);
  for (const std::string& name : control.no_cache_fields) out.erase(name);
  return out;
}

}  // namespace proxy
