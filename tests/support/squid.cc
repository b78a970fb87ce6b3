#include "tests/support/squid.h"

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <set>

#include "tests/support/stack.h"

namespace testing_support {
namespace {

namespace fs = std::filesystem;

/// Debian's place, which is not in everybody's PATH.
constexpr const char* kDebianProgram = "/usr/sbin/squid";

std::string squid_program() {
  if (command_exists("squid")) return "squid";
  return ::access(kDebianProgram, X_OK) == 0 ? kDebianProgram : std::string();
}

}  // namespace

bool Squid::installed() {
  return !squid_program().empty();
}

Squid::Squid(const fs::path& folder, const std::vector<std::string>& more_lines) : folder_(folder) {
  fs::create_directories(folder_);
  fs::permissions(folder_, fs::perms::all);
  // Squid gives up root by itself; its folder must then be open to that user.
  fs::permissions(folder_.parent_path(), fs::perms::others_exec | fs::perms::others_read,
                  fs::perm_options::add);
  choose_port();
  write_configuration(more_lines);
  process_ = std::make_unique<Process>(
      // Its shared memory has the service's name: another Squid may be running.
      std::vector<std::string>{squid_program(), "-N", "-n", "cacheoff" + std::to_string(::getpid()),
                               "-f", (folder_ / "squid.conf").string()});
}

void Squid::choose_port() {
  const auto listening = run_command(
      {"sh", "-c", "ss -Htln 2>/dev/null | awk '{print $4}' | sed 's/.*://' | sort -n | uniq"});
  const auto ports = split_lines(listening.out);
  const std::set<std::string> taken(ports.begin(), ports.end());
  port_ = static_cast<uint16_t>(20000 + ::getpid() % 9000);
  while (taken.contains(std::to_string(port_))) ++port_;
}

void Squid::write_configuration(const std::vector<std::string>& more_lines) const {
  std::ofstream out(folder_ / "squid.conf");
  out << "http_port 127.0.0.1:" << port_ << "\nhttp_access allow all\n"
      << "cache_mem 256 MB\nmaximum_object_size_in_memory 64 MB\nmaximum_object_size 64 MB\n"
      << "cache_log " << (folder_ / "cache.log").string() << "\npid_filename none\n"
      << "access_log stdio:" << access_log().string() << " squid\n"
      << "coredump_dir " << folder_.string() << "\nshutdown_lifetime 1 seconds\n"
      << "netdb_filename none\nvisible_hostname squid.test\npinger_enable off\n"
      << "refresh_pattern . 0 20% 4320\n";
  for (const auto& line : more_lines) out << line << '\n';
}

bool Squid::wait_until_ready() {
  for (int attempt = 0; attempt < 300 && process_->running(); ++attempt) {
    const auto probe =
        run_command({"bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/" + std::to_string(port_)});
    if (probe.exit_status == 0) return true;
    run_command({"sleep", "0.1"});
  }
  return false;
}

void Squid::stop() {
  stopped_ = process_->terminate(std::chrono::seconds(90));
}

std::string Squid::said() const {
  return read_file(folder_ / "cache.log") + stopped_.err;
}

}  // namespace testing_support
