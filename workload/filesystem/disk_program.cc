#include "workload/filesystem/disk_program.h"

#include <boost/json/parse.hpp>
#include <charconv>
#include <utility>

#include "workload/disk/control.h"
#include "workload/disk/profile_file.h"
#include "workload/experiment/program_commands.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

constexpr auto kServingTimeMax = std::chrono::seconds(30);
constexpr auto kAnswerTimeMax = std::chrono::seconds(30);
/// It has at most a write cache to put on its image.
constexpr auto kDiskEndTimeMax = std::chrono::seconds(30);

std::string scale_text(double scale) {
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, scale).ptr};
}

}  // namespace

std::vector<std::string> disk_command(const DiskProgramRequest& request) {
  return {request.program.string(),
          "--profile",
          request.profile_file.string(),
          "--image",
          request.image.string(),
          "--size",
          std::to_string(request.size_bytes),
          "--mount",
          request.mount_point.string(),
          "--control",
          request.control.string(),
          "--time-scale",
          scale_text(request.time_scale),
          "--fast"};
}

Expected<DiskProgram> DiskProgram::start(const DiskProgramRequest& request) {
  auto written = write_file(request.profile_file, disk::profile_to_toml(request.profile));
  if (!written) return written.error();
  ChildOptions options{disk_command(request), request.log.string(), request.log.string()};
  options.own_mounts = true;
  auto child = ChildProcess::start(options);
  if (!child) return child.error();
  // It says so when it is mounted: before that, the folder's own filesystem would be there.
  auto ready = child->wait_ready(": serving ", kServingTimeMax, request.stop);
  if (!ready) return run_problem(ready.error().text + last_words(request.log));
  DiskProgram disk(request, std::move(*child));
  std::error_code failure;
  if (!std::filesystem::is_regular_file(disk.file(), failure)) {
    return run_problem("cacheoff-disk serves, but '" + disk.file().string() + "' is not there");
  }
  return disk;
}

DiskProgram::DiskProgram(const DiskProgramRequest& request, ChildProcess child)
    : request_(request), child_(std::move(child)) {}

DiskProgram::DiskProgram(DiskProgram&& other) noexcept
    : request_(std::move(other.request_)), child_(std::exchange(other.child_, std::nullopt)) {}

DiskProgram::~DiskProgram() {
  if (child_) child_->stop(kDiskEndTimeMax);
}

std::filesystem::path DiskProgram::file() const {
  const std::string root = "/proc/" + std::to_string(child_->pid()) + "/root";
  return std::filesystem::path(root + request_.mount_point.string()) / "disk";
}

Expected<void> DiskProgram::set_fast(bool fast) {
  auto answer = tell(fast ? "fast on" : "fast off");
  if (!answer) return answer.error();
  return {};
}

Expected<boost::json::object> DiskProgram::status() {
  return tell("status");
}

Expected<boost::json::object> DiskProgram::tell(const std::string& command) {
  if (const auto end = child_->poll_end()) {
    return run_problem("cacheoff-disk " + end->text() + " in mid-run" + last_words(request_.log));
  }
  std::string error;
  const auto line =
      disk::send_control_command(request_.control.string(), command, kAnswerTimeMax, error);
  if (!line) return run_problem("cacheoff-disk: " + error);
  boost::system::error_code bad;
  const auto value = boost::json::parse(*line, bad);
  const auto* answer = bad ? nullptr : value.if_object();
  const auto* good = answer == nullptr ? nullptr : answer->if_contains("ok");
  if (good == nullptr || !good->is_bool() || !good->get_bool()) {
    return run_problem("cacheoff-disk answered to '" + command + "': " + *line);
  }
  return *answer;
}

}  // namespace workload
