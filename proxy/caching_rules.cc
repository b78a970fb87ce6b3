#include "proxy/caching_rules.h"

#include <algorithm>
#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>

#include "proxy/conditional.h"
#include "proxy/header_lists.h"
#include "proxy/vary.h"

namespace proxy {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Statuses that a cache may keep without explicit freshness (RFC 9110 15.1), but 206.
bool is_heuristically_cacheable(unsigned status) {
  switch (status) {
    case 200:
    case 203:
    case 204:
    case 300:
    case 301:
    case 308:
    case 404:
    case 405:
    case 410:
    case 414:
    case 501:
      return true;
    default:
      return false;
  }
}

/// Statuses that speak of one request's conditions, range or credentials, or of part of a body.
bool is_never_stored(unsigned status) {
  return status < 200 || status > 599 || status == 206 || status == 304 || status == 407 ||
         status == 412 || status == 416;
}

/// Statuses whose caching requirements are implemented, for must-understand (RFC 9111 5.2.2.3).
bool is_understood(unsigned status) {
  static constexpr unsigned kOthers[] = {302, 303, 307, 400, 403, 406, 500, 502, 503, 504};
  return is_heuristically_cacheable(status) ||
         std::find(std::begin(kOthers), std::end(kOthers), status) != std::end(kOthers);
}

HttpTime date_of(const ResponseHead& response, HttpTime response_time) {
  return parse_http_date(response[http::field::date], response_time).value_or(response_time);
}

/// RFC 9111 5.3. Of several Expires lines the earliest counts; one that is invalid is in the past.
Seconds lifetime_by_expires(const ResponseHead& response, HttpTime response_time) {
  const HttpTime date = date_of(response, response_time);
  Seconds lifetime = kDeltaSecondsMax;
  const auto [begin, end] = response.equal_range(http::field::expires);
  for (auto line = begin; line != end; ++line) {
    const auto expires = parse_http_date(line->value(), response_time);
    lifetime = std::min(lifetime, expires ? *expires - date : Seconds(0));
  }
  return std::max(lifetime, Seconds(0));
}

Seconds lifetime_by_heuristic(const ResponseHead& response, HttpTime response_time,
                              const CachingOptions& options) {
  const auto modified = parse_http_date(response[http::field::last_modified], response_time);
  if (!modified) return Seconds(0);
  const Seconds since = date_of(response, response_time) - *modified;
  if (since <= Seconds(0)) return Seconds(0);
  const Seconds share = since * static_cast<int64_t>(options.heuristic_percent) / 100;
  return std::min(share, options.heuristic_lifetime_max);
}

/// Whether serving it stale is forbidden without asking (RFC 9111 4.2.4, 5.2.2).
bool forbids_stale(const CacheControl& response) {
  return response.must_revalidate || response.proxy_revalidate || response.no_cache ||
         response.s_maxage.has_value();
}

/// Whether the client asks to bypass the cache (RFC 9111 5.2.1.4, 5.4).
bool asks_no_cache(const RequestHead& request, const CacheControl& control) {
  if (control.no_cache || !control.no_cache_fields.empty()) return true;
  return !control.present && list_contains(request, "Pragma", "no-cache");
}

StoreDecision refuse(std::string_view reason) {
  return {false, reason};
}

/// The part of may_store that concerns who the response is for.
std::optional<StoreDecision> refuse_by_owner(const RequestHead& request,
                                             const ResponseHead& response,
                                             const CacheControl& control) {
  if (control.is_private) return refuse("private");
  const bool shared = control.is_public || control.s_maxage;
  // RFC 9111 3.5.
  if (request.count(http::field::authorization) > 0 && !shared && !control.must_revalidate) {
    return refuse("authorization");
  }
  const bool cookie_removed = contains(control.private_fields, "set-cookie") ||
                              contains(control.no_cache_fields, "set-cookie");
  if (response.count(http::field::set_cookie) > 0 && !shared && !cookie_removed) {
    return refuse("set_cookie");
  }
  return std::nullopt;
}

/// What keeps the stored response from being served as it is, or nothing if it is fresh enough.
/// `client_reload` tells whether the client is the cause.
std::string_view reason_to_validate(const Decision& so_far, const RequestHead& request,
                                    const CacheControl& wanted, const CacheControl& given,
                                    const CachingOptions& options, bool& client_reload) {
  if (options.honour_client_reload) {
    const bool no_cache = asks_no_cache(request, wanted);
    if (no_cache || wanted.max_age == Seconds(0)) {
      client_reload = true;
      return no_cache ? "client_no_cache" : "client_max_age";
    }
  }
  if (given.no_cache) return "no_cache";
  if (wanted.max_age && so_far.age > *wanted.max_age && wanted.max_age != Seconds(0)) {
    return "client_max_age";
  }
  if (wanted.min_fresh && so_far.lifetime - so_far.age < *wanted.min_fresh) {
    return "client_min_fresh";
  }
  return {};
}

}  // namespace

StoreDecision may_store(const RequestHead& request, const ResponseHead& response,
                        HttpTime response_time, const CachingOptions& options) {
  const unsigned status = response.result_int();
  if (request.method() != http::verb::get) return refuse("method");
  if (is_never_stored(status)) return refuse("status");
  // A whole response has none: this one contradicts itself, and nothing in it is to be trusted.
  if (response.count(http::field::content_range) > 0) return refuse("content_range");
  const CacheControl wanted = parse_cache_control(request);
  const CacheControl control = parse_cache_control(response);
  if (wanted.no_store) return refuse("request_no_store");
  if (control.must_understand && !is_understood(status)) return refuse("not_understood");
  if (control.no_store && !control.must_understand) return refuse("no_store");
  if (auto refusal = refuse_by_owner(request, response, control)) return *refusal;
  if (!vary_names(response)) return refuse("vary");
  const bool is_explicit = control.is_public || control.max_age || control.s_maxage ||
                           response.count(http::field::expires) > 0;
  if (!is_explicit && !is_heuristically_cacheable(status)) return refuse("status");
  const bool lives = freshness_lifetime(response, response_time, options).value > Seconds(0);
  const bool usable_stale = control.stale_while_revalidate || control.stale_if_error ||
                            options.stale_if_error_default > Seconds(0);
  const bool usable = lives && !control.no_cache;
  if (!usable && !has_validator(response) && (control.no_cache || !usable_stale)) {
    return refuse("not_reusable");
  }
  return {true, "ok"};
}

Lifetime freshness_lifetime(const ResponseHead& response, HttpTime response_time,
                            const CachingOptions& options) {
  const CacheControl control = parse_cache_control(response);
  if (control.s_maxage) return {*control.s_maxage, true};
  if (control.max_age) return {*control.max_age, true};
  if (response.count(http::field::expires) > 0) {
    return {lifetime_by_expires(response, response_time), true};
  }
  if (!is_heuristically_cacheable(response.result_int()) && !control.is_public) return {};
  return {lifetime_by_heuristic(response, response_time, options), false};
}

Seconds current_age(const StoredResponse& entry, HttpTime now) {
  const Seconds zero(0);
  const HttpTime date = date_of(entry.head, entry.response_time);
  const Seconds apparent_age = std::max(zero, entry.response_time - date);
  // Of a list the first member counts, and an invalid one is ignored (RFC 9111 5.1).
  const auto ages = list_elements(entry.head, "Age");
  Seconds age_value(0);
  if (!ages.empty() && ages.front().front() != '"') {
    age_value = parse_delta_seconds(ages.front()).value_or(zero);
  }
  const Seconds response_delay = std::max(zero, entry.response_time - entry.request_time);
  const Seconds initial_age = std::max(apparent_age, age_value + response_delay);
  const Seconds resident_time = std::max(zero, now - entry.response_time);
  return std::min(initial_age + resident_time, kDeltaSecondsMax);
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kServeFresh:
      return "serve_fresh";
    case Verdict::kServeStale:
      return "serve_stale";
    case Verdict::kServeStaleRevalidating:
      return "serve_stale_revalidating";
    case Verdict::kRevalidate:
      return "revalidate";
    case Verdict::kFetch:
      return "fetch";
    case Verdict::kGatewayTimeout:
      return "gateway_timeout";
  }
  return "unknown";
}

Decision decide(const StoredResponse& entry, const RequestHead& request, HttpTime now,
                const CachingOptions& options) {
  const CacheControl wanted = parse_cache_control(request);
  const CacheControl given = parse_cache_control(entry.head);
  Decision out;
  out.age = current_age(entry, now);
  out.lifetime = freshness_lifetime(entry.head, entry.response_time, options).value;
  out.reason = reason_to_validate(out, request, wanted, given, options, out.client_reload);
  const Seconds staleness = out.age - out.lifetime;
  const bool fresh = staleness < Seconds(0);
  const bool stale_allowed = out.reason.empty() && !forbids_stale(given);
  const bool stale_wanted = wanted.max_stale && staleness <= *wanted.max_stale;
  if (out.reason.empty() && fresh) {
    out.verdict = Verdict::kServeFresh;
    out.reason = "fresh";
    return out;
  }
  if (stale_allowed && stale_wanted) {
    out.verdict = Verdict::kServeStale;
    out.reason = "client_max_stale";
    return out;
  }
  if (stale_allowed && given.stale_while_revalidate && staleness < *given.stale_while_revalidate &&
      !wanted.only_if_cached) {
    out.verdict = Verdict::kServeStaleRevalidating;
    out.reason = "stale_while_revalidate";
    return out;
  }
  if (out.reason.empty()) out.reason = "expired";
  if (wanted.only_if_cached) {
    out.verdict = Verdict::kGatewayTimeout;
  } else {
    out.verdict = has_validator(entry.head) ? Verdict::kRevalidate : Verdict::kFetch;
  }
  return out;
}

Decision decide_without_entry(const RequestHead& request) {
  const CacheControl wanted = parse_cache_control(request);
  Decision out;
  out.verdict = wanted.only_if_cached ? Verdict::kGatewayTimeout : Verdict::kFetch;
  out.reason = "not_stored";
  return out;
}

bool may_serve_on_error(const StoredResponse& entry, const RequestHead& request, HttpTime now,
                        const CachingOptions& options) {
  const CacheControl wanted = parse_cache_control(request);
  const CacheControl given = parse_cache_control(entry.head);
  if (forbids_stale(given) || asks_no_cache(request, wanted)) return false;
  const Seconds lifetime = freshness_lifetime(entry.head, entry.response_time, options).value;
  const Seconds staleness = current_age(entry, now) - lifetime;
  if (staleness < Seconds(0)) return true;
  Seconds allowed = given.stale_if_error.value_or(options.stale_if_error_default);
  if (wanted.stale_if_error) allowed = std::max(allowed, *wanted.stale_if_error);
  return staleness < allowed;
}

bool is_origin_failure(unsigned status) {
  return status == 500 || status == 502 || status == 503 || status == 504;
}

bool may_look_up(const RequestHead& request) {
  const bool method = request.method() == http::verb::get || request.method() == http::verb::head;
  return method && request.count(http::field::if_match) == 0 &&
         request.count(http::field::if_unmodified_since) == 0;
}

bool may_share_fetch(const RequestHead& request) {
  if (request.method() != http::verb::get || !may_look_up(request)) return false;
  for (http::field field :
       {http::field::authorization, http::field::range, http::field::transfer_encoding}) {
    if (request.count(field) > 0) return false;
  }
  const auto length = request.find(http::field::content_length);
  if (length != request.end() && length->value() != "0") return false;
  const CacheControl wanted = parse_cache_control(request);
  return !asks_no_cache(request, wanted) && !wanted.no_store && !wanted.only_if_cached &&
         wanted.max_age != Seconds(0);
}

std::vector<std::string> keys_to_invalidate(const RequestHead& request, const RequestTarget& target,
                                            const ResponseHead& response) {
  std::vector<std::string> keys;
  const unsigned status = response.result_int();
  if (is_safe(request.method()) || target.scheme.empty() || status < 200 || status > 399) {
    return keys;
  }
  keys.push_back(cache_key(target));
  const std::string base_text = target.url();
  const auto base = boost::urls::parse_uri(base_text);
  if (!base) return keys;
  for (http::field field : {http::field::location, http::field::content_location}) {
    const auto reference = boost::urls::parse_uri_reference(response[field]);
    boost::urls::url resolved;
    if (response[field].empty() || !reference) continue;
    if (boost::urls::resolve(*base, *reference, resolved).has_error()) continue;
    RequestHead named;
    named.method(http::verb::get);
    const std::string text(resolved.buffer());
    named.target(text);
    const auto other = parse_request_target(named);
    if (!other || other->host != target.host || other->port != target.port) continue;
    std::string key = cache_key(*other);
    if (!contains(keys, key)) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace proxy
