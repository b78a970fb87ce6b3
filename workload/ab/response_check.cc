#include "workload/ab/response_check.h"

#include <utility>

namespace workload::ab {

void ResponseCheck::begin() {
  stop_recording();
  reader_.begin(checks_->head_only);
  body_bytes_ = 0;
  body_begun_ = false;
  same_ = true;
}

void ResponseCheck::stop_recording() {
  if (checks_->recorder != this) return;
  checks_->recorder = nullptr;
  checks_->recorded.clear();
}

std::string_view ResponseCheck::take(std::string_view input) {
  using State = ResponseReader::State;
  if (!reader_.begun() && checks_->patterns && checks_->pattern.begins(input)) {
    reader_.begin_behind(checks_->pattern.head(), checks_->head_only);
    input.remove_prefix(checks_->pattern.head_size());
    body_begins();
  }
  while (!input.empty() && reader_.state() != State::kDone && reader_.state() != State::kBroken) {
    const auto piece = reader_.take(input);
    if (!body_begun_ && reader_.state() != State::kHead) body_begins();
    if (!piece.empty()) on_body(piece);
  }
  return input;
}

void ResponseCheck::body_begins() {
  body_begun_ = true;
  comparing_ = checks_->pattern.known();
  if (comparing_) return;
  hash_.begin();
  if (checks_->recorder != nullptr || checks_->recordings >= kRecordingsMax) return;
  checks_->recorder = this;
  ++checks_->recordings;
}

void ResponseCheck::on_body(std::string_view piece) {
  if (comparing_) {
    same_ = same_ && checks_->pattern.same(body_bytes_, piece);
  } else {
    hash_.add(piece);
    if (checks_->recorder == this) {
      if (body_bytes_ + piece.size() <= ResponsePattern::kBodyBytesMax) {
        checks_->recorded.append(piece);
      } else {
        stop_recording();
      }
    }
  }
  body_bytes_ += piece.size();
}

Likeness ResponseCheck::compare() {
  if (comparing_) {
    if (body_bytes_ != checks_->pattern.body().size()) return Likeness::kOtherLength;
    return same_ ? Likeness::kSame : Likeness::kOtherContent;
  }
  const auto digest = hash_.digest();
  checks_->first.offer(digest, reader_.head().server);
  const auto& first = *checks_->first.digest();
  if (digest.size_bytes != first.size_bytes) return Likeness::kOtherLength;
  if (digest != first) return Likeness::kOtherContent;
  if (checks_->recorder == this) {
    checks_->pattern.learn(reader_.head(), reader_.head_text(), std::move(checks_->recorded));
    checks_->recorded = {};
    checks_->recorder = nullptr;
  }
  return Likeness::kSame;
}

}  // namespace workload::ab
