#include "proxy/proxy_counters.h"

#include <algorithm>
#include <string>

namespace proxy {

void ProxyCounters::count_request(const AccessRecord& record) {
  ++requests_by_tag[static_cast<size_t>(record.tag)];
  ++responses_by_class[std::min<unsigned>(record.status / 100, 5)];
  if (record.aborted) ++aborted;
  sent_bytes += record.sent_bytes;
}

void ProxyCounters::visit(storage::CounterVisitor& visitor) const {
  visitor.counter("connections_accepted_total", "", connections_accepted);
  visitor.counter("connections_refused_total", "", connections_refused);
  visitor.counter("accept_errors_total", "", accept_errors);
  visitor.gauge("connections_open", "", static_cast<double>(connections_open));
  visitor.gauge("requests_in_progress", "", static_cast<double>(requests_in_progress));
  visitor.counter("sent_bytes_total", "", sent_bytes);
  visitor.counter("responses_aborted_total", "", aborted);
  visitor.counter("retries_total", "", retries);
  visitor.counter("fills_started_total", "", fills_started);
  visitor.counter("fills_stored_total", "", fills_stored);
  visitor.counter("fills_failed_total", "", fills_failed);
  visitor.counter("fills_abandoned_total", "", fills_abandoned);
  visitor.counter("fills_joined_total", "", fills_joined);
  visitor.counter("fills_refused_total", "", fills_refused);
  visitor.counter("fill_bytes_total", "", fill_bytes);
  visitor.counter("stores_declined_total", "", stores_declined);
  visitor.counter("store_failures_total", "", store_failures);
  visitor.counter("damaged_records_total", "", damaged_records);
  visitor.counter("invalidations_total", "", invalidations);
  uint64_t hits = 0;
  uint64_t all = 0;
  for (size_t index = 0; index < requests_by_tag.size(); ++index) {
    const auto tag = static_cast<LogTag>(index);
    const std::string label = "tag=\"" + std::string(name_of(tag)) + "\"";
    visitor.counter("requests_total", label, requests_by_tag[index]);
    all += requests_by_tag[index];
    if (is_hit(tag)) hits += requests_by_tag[index];
  }
  visitor.counter("hits_total", "", hits);
  visitor.counter("requests_all_total", "", all);
  for (size_t first_digit = 1; first_digit < responses_by_class.size(); ++first_digit) {
    const std::string label = "status=\"" + std::to_string(first_digit) + "xx\"";
    visitor.counter("responses_total", label, responses_by_class[first_digit]);
  }
}

}  // namespace proxy
