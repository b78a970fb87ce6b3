// What a system is configured to in the end: what was written for it and what it takes by itself,
// so that two that say it differently can be seen to be the same.
#pragma once

#include <boost/json/array.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace workload {

/// A setting as the system has it.
struct ConfigurationLine {
  std::string place;    ///< Section of the configuration or file: `events`; may be empty.
  std::string name;     ///< `use`.
  std::string value;    ///< In one form for all that mean the same: `75000ms`.
  std::string written;  ///< As it was written, `75s`; empty for a default that was filled in.
  bool said = false;    ///< The system said it itself when it ran.
};

/// Where a place has a name several times, the lines are in an order that means nothing.
using EffectiveConfiguration = std::vector<ConfigurationLine>;

/// Sorted by place, name and value.
void sort_configuration(EffectiveConfiguration& configuration);

/// Why two are the same: what one says and the other takes by itself, such as "`use epoll` is the
/// default here"; empty where both are written alike. Nothing where they are not the same.
std::optional<std::string> why_same(const EffectiveConfiguration& first,
                                    const EffectiveConfiguration& second);

/// Leaves only the settings in which any of them differs from another, in value or in writing.
void keep_differences(const std::vector<EffectiveConfiguration*>& configurations);

/// Replaces settings, by `PLACE.NAME`, by what the system said of them when it ran.
void apply_said(EffectiveConfiguration& configuration,
                const std::map<std::string, std::string>& said);

/// A list of `{place,name,value,written}`, and back; what is no such line is left out.
boost::json::array configuration_to_json(const EffectiveConfiguration& configuration);
EffectiveConfiguration configuration_from_json(const boost::json::array& lines);

}  // namespace workload
