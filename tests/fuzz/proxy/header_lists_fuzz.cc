#include <algorithm>
#include <string>

#include "proxy/cache_control.h"
#include "proxy/conditional.h"
#include "proxy/forwarding.h"
#include "proxy/header_lists.h"
#include "proxy/vary.h"
#include "tests/fuzz/proxy/targets.h"
#include "tests/support/http_heads.h"

namespace testing_support {
namespace {

using proxy::Seconds;

constexpr size_t kValueLengthMax = 60000;  // Beast keeps field sizes in 16 bits.

void check_seconds(const std::optional<Seconds>& value) {
  require(!value || (*value >= Seconds(0) && *value <= proxy::kDeltaSecondsMax),
          "delta-seconds are in range");
}

void check_cache_control(std::string_view value) {
  const auto head = response_head(200, {{"Cache-Control", value}});
  const auto once = proxy::parse_cache_control(head);
  for (const auto& seconds : {once.max_age, once.s_maxage, once.min_fresh, once.max_stale,
                              once.stale_while_revalidate, once.stale_if_error}) {
    check_seconds(seconds);
  }
  // The same line again adds no new permission.
  auto doubled = head;
  doubled.insert("Cache-Control", value);
  const auto twice = proxy::parse_cache_control(doubled);
  require(once.no_store == twice.no_store && once.no_cache == twice.no_cache &&
              once.is_private == twice.is_private && once.max_age == twice.max_age &&
              once.s_maxage == twice.s_maxage,
          "a repeated line changes nothing");
  // A further no-store always counts, unless a quoted string swallows it in the same line.
  auto forbidden = head;
  forbidden.insert("Cache-Control", "no-store");
  require(proxy::parse_cache_control(forbidden).no_store, "no-store in its own line counts");
}

void run(std::string_view input) {
  const std::string_view value = input.substr(0, kValueLengthMax);
  for (std::string_view element : proxy::split_list(value)) {
    require(!element.empty(), "no empty elements");
    require(proxy::trim_blanks(element) == element, "elements are trimmed");
    require(element.data() >= value.data() &&
                element.data() + element.size() <= value.data() + value.size(),
            "elements are views of the value");
  }
  if (const auto text = proxy::unquote(value)) {
    require(text->size() <= value.size(), "unquoting never grows");
  }
  if (const auto tag = proxy::parse_entity_tag(value)) {
    require(proxy::weak_match(*tag, *tag), "a tag matches itself");
    require(proxy::strong_match(*tag, *tag) == !tag->weak, "a strong tag matches itself strongly");
  }
  check_seconds(proxy::parse_delta_seconds(value));
  check_cache_control(value);
  auto response = response_head(200, {{"Vary", value}, {"Connection", value}, {"X-A", "1"}});
  if (const auto names = proxy::vary_names(response)) {
    require(std::is_sorted(names->begin(), names->end()), "names are sorted");
  }
  response.insert("Cache-Control", "no-store");
  proxy::remove_hop_by_hop(response);
  require(response.count("Connection") == 0, "Connection is removed");
  require(response.count("Cache-Control") == 1, "Cache-Control cannot be removed");
  proxy::is_forwarding_loop(get_head({{"Via", value}}), "cacheoff");
}

}  // namespace

FuzzTarget header_lists_target() {
  return {"header_lists",
          run,
          {"public, max-age=60, s-maxage=\"120\"", "no-cache=\"Set-Cookie, X-A\", private=X-B",
           "max-stale, min-fresh=99999999999999999999, stale-if-error=5", "W/\"a\", \"b\\\"c\"",
           "close, X-Hop, Cache-Control", "1.0 fred, 1.1 cacheoff (x, \\)y)", "Accept, *"}};
}

}  // namespace testing_support
