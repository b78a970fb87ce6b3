#include "workload/filesystem/run_user.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace workload {
namespace {

std::optional<RunUser> find_user(const std::string& name) {
  const passwd* entry = getpwnam(name.c_str());
  if (entry == nullptr) return std::nullopt;
  return RunUser{entry->pw_name, entry->pw_uid, entry->pw_gid};
}

/// Whether the user can do that with the path, as the kernel decides it: asked by a process that is
/// that user's for the moment.
bool can_access(const RunUser& user, const std::filesystem::path& path, int mode) {
  const pid_t pid = fork();
  if (pid < 0) return false;
  if (pid == 0) {
    const bool is_user =
        setgroups(0, nullptr) == 0 && setgid(user.gid) == 0 && setuid(user.uid) == 0;
    _exit(is_user && access(path.c_str(), mode) == 0 ? 0 : 1);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The first path that the user can't use; empty where there is none.
std::string first_unreachable(const RunUser& user, const std::vector<NeededAccess>& needed) {
  for (const auto& place : needed) {
    if (!can_access(user, place.path, place.mode)) return place.path.string();
  }
  return {};
}

}  // namespace

Expected<RunUserChoice> choose_run_user(const std::string& asked,
                                        const std::vector<NeededAccess>& needed) {
  RunUserChoice choice;
  if (geteuid() != 0) {
    if (!asked.empty()) return usage_problem("--user '" + asked + "': only root can choose");
    return choice;
  }
  const char* sudo = std::getenv("SUDO_USER");
  const std::string name = !asked.empty() ? asked : sudo != nullptr && *sudo ? sudo : "nobody";
  const auto user = find_user(name);
  if (!user) {
    if (!asked.empty()) return usage_problem("--user '" + asked + "': there is no such user");
    choice.reason = "there is no user " + name;
    return choice;
  }
  if (user->uid == 0) {
    choice.reason = asked.empty() ? "root called sudo" : "--user asked for it";
    return choice;
  }
  if (const auto path = first_unreachable(*user, needed); !path.empty()) {
    if (!asked.empty()) {
      return usage_problem("--user '" + asked + "': can't reach '" + path + "'");
    }
    choice.reason = "the user " + name + " can't reach '" + path + "'";
    return choice;
  }
  choice.user = *user;
  return choice;
}

Expected<void> give_to(const std::optional<RunUser>& user, const std::filesystem::path& path) {
  if (!user || lchown(path.c_str(), user->uid, user->gid) == 0) return {};
  return run_problem("can't give '" + path.string() + "' to the user " + user->name + ": " +
                     std::strerror(errno));
}

}  // namespace workload
