// The set-up functions of all systems, for the registry and for tests.
#pragma once

#include "workload/system/adapter.h"

namespace workload {

/// Our own proxy: only a command; it makes its stores itself.
SystemSetup set_up_own_proxy(const SystemRun& run);
/// Squid: the part of the scheme behind the colon is the type of its cache_dir, or `memory`.
SystemSetup set_up_squid(const SystemRun& run);
/// nginx's proxy_cache.
SystemSetup set_up_nginx(const SystemRun& run);
/// Varnish: the part of the scheme behind the colon is the storage, `malloc` or `file`.
SystemSetup set_up_varnish(const SystemRun& run);
/// Apache Traffic Server.
SystemSetup set_up_trafficserver(const SystemRun& run);

/// nginx with the files of a folder.
SystemSetup set_up_static_nginx(const SystemRun& run);
/// lighttpd with the files of a folder.
SystemSetup set_up_static_lighttpd(const SystemRun& run);
/// Our own `cacheoff origin --root`.
SystemSetup set_up_static_origin(const SystemRun& run);

}  // namespace workload
