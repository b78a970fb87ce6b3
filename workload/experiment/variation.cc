#include "workload/experiment/variation.h"

#include <algorithm>
#include <limits>

#include "workload/report/json_text.h"

namespace workload {
namespace {

/// Whether the option is one of cells of that scheme.
bool concerns(const VariedOption& varied, std::string_view of, std::string_view scheme) {
  if (varied.of == kVariesScheme) return varied.option == scheme;
  return varied.of == of;
}

std::vector<const VariedOption*> options_for(const OptionVariation& variation, std::string_view of,
                                             std::string_view scheme) {
  std::vector<const VariedOption*> found;
  for (const auto& varied : variation.options) {
    if (concerns(varied, of, scheme)) found.push_back(&varied);
  }
  return found;
}

bool concerns(const NamedVariant& named, std::string_view of, std::string_view scheme) {
  if (named.of == kVariesScheme) return named.options.contains(std::string(scheme));
  return named.of == of;
}

/// Adds a value of an option to what a variant has.
void add_value(CellVariant& variant, const VariedOption& varied, const std::string& value) {
  if (!variant.name.empty()) variant.name += ", ";
  if (varied.of == kVariesScheme) {
    variant.name += value;
    variant.scheme_options = value;
    return;
  }
  variant.name += value.empty() ? varied.option + " removed" : varied.option + "=" + value;
  variant.options[varied.option] = value;
}

/// Every choice of a value, or none, for each of the options, but that of none at all.
std::vector<CellVariant> crossed_variants(const std::vector<const VariedOption*>& options) {
  std::vector<CellVariant> all{CellVariant{}};
  for (const auto* varied : options) {
    std::vector<CellVariant> longer;
    for (const auto& variant : all) {
      longer.push_back(variant);
      for (const auto& value : varied->values) {
        longer.push_back(variant);
        add_value(longer.back(), *varied, value);
      }
    }
    all = std::move(longer);
  }
  all.erase(all.begin());
  return all;
}

boost::json::object texts_to_object(const std::map<std::string, std::string>& texts) {
  boost::json::object out;
  for (const auto& [name, text] : texts) out[name] = text;
  return out;
}

}  // namespace

uint64_t count_variants(const OptionVariation& variation, std::string_view of,
                        std::string_view scheme) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  uint64_t count = 0;
  uint64_t combinations = 1;
  for (const auto* varied : options_for(variation, of, scheme)) {
    const uint64_t values = varied->values.size();
    count += values;
    combinations = combinations > kMost / (values + 1) ? kMost : combinations * (values + 1);
  }
  if (variation.crossed) count = combinations - 1;
  const auto named = static_cast<uint64_t>(
      std::count_if(variation.variants.begin(), variation.variants.end(),
                    [&](const NamedVariant& one) { return concerns(one, of, scheme); }));
  return count > kMost - named ? kMost : count + named;
}

std::vector<CellVariant> variants_of(const OptionVariation& variation, std::string_view of,
                                     std::string_view scheme) {
  std::vector<CellVariant> all;
  const auto options = options_for(variation, of, scheme);
  if (variation.crossed) {
    all = crossed_variants(options);
  } else {
    for (const auto* varied : options) {
      for (const auto& value : varied->values) add_value(all.emplace_back(), *varied, value);
    }
  }
  for (const auto& named : variation.variants) {
    if (!concerns(named, of, scheme)) continue;
    CellVariant variant{named.name, {}, {}};
    if (named.of == kVariesScheme) {
      variant.scheme_options = named.options.at(std::string(scheme));
    } else {
      variant.options = named.options;
    }
    all.push_back(std::move(variant));
  }
  return all;
}

boost::json::object varied_options_to_json(const OptionVariation& variation) {
  boost::json::object out;
  for (const auto& varied : variation.options) {
    boost::json::array values;
    for (const auto& value : varied.values) values.emplace_back(value);
    auto& of = out[varied.of];
    if (!of.is_object()) of = boost::json::object();
    of.get_object()[varied.option] = std::move(values);
  }
  return out;
}

boost::json::array named_variants_to_json(const OptionVariation& variation) {
  boost::json::array out;
  for (const auto& named : variation.variants) {
    out.push_back(
        {{"name", named.name}, {"system", named.of}, {"options", texts_to_object(named.options)}});
  }
  return out;
}

Expected<void> read_varied_options(OptionVariation& variation, const boost::json::value& vary) {
  const auto* tables = vary.if_object();
  if (tables == nullptr) return run_problem("experiment.vary must be an object");
  for (const auto& table : *tables) {
    const auto* options = table.value().if_object();
    if (options == nullptr) return run_problem("experiment.vary must hold objects");
    for (const auto& option : *options) {
      const auto* list = option.value().if_array();
      VariedOption varied{table.key(), option.key(), {}};
      for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
        if ((*list)[i].is_string()) varied.values.emplace_back((*list)[i].get_string());
      }
      if (list == nullptr || list->empty() || varied.values.size() != list->size()) {
        return run_problem("experiment.vary." + varied.of + "." + varied.option +
                           " must be a list of texts");
      }
      variation.options.push_back(std::move(varied));
    }
  }
  return {};
}

Expected<void> read_named_variants(OptionVariation& variation, const boost::json::value& variants) {
  const auto* list = variants.if_array();
  if (list == nullptr) return run_problem("experiment.variant must be a list");
  for (const auto& row : *list) {
    const auto* fields = row.if_object();
    const auto* options = fields == nullptr ? nullptr : find_json(*fields, "options");
    if (options == nullptr || !options->is_object()) {
      return run_problem("experiment.variant must hold objects with options");
    }
    NamedVariant named{text_at(*fields, "name"), text_at(*fields, "system"), {}};
    for (const auto& option : options->get_object()) {
      if (!option.value().is_string()) {
        return run_problem("experiment.variant: options must be texts");
      }
      named.options[option.key()] = std::string(option.value().get_string());
    }
    variation.variants.push_back(std::move(named));
  }
  return {};
}

}  // namespace workload
