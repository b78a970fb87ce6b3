// What passes between a storage scheme and its user: keys, metadata, and leases on buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace storage {

/// 128 bits that stand for a key in memory and in file names. Two keys may share them: whoever
/// looks an object up by its hash compares the full key before it believes the match.
struct KeyHash {
  uint64_t high = 0;
  uint64_t low = 0;
  friend bool operator==(const KeyHash& left, const KeyHash& right) = default;
};

/// `hash` with all but its lowest `bits` bits cleared: what an index of fewer bits sees of it.
constexpr KeyHash truncated(KeyHash hash, unsigned bits) {
  const auto mask = [](unsigned width) {
    return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  };
  KeyHash kept;
  kept.high = bits > 64 ? hash.high & mask(bits - 64) : 0;
  kept.low = hash.low & mask(bits);
  return kept;
}

/// For unordered containers; the hash is already mixed.
struct KeyHashHasher {
  size_t operator()(const KeyHash& hash) const noexcept { return static_cast<size_t>(hash.low); }
};

/// The full name of an object, and its hash (XXH3, 128 bits). Immutable. Pass by value into
/// coroutines.
class Key {
 public:
  /// At most this long; the layer above must not ask for longer ones.
  static constexpr size_t kLengthMax = 16384;

  explicit Key(std::string text);

  const std::string& text() const { return text_; }
  KeyHash hash() const { return hash_; }
  friend bool operator==(const Key& left, const Key& right) { return left.text_ == right.text_; }

 private:
  std::string text_;
  KeyHash hash_;
};

/// Bytes that the layer above keeps with an object (a scheme never looks inside). Immutable and
/// cheap to copy.
class Metadata {
 public:
  /// No scheme accepts more than this; larger metadata is kTooLarge.
  static constexpr size_t kSizeMax = 256 * 1024;

  Metadata() = default;
  explicit Metadata(std::string bytes)
      : bytes_(std::make_shared<const std::string>(std::move(bytes))) {}

  std::string_view bytes() const { return bytes_ ? std::string_view(*bytes_) : std::string_view(); }
  size_t size() const { return bytes_ ? bytes_->size() : 0; }

 private:
  std::shared_ptr<const std::string> bytes_;
};

/// A read lease on bytes of an object. The bytes stay as they are until the lease is destroyed;
/// destroying it from any thread is safe. Move-only, so that a second lease is always deliberate.
class Piece {
 public:
  Piece() = default;
  Piece(std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
      : bytes_(bytes), owner_(std::move(owner)) {}
  Piece(Piece&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})), owner_(std::move(other.owner_)) {}
  Piece& operator=(Piece&& other) noexcept {
    bytes_ = std::exchange(other.bytes_, {});
    owner_ = std::move(other.owner_);
    return *this;
  }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }

  /// A further lease on `length` bytes from `offset`; both must lie inside this piece.
  Piece share(size_t offset, size_t length) const {
    return Piece(bytes_.subspan(offset, length), owner_);
  }

 private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

/// A write lease on an empty buffer. Fill it, then hand it to Writer::append. Destroying it unused
/// gives the buffer back. Move-only.
class Space {
 public:
  Space() = default;
  Space(std::span<std::byte> bytes, std::shared_ptr<void> owner)
      : bytes_(bytes), owner_(std::move(owner)) {}
  Space(Space&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})), owner_(std::move(other.owner_)) {}
  Space& operator=(Space&& other) noexcept {
    bytes_ = std::exchange(other.bytes_, {});
    owner_ = std::move(other.owner_);
    return *this;
  }
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  const std::shared_ptr<void>& owner() const { return owner_; }

  /// A read lease on the first `used` bytes, for those who read what is still being written. The
  /// bytes must not be changed after this.
  Piece share(size_t used) const { return Piece(bytes_.first(used), owner_); }

 private:
  std::span<std::byte> bytes_;
  std::shared_ptr<void> owner_;
};

}  // namespace storage
