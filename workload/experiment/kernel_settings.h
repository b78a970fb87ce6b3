// Settings of the kernel that matter for servers and for what they write.
#pragma once

#include <boost/json/object.hpp>

namespace workload {

/// Limits and queues of TCP, files and write-back, by the names that sysctl has for them; a setting
/// that this kernel does not have is left out. Empty where the build reads none.
boost::json::object kernel_settings();

}  // namespace workload
