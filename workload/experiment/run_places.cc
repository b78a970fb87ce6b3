#include "workload/experiment/run_places.h"

#include <fcntl.h>
#include <unistd.h>

#include "storage/base/filesystem_sync.h"
#include "workload/experiment/program_commands.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

/// Writes to the disk what earlier runs left to be written, so that this one does not pay for it.
void write_back(const std::filesystem::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  storage::sync_filesystem(fd);
  close(fd);
}

}  // namespace

std::string run_name(const RunRequest& request) {
  // With a number of this process's own, as the name decides where spread_subfolders() puts it.
  return request.cell.name + "-" + std::to_string(request.round) + "-" + std::to_string(getpid());
}

Expected<std::unique_ptr<CachePlaces>> make_run_places(const RunRequest& request,
                                                       const ExperimentOptions& options,
                                                       const Programs& programs,
                                                       StopSignals& stop) {
  std::error_code failure;
  std::filesystem::create_directories(request.folder, failure);
  if (failure) {
    return run_problem("can't make '" + request.folder.string() + "': " + failure.message());
  }
  // The programs write their files there themselves.
  if (auto done = give_to(request.user, request.folder); !done) return done.error();
  write_back(request.scratch->path());
  auto made =
      CachePlaces::make({request.cell, options, *request.scratch, run_name(request),
                         request.folder / "mkfs.log", request.user, &stop, programs.disk()});
  if (!made) return made.error();
  for (const auto& command : (*made)->commands()) {
    if (auto done = note_command(request.folder, command); !done) return done.error();
  }
  return std::move(*made);
}

Expected<void> note_command(const std::filesystem::path& run_folder,
                            const std::vector<std::string>& command) {
  const auto file = run_folder / "commands.sh";
  std::string text = "#!/bin/sh\n# The commands of this run, in the order in which they began.\n";
  if (const auto before = read_file(file, 1 << 20)) text = *before;
  return write_file(file, text + shell_line(command) + "\n");
}

}  // namespace workload
