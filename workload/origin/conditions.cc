#include "workload/origin/conditions.h"

#include "workload/model/http_date.h"

namespace workload {
namespace {

constexpr std::string_view kWeakMark = "W/";

/// Whether an entity tag is in a list, compared strongly (If-Match) or weakly (If-None-Match).
bool list_has_tag(std::string_view list, std::string_view etag, bool strongly) {
  const bool weak_etag = etag.starts_with(kWeakMark);
  if (weak_etag) etag.remove_prefix(kWeakMark.size());
  for (;;) {
    const auto start = list.find_first_not_of(" \t,");
    if (start == std::string_view::npos) return false;
    list.remove_prefix(start);
    if (list.starts_with('*')) return true;
    const bool weak = list.starts_with(kWeakMark);
    if (weak) list.remove_prefix(kWeakMark.size());
    const auto close = list.starts_with('"') ? list.find('"', 1) : std::string_view::npos;
    if (close == std::string_view::npos) return false;
    const bool may_match = !strongly || (!weak && !weak_etag);
    if (may_match && list.substr(0, close + 1) == etag) return true;
    list.remove_prefix(close + 1);
  }
}

}  // namespace

Conditions evaluate_conditions(const OriginRequest& request, const Validators& validators,
                               int64_t now_unix_s) {
  if (!request.if_match.empty()) {
    if (!list_has_tag(request.if_match, validators.etag, true)) return Conditions::kFailed;
  } else if (!request.if_unmodified_since.empty()) {
    const auto date = parse_http_date(request.if_unmodified_since, now_unix_s);
    if (date && validators.last_modified_unix_s > *date) return Conditions::kFailed;
  }
  bool unchanged = false;
  if (!request.if_none_match.empty()) {
    unchanged = list_has_tag(request.if_none_match, validators.etag, false);
  } else if (!request.if_modified_since.empty()) {
    const auto date = parse_http_date(request.if_modified_since, now_unix_s);
    unchanged = date && validators.last_modified_unix_s <= *date;
  }
  return unchanged ? Conditions::kNotModified : Conditions::kServe;
}

bool range_applies(const OriginRequest& request, const Validators& validators, int64_t now_unix_s) {
  if (request.range.empty() || request.method != OriginRequest::Method::kGet) return false;
  if (request.if_range.empty()) return true;
  if (request.if_range == validators.etag) return !validators.etag.starts_with(kWeakMark);
  return validators.date_is_strong &&
         parse_http_date(request.if_range, now_unix_s) == validators.last_modified_unix_s;
}

}  // namespace workload
