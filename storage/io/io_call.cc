#include "storage/io/io_call.h"

#include <cerrno>
#include <span>
#include <utility>

namespace storage {

IoCall::~IoCall() {
  if (opened_fd >= 0) (void)close_file(opened_fd);
}

CallOutcome perform(const IoCall& call) {
  switch (call.kind) {
    case IoKind::kOpen:
      return open_file(call.fd, call.path.c_str(), call.mode);
    case IoKind::kRead:
      return read_file(call.fd, call.offset_bytes, std::span(call.data, call.size_bytes),
                       call.alignment_bytes);
    case IoKind::kWrite:
      return write_file(call.fd, call.offset_bytes, std::span(call.data, call.size_bytes));
    case IoKind::kStat:
      return call.of_space ? allocated_to_file(call.fd) : size_of_file(call.fd);
    case IoKind::kSync:
      return sync_file(call.fd);
    case IoKind::kClose:
      return close_file(call.fd);
    case IoKind::kRename:
      return rename_file(call.fd, call.path.c_str(), call.new_path.c_str());
    case IoKind::kUnlink:
      return unlink_file(call.fd, call.path.c_str());
  }
  return CallOutcome(EINVAL, 0);
}

std::unique_ptr<CallWaiter> end_call(IoCall& call, const CallOutcome& outcome) {
  if (call.kind == IoKind::kOpen && outcome.system_errno == 0) {
    call.opened_fd = static_cast<int>(outcome.value);
  }
  return std::move(call.waiter);
}

}  // namespace storage
