#include "proxy/cache_control.h"

#include <algorithm>

#include "proxy/header_lists.h"

namespace proxy {
namespace {

/// One directive: its name in lower case, and its argument where it has one.
struct Directive {
  std::string name;
  std::optional<std::string_view> argument;
};

Directive split_directive(std::string_view element) {
  const size_t equals = element.find('=');
  if (equals == std::string_view::npos) return {to_lower(element), std::nullopt};
  // Blanks round the sign are not allowed. The name still counts; the argument keeps its blank and
  // is invalid, which is the careful reading.
  std::string_view name = element.substr(0, equals);
  std::string_view argument = element.substr(equals + 1);
  if (!name.empty() && trim_blanks(name).size() != name.size()) argument = std::string_view();
  return {to_lower(trim_blanks(name)), argument};
}

void keep_smaller(std::optional<Seconds>& slot, Seconds value) {
  slot = slot ? std::min(*slot, value) : value;
}

void keep_larger(std::optional<Seconds>& slot, Seconds value) {
  slot = slot ? std::max(*slot, value) : value;
}

std::optional<Seconds> seconds_of(const Directive& directive) {
  return directive.argument ? parse_delta_seconds(*directive.argument) : std::nullopt;
}

/// For no-cache and private: with a list of names they concern those fields only. An argument that
/// cannot be read counts as none, which concerns the whole response.
void take_field_names(const Directive& directive, bool& whole, std::vector<std::string>& names) {
  const auto text = directive.argument ? unquote(*directive.argument) : std::nullopt;
  if (!text) {
    whole = true;
    return;
  }
  const auto elements = split_list(*text);
  if (elements.empty() || !std::all_of(elements.begin(), elements.end(), is_token)) {
    whole = true;
    return;
  }
  for (std::string_view element : elements) names.push_back(to_lower(element));
}

bool take_lifetime(const Directive& directive, CacheControl& out) {
  const Seconds value = seconds_of(directive).value_or(Seconds(0));
  if (directive.name == "max-age") {
    keep_smaller(out.max_age, value);
  } else if (directive.name == "s-maxage") {
    keep_smaller(out.s_maxage, value);
  } else if (directive.name == "stale-while-revalidate") {
    keep_smaller(out.stale_while_revalidate, value);
  } else if (directive.name == "stale-if-error") {
    keep_smaller(out.stale_if_error, value);
  } else if (directive.name == "min-fresh") {
    keep_larger(out.min_fresh, seconds_of(directive).value_or(kDeltaSecondsMax));
  } else if (directive.name == "max-stale") {
    keep_smaller(out.max_stale, directive.argument ? value : kDeltaSecondsMax);
  } else {
    return false;
  }
  return true;
}

void take_directive(const Directive& directive, CacheControl& out) {
  if (take_lifetime(directive, out)) return;
  const std::string& name = directive.name;
  if (name == "no-store") {
    out.no_store = true;
  } else if (name == "no-cache") {
    take_field_names(directive, out.no_cache, out.no_cache_fields);
  } else if (name == "private") {
    take_field_names(directive, out.is_private, out.private_fields);
  } else if (name == "public") {
    out.is_public = true;
  } else if (name == "must-revalidate") {
    out.must_revalidate = true;
  } else if (name == "proxy-revalidate") {
    out.proxy_revalidate = true;
  } else if (name == "must-understand") {
    out.must_understand = true;
  } else if (name == "only-if-cached") {
    out.only_if_cached = true;
  }
}

}  // namespace

std::optional<Seconds> parse_delta_seconds(std::string_view text) {
  std::string_view digits = text;
  if (digits.size() >= 2 && digits.front() == '"' && digits.back() == '"') {
    digits = digits.substr(1, digits.size() - 2);
  }
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto value = parse_digits(digits);
  const auto limit = static_cast<uint64_t>(kDeltaSecondsMax.count());
  if (!value || *value > limit) return kDeltaSecondsMax;
  return Seconds(static_cast<int64_t>(*value));
}

CacheControl parse_cache_control(const Fields& fields) {
  CacheControl out;
  out.present = line_count(fields, "Cache-Control") > 0;
  for (std::string_view element : list_elements(fields, "Cache-Control")) {
    take_directive(split_directive(element), out);
  }
  return out;
}

}  // namespace proxy
