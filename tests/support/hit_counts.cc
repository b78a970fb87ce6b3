#include "tests/support/hit_counts.h"

#include <sstream>

#include "tests/support/stack.h"

namespace testing_support {
namespace {

constexpr int kDifferencesShownMax = 10;

/// Whether the response, or the right to keep it, came from the cache.
bool is_hit(const std::string& tag, const std::string& status, LogWriter writer) {
  if (tag.find("REFRESH_UNMODIFIED") != std::string::npos) {
    return writer != LogWriter::kSquid || status != "304";
  }
  return tag.find("HIT") != std::string::npos;
}

void count(HitCounts& counts, const std::string& request, bool hit) {
  for (RequestHits* each : {&counts.total, &counts.by_request[request]}) {
    ++each->requests;
    each->hits += hit ? 1 : 0;
  }
}

RequestHits found(const HitCounts& counts, const std::string& request) {
  const auto place = counts.by_request.find(request);
  return place == counts.by_request.end() ? RequestHits() : place->second;
}

}  // namespace

uint64_t HitCounts::tagged(const std::string& tag) const {
  const auto place = by_tag.find(tag);
  return place == by_tag.end() ? 0 : place->second;
}

HitCounts count_access_log(const std::filesystem::path& file, LogWriter writer) {
  HitCounts counts;
  for (const auto& line : split_lines(read_file(file))) {
    const auto words = split_words(line);
    if (words.size() < 10) continue;
    const size_t slash = words[3].find('/');
    std::string tag = words[3].substr(0, slash);
    const std::string status = words[3].substr(slash + 1);
    if (words[6].starts_with("error:")) continue;
    if (tag == "TCP_MISS" && words[8] == "HIER_NONE/-") tag = "TCP_CF_HIT";
    ++counts.by_tag[tag];
    count(counts, words[5] + ' ' + status + ' ' + words[6], is_hit(tag, status, writer));
  }
  return counts;
}

HitCounts count_request_log(const std::filesystem::path& file) {
  HitCounts counts;
  for (const auto& line : split_lines(read_file(file))) {
    const auto words = split_words(line);
    if (words.size() < 11 || words[0] == "#") continue;
    count(counts, words[2] + ' ' + words[5] + ' ' + words[10],
          words[4] == "hit" || words[4] == "validated");
  }
  return counts;
}

std::string difference(const HitCounts& left, const HitCounts& right) {
  std::ostringstream text;
  int shown = 0;
  const auto compare = [&](const std::string& request) {
    const RequestHits one = found(left, request);
    const RequestHits other = found(right, request);
    if (one == other || shown == kDifferencesShownMax) return;
    ++shown;
    text << request << ": " << one << " here, " << other << " there\n";
  };
  for (const auto& entry : left.by_request) compare(entry.first);
  for (const auto& entry : right.by_request) {
    if (!left.by_request.contains(entry.first)) compare(entry.first);
  }
  return text.str();
}

}  // namespace testing_support
