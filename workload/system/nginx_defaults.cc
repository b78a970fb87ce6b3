#include "workload/system/nginx_defaults.h"

namespace workload {
namespace {

constexpr auto kMain = NginxContext::kMain;
constexpr auto kEvents = NginxContext::kEvents;
constexpr auto kHttp = NginxContext::kHttp;
constexpr auto kUpstream = NginxContext::kUpstream;
constexpr auto kText = NginxKind::kText;
constexpr auto kSize = NginxKind::kSize;
constexpr auto kTime = NginxKind::kTime;

constexpr NginxDefault kNginxDefaults[] = {
    {kMain, "worker_processes", kText, "1"},
    {kMain, "worker_priority", kText, "0"},
    {kMain, "pcre_jit", kText, "off"},
    {kEvents, "worker_connections", kText, "512"},
    {kEvents, "multi_accept", kText, "off"},
    {kEvents, "accept_mutex", kText, "off"},
    {kEvents, "accept_mutex_delay", kTime, "500ms"},
    {kEvents, "worker_aio_requests", kText, "32"},
    {kHttp, "access_log", kText, "logs/access.log combined"},
    {kHttp, "sendfile", kText, "off"},
    {kHttp, "sendfile_max_chunk", kSize, "2m"},
    {kHttp, "tcp_nopush", kText, "off"},
    {kHttp, "tcp_nodelay", kText, "on"},
    {kHttp, "keepalive_timeout", kTime, "75s"},
    {kHttp, "keepalive_requests", kText, "1000"},
    {kHttp, "keepalive_time", kTime, "1h"},
    {kHttp, "keepalive_disable", kText, "msie6"},
    {kHttp, "lingering_close", kText, "on"},
    {kHttp, "lingering_time", kTime, "30s"},
    {kHttp, "lingering_timeout", kTime, "5s"},
    {kHttp, "reset_timedout_connection", kText, "off"},
    {kHttp, "send_timeout", kTime, "60s"},
    {kHttp, "client_header_timeout", kTime, "60s"},
    {kHttp, "client_body_timeout", kTime, "60s"},
    {kHttp, "client_header_buffer_size", kSize, "1k"},
    {kHttp, "large_client_header_buffers", kSize, "4 8k"},
    {kHttp, "client_max_body_size", kSize, "1m"},
    {kHttp, "client_body_in_file_only", kText, "off"},
    {kHttp, "client_body_in_single_buffer", kText, "off"},
    {kHttp, "request_pool_size", kSize, "4k"},
    {kHttp, "output_buffers", kSize, "2 32k"},
    {kHttp, "postpone_output", kSize, "1460"},
    {kHttp, "limit_rate", kSize, "0"},
    {kHttp, "limit_rate_after", kSize, "0"},
    {kHttp, "read_ahead", kSize, "0"},
    {kHttp, "aio", kText, "off"},
    {kHttp, "aio_write", kText, "off"},
    {kHttp, "directio", kSize, "off"},
    {kHttp, "directio_alignment", kSize, "512"},
    {kHttp, "disable_symlinks", kText, "off"},
    {kHttp, "open_file_cache", kText, "off"},
    {kHttp, "open_file_cache_errors", kText, "off"},
    {kHttp, "open_file_cache_min_uses", kText, "1"},
    {kHttp, "open_file_cache_valid", kTime, "60s"},
    {kHttp, "open_log_file_cache", kText, "off"},
    {kHttp, "chunked_transfer_encoding", kText, "on"},
    {kHttp, "default_type", kText, "text/plain"},
    {kHttp, "etag", kText, "on"},
    {kHttp, "if_modified_since", kText, "exact"},
    {kHttp, "ignore_invalid_headers", kText, "on"},
    {kHttp, "log_not_found", kText, "on"},
    {kHttp, "log_subrequest", kText, "off"},
    {kHttp, "merge_slashes", kText, "on"},
    {kHttp, "msie_padding", kText, "on"},
    {kHttp, "msie_refresh", kText, "off"},
    {kHttp, "server_tokens", kText, "on"},
    {kHttp, "underscores_in_headers", kText, "off"},
    {kHttp, "gzip", kText, "off"},
    {kHttp, "gzip_comp_level", kText, "1"},
    {kHttp, "gzip_http_version", kText, "1.1"},
    {kHttp, "gzip_min_length", kSize, "20"},
    {kHttp, "gzip_proxied", kText, "off"},
    {kHttp, "gzip_types", kText, "text/html"},
    {kHttp, "gzip_vary", kText, "off"},
    {kHttp, "gzip_static", kText, "off"},
    {kHttp, "autoindex", kText, "off"},
    {kHttp, "index", kText, "index.html"},
    {kHttp, "proxy_buffering", kText, "on"},
    {kHttp, "proxy_request_buffering", kText, "on"},
    {kHttp, "proxy_connect_timeout", kTime, "60s"},
    {kHttp, "proxy_read_timeout", kTime, "60s"},
    {kHttp, "proxy_send_timeout", kTime, "60s"},
    {kHttp, "proxy_socket_keepalive", kText, "off"},
    {kHttp, "proxy_ignore_client_abort", kText, "off"},
    {kHttp, "proxy_intercept_errors", kText, "off"},
    {kHttp, "proxy_force_ranges", kText, "off"},
    {kHttp, "proxy_limit_rate", kSize, "0"},
    {kHttp, "proxy_max_temp_file_size", kSize, "1024m"},
    {kHttp, "proxy_next_upstream", kText, "error timeout"},
    {kHttp, "proxy_next_upstream_tries", kText, "0"},
    {kHttp, "proxy_cache_background_update", kText, "off"},
    {kHttp, "proxy_cache_convert_head", kText, "on"},
    {kHttp, "proxy_cache_lock", kText, "off"},
    {kHttp, "proxy_cache_lock_age", kTime, "5s"},
    {kHttp, "proxy_cache_lock_timeout", kTime, "5s"},
    {kHttp, "proxy_cache_methods", kText, "GET HEAD"},
    {kHttp, "proxy_cache_min_uses", kText, "1"},
    {kHttp, "proxy_cache_revalidate", kText, "off"},
    {kHttp, "proxy_cache_use_stale", kText, "off"},
    {kUpstream, "keepalive_requests", kText, "1000"},
    {kUpstream, "keepalive_time", kTime, "1h"},
    {kUpstream, "keepalive_timeout", kTime, "60s"},
};

}  // namespace

std::span<const NginxDefault> nginx_defaults() {
  return kNginxDefaults;
}

}  // namespace workload
