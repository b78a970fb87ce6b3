#include "workload/model/object.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "storage/base/random.h"

namespace workload {
namespace {

constexpr std::string_view kPathPrefix = "/object/";
constexpr size_t kPathLengthMax = 200;
constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

// One constant a purpose, so that the body, the tag and the path's check code tell nothing of each
// other.
constexpr uint64_t kBodySalt = 0x6f626a6563742d62ULL;
constexpr uint64_t kTagSalt = 0x6f626a6563742d74ULL;
constexpr uint64_t kPathSalt = 0x6f626a6563742d70ULL;
constexpr uint64_t kExtensionSalt = 0x6f626a6563742d65ULL;

uint64_t absorb(uint64_t state, uint64_t value) {
  return storage::mix64((state ^ value) * kGolden + 1);
}

uint64_t version_hash(const ObjectSpec& object, uint64_t salt) {
  uint64_t state = absorb(salt, object.seed);
  state = absorb(state, object.id);
  state = absorb(state, object.type.code());
  state = absorb(state, object.size_bytes);
  return absorb(state, static_cast<uint64_t>(object.last_modified_unix_s));
}

uint64_t full_hash(const ObjectSpec& object, uint64_t salt) {
  const uint64_t state = absorb(version_hash(object, salt), object.cachable ? 1 : 0);
  return absorb(state, static_cast<uint64_t>(object.lifetime_s));
}

/// Which of its type's kinds of file an object is follows from its id.
FileKind file_kind(const ObjectSpec& object) {
  const uint64_t percent = absorb(absorb(kExtensionSalt, object.seed), object.id) % 100;
  return object.type.file_kind(static_cast<unsigned>(percent));
}

class PathWriter {
 public:
  void text(std::string_view part) {
    std::copy(part.begin(), part.end(), buffer_.begin() + static_cast<ptrdiff_t>(length_));
    length_ += part.size();
  }
  void number(uint64_t value) {
    char* const begin = buffer_.data() + length_;
    length_ = static_cast<size_t>(
        std::to_chars(begin, buffer_.data() + buffer_.size(), value, 16).ptr - buffer_.data());
    text("-");
  }
  std::string_view view() const { return {buffer_.data(), length_}; }

 private:
  std::array<char, kPathLengthMax> buffer_;
  size_t length_ = 0;
};

/// Fixed parts, a type and six numbers of at most 16 digits come to 150 characters at most.
void write_path(const ObjectSpec& object, PathWriter& out) {
  out.text(kPathPrefix);
  out.text(object.type.name());
  out.text("/");
  out.number(object.seed);
  out.number(object.id);
  out.number(object.size_bytes);
  out.number(static_cast<uint64_t>(object.last_modified_unix_s));
  out.number(static_cast<uint64_t>(object.lifetime_s));
  out.number(full_hash(object, kPathSalt));
  out.text(object.cachable ? "c" : "u");
  out.text(file_kind(object).extension);
}

/// Takes `digits-` off the front of `rest`.
bool take_number(std::string_view& rest, uint64_t& value) {
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, 16);
  if (error != std::errc{}) return false;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  if (!rest.starts_with('-')) return false;
  rest.remove_prefix(1);
  return true;
}

/// Takes `name/` off the front of `rest`.
bool take_type(std::string_view& rest, ContentType& type) {
  const auto slash = rest.find('/');
  if (slash == std::string_view::npos) return false;
  const auto named = ContentType::named(rest.substr(0, slash));
  if (!named) return false;
  type = *named;
  rest.remove_prefix(slash + 1);
  return true;
}

/// Eight bytes of a body; bytes lie in memory in little-endian order on every machine.
uint64_t body_word(uint64_t key, uint64_t index) {
  const uint64_t word = storage::mix64(key + index * kGolden);
  if constexpr (std::endian::native == std::endian::little) return word;
  return __builtin_bswap64(word);
}

constexpr size_t kWordBytes = sizeof(uint64_t);

/// Part of one word: the bytes from `skip` on.
void fill_partial(uint64_t key, uint64_t index, size_t skip, std::span<std::byte> out) {
  const uint64_t word = body_word(key, index);
  std::array<std::byte, kWordBytes> bytes;
  std::memcpy(bytes.data(), &word, kWordBytes);
  std::memcpy(out.data(), bytes.data() + skip, out.size());
}

void fill_words(uint64_t key, uint64_t offset_bytes, std::span<std::byte> out) {
  uint64_t index = offset_bytes / kWordBytes;
  const size_t skip = offset_bytes % kWordBytes;
  if (skip != 0 && !out.empty()) {
    const size_t head = std::min(kWordBytes - skip, out.size());
    fill_partial(key, index++, skip, out.first(head));
    out = out.subspan(head);
  }
  const size_t words = out.size() / kWordBytes;
  std::byte* target = out.data();
  for (size_t i = 0; i < words; ++i, target += kWordBytes) {
    const uint64_t word = body_word(key, index + i);
    std::memcpy(target, &word, kWordBytes);
  }
  const auto tail = out.subspan(words * kWordBytes);
  if (!tail.empty()) fill_partial(key, index + words, 0, tail);
}

}  // namespace

std::string object_path(const ObjectSpec& object) {
  PathWriter out;
  write_path(object, out);
  return std::string(out.view());
}

std::optional<ObjectSpec> parse_object_path(std::string_view path) {
  path = path.substr(0, path.find('?'));
  if (path.size() > kPathLengthMax || !path.starts_with(kPathPrefix)) return std::nullopt;
  std::string_view rest = path.substr(kPathPrefix.size());
  ObjectSpec object;
  uint64_t last_modified = 0;
  uint64_t lifetime = 0;
  uint64_t check = 0;
  if (!take_type(rest, object.type) || !take_number(rest, object.seed) ||
      !take_number(rest, object.id) || !take_number(rest, object.size_bytes) ||
      !take_number(rest, last_modified) || !take_number(rest, lifetime) ||
      !take_number(rest, check)) {
    return std::nullopt;
  }
  if (object.size_bytes > kObjectSizeBytesMax || lifetime > uint64_t{kLifetimeMaxS} ||
      last_modified > uint64_t{kLastModifiedMaxUnixS}) {
    return std::nullopt;
  }
  object.last_modified_unix_s = static_cast<int64_t>(last_modified);
  object.lifetime_s = static_cast<int64_t>(lifetime);
  object.cachable = rest.starts_with('c');
  // Only the one spelling that object_path() has counts; this also checks the code.
  PathWriter expected;
  write_path(object, expected);
  if (expected.view() != path) return std::nullopt;
  return object;
}

std::string object_etag(const ObjectSpec& object) {
  std::array<char, 2 * kWordBytes> digits;
  digits.fill('0');
  const uint64_t tag = full_hash(object, kTagSalt);
  for (size_t i = 0; i < digits.size(); ++i) {
    digits[i] = "0123456789abcdef"[(tag >> (60 - 4 * i)) & 15];
  }
  return '"' + std::string(digits.data(), digits.size()) + '"';
}

std::string outdated_etag(const ObjectSpec& object) {
  ObjectSpec before = object;
  // There is nothing before the beginning of time: any other version will do.
  before.last_modified_unix_s += object.last_modified_unix_s > 0 ? -1 : 1;
  return object_etag(before);
}

std::string_view media_type(const ObjectSpec& object) {
  return file_kind(object).media_type;
}

void fill_body(const ObjectSpec& object, uint64_t offset_bytes, std::span<std::byte> out) {
  fill_words(version_hash(object, kBodySalt), offset_bytes, out);
}

std::optional<uint64_t> first_wrong_byte(const ObjectSpec& object, uint64_t offset_bytes,
                                         std::span<const std::byte> bytes) {
  const uint64_t key = version_hash(object, kBodySalt);
  const uint64_t size = object.size_bytes;
  const auto inside =
      bytes.first(offset_bytes < size ? std::min<uint64_t>(size - offset_bytes, bytes.size()) : 0);
  // A chunk that stays in the first-level cache, so that memory is read once.
  std::array<std::byte, 4096> expected;
  for (size_t done = 0; done < inside.size();) {
    const auto chunk = inside.subspan(done, std::min(expected.size(), inside.size() - done));
    const auto want = std::span(expected).first(chunk.size());
    fill_words(key, offset_bytes + done, want);
    if (std::memcmp(chunk.data(), want.data(), chunk.size()) != 0) {
      const auto wrong = std::mismatch(chunk.begin(), chunk.end(), want.begin()).first;
      return offset_bytes + done + static_cast<uint64_t>(wrong - chunk.begin());
    }
    done += chunk.size();
  }
  if (inside.size() < bytes.size()) return offset_bytes + inside.size();
  return std::nullopt;
}

}  // namespace workload
