#include "workload/origin/access_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "workload/model/http_date.h"
#include "workload/origin/response_head.h"

namespace workload {
namespace {

constexpr size_t kBufferBytes = 65536;

void add_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view kHexDigits = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte < 0x7f && c != '"' && c != '\\') {
      out += c;
      continue;
    }
    out += "\\x";
    out += kHexDigits[byte >> 4];
    out += kHexDigits[byte & 15];
  }
}

/// `06/Nov/1994:08:49:37 +0000` out of `Sun, 06 Nov 1994 08:49:37 GMT`.
void add_log_time(std::string& out, int64_t unix_s) {
  const HttpDate date(unix_s);
  const auto text = date.text();
  out.append(text.substr(5, 2)).append("/").append(text.substr(8, 3)).append("/");
  out.append(text.substr(12, 4)).append(":").append(text.substr(17, 8)).append(" +0000");
}

}  // namespace

void append_access_log_line(const AccessLogEntry& entry, std::string& out) {
  out.append(entry.client_address.empty() ? "-" : entry.client_address).append(" - - [");
  add_log_time(out, entry.unix_s);
  out += "] \"";
  if (entry.method.empty()) {
    out += '-';
  } else {
    add_escaped(out, entry.method);
    out += ' ';
    add_escaped(out, entry.target);
    out += entry.http_1_1 ? " HTTP/1.1" : " HTTP/1.0";
  }
  out += "\" ";
  add_number(out, entry.status);
  out += ' ';
  add_number(out, entry.body_bytes);
  out += '\n';
}

storage::Result<std::shared_ptr<const OwnedFd>> open_access_log(const std::string& path) {
  OwnedFd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0640));
  if (file.get() < 0) return storage::Error(storage::Errc::kIo, errno);
  return std::make_shared<const OwnedFd>(std::move(file));
}

void OriginAccessLog::add(const AccessLogEntry& entry) {
  append_access_log_line(entry, lines_);
  if (lines_.size() >= kBufferBytes) flush();
}

void OriginAccessLog::flush() {
  std::string_view rest = lines_;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_->get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      if (!complained_) {
        std::cerr << "cacheoff origin: the access log can't be written, and lacks lines: "
                  << std::strerror(errno) << '\n';
      }
      complained_ = true;
      break;
    }
    rest.remove_prefix(static_cast<size_t>(written));
  }
  lines_.clear();
}

}  // namespace workload
