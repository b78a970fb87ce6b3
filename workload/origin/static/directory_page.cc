#include "workload/origin/static/directory_page.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "workload/origin/static/request_path.h"
#include "workload/report/html_text.h"

namespace workload {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

bool is_directory(int folder_fd, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat facts {};
  return ::fstatat(folder_fd, entry.d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(facts.st_mode);
}

}  // namespace

int read_directory(int folder_fd, std::vector<DirectoryEntry>& entries, bool& whole) {
  entries.clear();
  whole = true;
  // The stream closes its descriptor, and moves its place.
  const int own_fd = ::openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own_fd < 0) return errno;
  const std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(own_fd));
  if (!directory) {
    const int error = errno;
    ::close(own_fd);
    return error;
  }
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    if (entry->d_name[0] == '.') continue;
    if (entries.size() == kDirectoryEntriesMax) {
      whole = false;
      break;
    }
    entries.push_back({entry->d_name, is_directory(own_fd, *entry)});
  }
  if (errno != 0 && whole) return errno;
  std::sort(entries.begin(), entries.end(),
            [](const auto& left, const auto& right) { return left.name < right.name; });
  return 0;
}

void write_directory_page(std::string_view path, const std::vector<DirectoryEntry>& entries,
                          bool whole, std::string& out) {
  const std::string title = html_escape("/" + std::string(path) + (path.empty() ? "" : "/"));
  out = "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>" + title +
        "</title></head>\n<body><h1>" + title + "</h1>\n<ul>\n";
  if (!path.empty()) out += "<li><a href=\"../\">../</a></li>\n";
  for (const auto& entry : entries) {
    const std::string_view slash = entry.is_directory ? "/" : "";
    // The dot keeps a name with a colon from being taken for a scheme.
    out += "<li><a href=\"./";
    add_url_path(out, entry.name);
    out.append(slash).append("\">").append(html_escape(entry.name)).append(slash);
    out += "</a></li>\n";
  }
  out += "</ul>\n";
  if (!whole) {
    out += "<p>Only " + std::to_string(kDirectoryEntriesMax) + " of the entries are shown.</p>\n";
  }
  out += "</body></html>\n";
}

}  // namespace workload
