#include "traces/replay_rules.h"

#include "traces/log_text.h"
#include "traces/url_key.h"

namespace traces {

namespace {

bool is_manager_url(std::string_view url) {
  if (url.starts_with("cache_object:")) return true;
  const size_t mark = url.find("://");
  const size_t path = url.find('/', mark == std::string_view::npos ? 0 : mark + 3);
  return path != std::string_view::npos && url.substr(path).starts_with("/squid-internal-mgr/");
}

/// Methods have few letters and no lower case in practice; what fails this came from no HTTP
/// client.
bool is_method(std::string_view method) {
  constexpr size_t kLengthMax = 32;
  return method.size() <= kLengthMax && is_token(method);
}

std::optional<SkipReason> refusal_by_status(uint16_t status) {
  if (status == 200 || status == 206 || status == 304) return std::nullopt;
  if (status < 100 || status >= 400) return SkipReason::kStatusError;
  if (status >= 300) return SkipReason::kRedirect;
  return SkipReason::kStatusOther;
}

std::optional<SkipReason> refusal_by_request(const AccessRecord& record) {
  if (record.url.starts_with("error:")) return SkipReason::kErrorUrl;
  if (record.method == "CONNECT") return SkipReason::kConnect;
  if (is_manager_url(record.url)) return SkipReason::kManager;
  if (record.method.empty() || record.method == "-") return SkipReason::kNoUrl;
  if (!is_method(record.method)) return SkipReason::kJunkRequest;
  if (record.url.empty()) return SkipReason::kNoUrl;
  if (record.method != "GET" && record.method != "HEAD") return SkipReason::kMethod;
  return std::nullopt;
}

}  // namespace

std::optional<Replayable> replayable(const AccessRecord& record, const std::string& host,
                                     SkipReason& reason) {
  auto refusal = refusal_by_request(record);
  if (!refusal) refusal = refusal_by_status(record.status);
  std::optional<std::string> url;
  if (!refusal) {
    url = normalised_url(
        absolute_url(record.url, record.host.empty() ? host : std::string(record.host)));
    if (!url) refusal = SkipReason::kNoUrl;
  }
  if (refusal) {
    reason = *refusal;
    return std::nullopt;
  }
  Replayable access;
  access.url = std::move(*url);
  access.method = record.method == "HEAD" ? ReplayMethod::kHead : ReplayMethod::kGet;
  if (access.method == ReplayMethod::kGet && record.status == 200 && !record.aborted) {
    access.whole_size_bytes = record.size_bytes;
  }
  const bool squid =
      record.format == LogFormat::kSquidNative || record.format == LogFormat::kSquidLocalTime;
  access.stripped_query = squid && access.url.ends_with('?');
  return access;
}

}  // namespace traces
