// The response that all others are compared with: by its digest, and where it can be by its bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "workload/ab/response_reader.h"

struct XXH3_state_s;

namespace workload::ab {

/// What a body is, without its bytes.
struct BodyDigest {
  uint64_t size_bytes = 0;
  uint64_t xxh3 = 0;
  friend bool operator==(const BodyDigest& left, const BodyDigest& right) = default;
};

/// The first response of a run that was whole, shared by its threads.
class FirstResponse {
 public:
  /// Takes it, unless there is one.
  void offer(const BodyDigest& digest, const std::string& server);
  /// Null until there is one; then valid for the object's life.
  const BodyDigest* digest() const { return known_.load(std::memory_order_acquire); }
  /// To be read after the run.
  const std::string& server() const { return server_; }

 private:
  std::mutex mutex_;
  std::atomic<const BodyDigest*> known_ = nullptr;
  BodyDigest digest_;
  std::string server_;
};

/// A body's digest as it arrives. Allocates once in its life.
class BodyHash {
 public:
  BodyHash();
  ~BodyHash();
  BodyHash(BodyHash&& other) noexcept;
  BodyHash& operator=(BodyHash&& other) noexcept;

  void begin();
  void add(std::string_view bytes);
  BodyDigest digest() const;

 private:
  uint64_t size_bytes_ = 0;
  XXH3_state_s* state_ = nullptr;
};

/// A copy of the first response that one thread keeps, so that another like it is told by two
/// comparisons of memory instead of a parse. One thread.
class ResponsePattern {
 public:
  /// Larger bodies are told by their digest alone.
  static constexpr uint64_t kBodyBytesMax = 1 << 20;

  bool known() const { return known_; }
  void learn(const ResponseHead& head, std::string_view head_text, std::string body);
  /// Whether `bytes` begin with the same head, but for the value of its Date.
  bool begins(std::string_view bytes) const;
  const ResponseHead& head() const { return head_; }
  size_t head_size() const { return text_.size(); }
  const std::string& body() const { return body_; }
  /// Whether `piece`, at `offset` of a body, is as in this one.
  bool same(uint64_t offset, std::string_view piece) const;

 private:
  bool known_ = false;
  ResponseHead head_;
  std::string text_;
  std::string body_;
};

}  // namespace workload::ab
