#include "workload/client/request_log.h"

#include <array>
#include <cinttypes>
#include <cstdio>

namespace workload {

RequestLog::RequestLog(const std::filesystem::path& file)
    : out_(file, std::ios::binary | std::ios::trunc) {
  out_ << "# transaction start_s method kind outcome status received_bytes response_time_ns error "
          "measured url sequence due_s phase\n";
}

void RequestLog::write(const RequestLogEntry& entry) {
  std::array<char, 64> numbers{};
  std::snprintf(numbers.data(), numbers.size(), "%016" PRIx64 " %.6f ", entry.transaction,
                entry.start_s);
  std::array<char, 64> order{};
  std::snprintf(order.data(), order.size(), " %" PRIu64 " %.6f ", entry.sequence, entry.due_s);
  const std::lock_guard lock(mutex_);
  out_ << numbers.data() << entry.method << ' ' << entry.kind << ' ' << entry.outcome << ' '
       << entry.status << ' ' << entry.received_bytes << ' ' << entry.response_time_ns << ' '
       << entry.error << ' ' << (entry.measured ? 1 : 0) << ' ' << entry.url << order.data()
       << entry.phase << '\n';
}

bool RequestLog::close() {
  const std::lock_guard lock(mutex_);
  out_.close();
  return !out_.fail();
}

}  // namespace workload
