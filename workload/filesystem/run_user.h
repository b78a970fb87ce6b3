// Whom the measured programs run as when root starts the bench.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "workload/experiment/expected.h"

namespace workload {

/// A user by name and numbers.
struct RunUser {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
};

/// What was chosen, and why nobody was where nobody was.
struct RunUserChoice {
  std::optional<RunUser> user;  ///< Nothing: the programs run as whoever started the bench.
  std::string reason;           ///< Why root's programs stay root's; empty otherwise.
};

/// A file or folder, and what one must be allowed to do with it, as access() takes it.
struct NeededAccess {
  std::filesystem::path path;
  int mode = 0;
};

/// Chooses: not root, nobody else; root, the user `asked` by name, else the one who called sudo,
/// else `nobody`. A user who was not asked for but may not do what is needed is not taken, with the
/// reason; one who was is a Problem, as is an unknown one.
Expected<RunUserChoice> choose_run_user(const std::string& asked,
                                        const std::vector<NeededAccess>& needed);

/// Gives the file or folder itself (not what is in it) to the user; nothing where there is none.
Expected<void> give_to(const std::optional<RunUser>& user, const std::filesystem::path& path);

}  // namespace workload
