// What the proxy's store did during a run, taken from its metrics page.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace workload {

/// The samples of a page in Prometheus' text format: the whole name with its labels, and the value.
/// Comments and lines that are no sample are left out.
std::map<std::string, double, std::less<>> parse_metrics(std::string_view page);

/// The `storage` object of a run, keys as in docs/experiments.md; null members where the page does
/// not say. Nothing where the page holds no counters of a store, as with other proxies.
std::optional<boost::json::object> account_storage(std::string_view page);

}  // namespace workload
