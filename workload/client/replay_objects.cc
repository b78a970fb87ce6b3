#include "workload/client/replay_objects.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_set>

#include "storage/base/random.h"
#include "traces/url_key.h"
#include "workload/measure/tally.h"
#include "workload/model/infinite_cache.h"

namespace workload {

namespace {

constexpr int64_t kLastModifiedUnixS = 1577836800;  // 2020-01-01, before any run.
constexpr int64_t kLifetimeS = 365 * 86400;

template <size_t count>
bool is_one_of(const std::array<std::string_view, count>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<ContentType> type_by_media(std::string_view media_type) {
  constexpr std::array<std::string_view, 9> kDownloads{
      "application/zip",          "application/gzip",  "application/x-gzip",
      "application/octet-stream", "application/pdf",   "application/x-tar",
      "application/msword",       "application/x-rpm", "application/x-msdownload"};
  media_type = media_type.substr(0, media_type.find(';'));
  if (media_type.starts_with("image/")) return ContentType::kImage;
  if (media_type == "text/html" || media_type == "application/xhtml+xml") return ContentType::kHtml;
  if (media_type.starts_with("video/") || media_type.starts_with("audio/") ||
      is_one_of(kDownloads, media_type)) {
    return ContentType::kDownload;
  }
  return std::nullopt;
}

ContentType type_by_extension(std::string_view extension) {
  constexpr std::array<std::string_view, 9> kImages{"gif", "jpg", "jpeg", "png", "webp",
                                                    "svg", "ico", "bmp",  "xbm"};
  constexpr std::array<std::string_view, 5> kPages{"html", "htm", "xhtml", "shtml", "php"};
  constexpr std::array<std::string_view, 16> kDownloads{"zip", "gz",  "tgz", "exe", "pdf", "iso",
                                                        "rpm", "deb", "msi", "mp3", "mp4", "mpg",
                                                        "avi", "mov", "ts",  "bin"};
  if (is_one_of(kImages, extension)) return ContentType::kImage;
  if (is_one_of(kPages, extension)) return ContentType::kHtml;
  if (is_one_of(kDownloads, extension)) return ContentType::kDownload;
  return ContentType::kOther;
}

/// Walks the steps past an infinite cache: marks the hits and sets the ideal shares.
void judge_steps(ReplayWork& work) {
  InfiniteCache cache;
  Tally tally;
  for (auto& step : work.steps) {
    const auto& object = work.objects[step.object];
    const bool get = step.method == RequestMethod::kGet;
    step.offered_hit = object.cachable && cache.holds(object.id);
    if (get && object.cachable) cache.store(object.id);
    TransactionRecord record;
    record.outcome = step.offered_hit ? Outcome::kHit : Outcome::kMiss;
    record.body_bytes = get ? object.size_bytes : 0;
    tally.add(record);
  }
  work.ideal_hit_ratio_percent = tally.hit_ratio_percent();
  work.ideal_byte_hit_ratio_percent = tally.byte_hit_ratio_percent();
}

}  // namespace

ContentType content_type_of(std::string_view media_type, std::string_view extension) {
  return type_by_media(media_type).value_or(type_by_extension(extension));
}

ReplayWork make_replay_work(const traces::ReplayPlan& plan, uint64_t seed) {
  ReplayWork work;
  std::unordered_set<uint64_t> ids;
  work.objects.reserve(plan.objects.size());
  ids.reserve(plan.objects.size());
  for (const auto& planned : plan.objects) {
    ObjectSpec object;
    object.seed = seed;
    object.id = XXH3_64bits(planned.url.data(), planned.url.size());
    object.type = content_type_of(planned.content_type, traces::url_extension(planned.url));
    object.size_bytes = planned.size_bytes;
    object.cachable = planned.cachable;
    object.last_modified_unix_s = kLastModifiedUnixS;
    object.lifetime_s = kLifetimeS;
    if (ids.contains(object.id)) ++work.id_collisions;
    while (!ids.insert(object.id).second) object.id = storage::mix64(object.id + 1);
    work.objects.push_back(object);
  }
  work.steps.reserve(plan.requests.size());
  for (const auto& request : plan.requests) {
    ReplayStep step;
    step.due = request.offset;
    step.object = request.object;
    step.method =
        request.method == traces::ReplayMethod::kHead ? RequestMethod::kHead : RequestMethod::kGet;
    work.steps.push_back(step);
  }
  judge_steps(work);
  return work;
}

}  // namespace workload
