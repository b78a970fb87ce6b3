#include "workload/experiment/variation_check.h"

#include <algorithm>
#include <set>

#include "workload/experiment/program_commands.h"
#include "workload/experiment/webproxy_run.h"
#include "workload/system/registry.h"

namespace workload {
namespace {

/// An option of a variation, wherever it stands.
struct NamedOption {
  std::string table;  ///< `vary.nginx`, `variant 'tuned'`.
  std::string of;
  std::string option;
  std::vector<std::string> values;
};

std::vector<NamedOption> all_options(const OptionVariation& variation) {
  std::vector<NamedOption> all;
  for (const auto& varied : variation.options) {
    all.push_back({"vary." + varied.of, varied.of, varied.option, varied.values});
  }
  for (const auto& named : variation.variants) {
    for (const auto& [option, value] : named.options) {
      all.push_back({"variant '" + named.name + "', options", named.of, option, {value}});
    }
  }
  return all;
}

std::string names_of_systems() {
  std::string names = "proxy, scheme";
  std::set<std::string_view> known;
  for (const auto& kind : other_systems()) {
    if (known.insert(kind.system).second) names += ", " + std::string(kind.system);
  }
  return names;
}

const SystemKind* find_system(const std::string& name) {
  const auto all = other_systems();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const SystemKind& kind) { return kind.system == name; });
  return found == all.end() ? nullptr : &*found;
}

Expected<void> check_scheme_option(const NamedOption& named, const ExperimentOptions& options) {
  const auto& schemes = options.schemes;
  if (std::find(schemes.begin(), schemes.end(), named.option) == schemes.end()) {
    return usage_problem(named.table + "." + named.option +
                         ": the experiment has no scheme of that name");
  }
  for (const auto& value : named.values) {
    if (!value.empty() && value.find_first_of("\r\n") == std::string::npos) continue;
    return usage_problem(named.table + "." + named.option +
                         ": must be what stands behind path and size, such as \"l1=16,l2=64\"");
  }
  return {};
}

Expected<void> check_proxy_option(const NamedOption& named,
                                  const std::vector<ProxyOptionRow>& proxy_options) {
  const std::string where = named.table + "." + named.option;
  if (!is_proxy_option_free(named.option)) return usage_problem(where + ": the bench sets it");
  const bool known =
      std::any_of(proxy_options.begin(), proxy_options.end(),
                  [&](const ProxyOptionRow& row) { return row.name == named.option; });
  if (!known) return usage_problem(where + ": cacheoff-proxy has no such option");
  for (const auto& value : named.values) {
    if (value.empty()) return usage_problem(where + ": must not be empty");
  }
  return {};
}

Expected<void> check_one(const NamedOption& named, const ExperimentOptions& options,
                         const std::vector<ProxyOptionRow>& proxy_options) {
  if (named.of == kVariesScheme) return check_scheme_option(named, options);
  if (named.of == kVariesProxy) {
    if (auto checked = check_proxy_option(named, proxy_options); !checked) return checked;
  } else {
    const auto* kind = find_system(named.of);
    if (kind == nullptr) {
      return usage_problem(named.table + ": no such system: '" + named.of + "'; there are " +
                           names_of_systems());
    }
    for (const auto& value : named.values) {
      const std::string fault = fault_of_option(*kind, named.option, value);
      if (!fault.empty()) return usage_problem(named.table + "." + named.option + ": " + fault);
    }
  }
  const bool is_run =
      std::any_of(options.schemes.begin(), options.schemes.end(), [&](const std::string& scheme) {
        return !is_webproxy(scheme) && system_in_variation(scheme) == named.of;
      });
  if (is_run) return {};
  return usage_problem(named.table + ": the experiment has no scheme of " + named.of);
}

}  // namespace

Expected<void> check_variation(const ExperimentOptions& options,
                               const std::vector<ProxyOptionRow>& proxy_options) {
  const OptionVariation& variation = options.variation;
  for (const auto& named : all_options(variation)) {
    if (auto checked = check_one(named, options, proxy_options); !checked) return checked;
  }
  for (const auto& scheme : options.schemes) {
    const std::string of = system_in_variation(scheme);
    const uint64_t count = count_variants(variation, of, scheme);
    if (count > kVariantsMax) {
      return usage_problem("vary." + of + ": more than " + std::to_string(kVariantsMax) +
                           " variants of " + scheme + "; vary fewer options at a time");
    }
    std::set<std::string> names;
    for (const auto& variant : variants_of(variation, of, scheme)) {
      if (names.insert(variant.name).second) continue;
      return usage_problem("variant '" + variant.name + "': two variants of " + scheme +
                           " have that name");
    }
  }
  return {};
}

}  // namespace workload
