#include "workload/ab/first_response.h"

#include <xxhash.h>

#include <cstring>
#include <new>
#include <utility>

namespace workload::ab {

void FirstResponse::offer(const BodyDigest& digest, const std::string& server) {
  const std::lock_guard lock(mutex_);
  if (known_.load(std::memory_order_relaxed) != nullptr) return;
  digest_ = digest;
  server_ = server;
  known_.store(&digest_, std::memory_order_release);
}

BodyHash::BodyHash() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
}

BodyHash::~BodyHash() {
  XXH3_freeState(state_);
}

BodyHash::BodyHash(BodyHash&& other) noexcept
    : size_bytes_(other.size_bytes_), state_(std::exchange(other.state_, nullptr)) {}

BodyHash& BodyHash::operator=(BodyHash&& other) noexcept {
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(state_, other.state_);
  return *this;
}

void BodyHash::begin() {
  size_bytes_ = 0;
  XXH3_64bits_reset(state_);
}

void BodyHash::add(std::string_view bytes) {
  size_bytes_ += bytes.size();
  XXH3_64bits_update(state_, bytes.data(), bytes.size());
}

BodyDigest BodyHash::digest() const {
  return {size_bytes_, XXH3_64bits_digest(state_)};
}

void ResponsePattern::learn(const ResponseHead& head, std::string_view head_text,
                            std::string body) {
  known_ = true;
  head_ = head;
  text_ = head_text;
  body_ = std::move(body);
}

bool ResponsePattern::begins(std::string_view bytes) const {
  if (!known_ || bytes.size() < text_.size()) return false;
  const size_t behind = head_.date_at + head_.date_size;
  // A date of another length moves what is behind it, so that this is then no match; one with a
  // line break in it would hide another field.
  return std::memchr(bytes.data() + head_.date_at, '\n', head_.date_size) == nullptr &&
         std::memcmp(bytes.data(), text_.data(), head_.date_at) == 0 &&
         std::memcmp(bytes.data() + behind, text_.data() + behind, text_.size() - behind) == 0;
}

bool ResponsePattern::same(uint64_t offset, std::string_view piece) const {
  return offset <= body_.size() && piece.size() <= body_.size() - offset &&
         std::memcmp(body_.data() + offset, piece.data(), piece.size()) == 0;
}

}  // namespace workload::ab
