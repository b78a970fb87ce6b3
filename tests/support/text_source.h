// A log that lies in memory.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "traces/line_reader.h"
#include "traces/replay_plan.h"

namespace testing_support {

/// Gives a text in pieces of at most `piece_bytes`, then an error where one is asked for, or the
/// end.
class TextSource final : public traces::ByteSource {
 public:
  explicit TextSource(std::string text, size_t piece_bytes = 1 << 20,
                      std::optional<std::string> error = std::nullopt)
      : text_(std::move(text)), piece_bytes_(piece_bytes), error_(std::move(error)) {}

  traces::LogResult<size_t> read(std::span<char> out) override {
    const size_t count = std::min({out.size(), piece_bytes_, text_.size() - given_});
    if (count == 0 && error_) return traces::LogError{*error_};
    std::memcpy(out.data(), text_.data() + given_, count);
    given_ += count;
    return count;
  }

 private:
  std::string text_;
  size_t piece_bytes_;
  std::optional<std::string> error_;
  size_t given_ = 0;
};

/// Plans a log that lies in memory.
inline traces::ReplayPlan plan_text(std::string text, const traces::PlanOptions& options = {}) {
  traces::LineReader reader(std::make_unique<TextSource>(std::move(text)));
  return traces::plan_replay(reader, options);
}

}  // namespace testing_support
