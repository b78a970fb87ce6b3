#include "workload/disk/fuse/program.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/program_options.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>

#include "storage/base/units.h"
#include "workload/cli/command.h"
#include "workload/disk/control.h"
#include "workload/disk/fuse/fuse_file.h"
#include "workload/disk/profile_file.h"

namespace workload::disk {
namespace {

namespace po = boost::program_options;

constexpr const char* kAbout =
    "usage: cacheoff-disk --image FILE --mount DIR [options]\n"
    "       cacheoff-disk --control PATH --send COMMAND\n\n"
    "Serves DIR/disk, over FUSE: a file whose reads and writes take the time that a disk would\n"
    "take. A loop device with direct I/O over it carries a filesystem. It runs until SIGTERM,\n"
    "SIGINT, the control command 'end', or until DIR is unmounted.\n\noptions";

constexpr const char* kExample =
    "example, as root:\n"
    "  mkdir /tmp/slow\n"
    "  cacheoff-disk --profile scsi-2003 --image /var/tmp/disk.img --mount /tmp/slow \\\n"
    "      --control /tmp/slow.control --fast &\n"
    "  loop=$(losetup --find --show --direct-io=on /tmp/slow/disk)\n"
    "  mkfs.ext4 -q $loop && mount $loop /mnt\n"
    "  cacheoff-disk --control /tmp/slow.control --send 'fast off'\n"
    "and to clean up, in this order:\n"
    "  umount /mnt; losetup -d $loop; cacheoff-disk --control /tmp/slow.control --send end\n";

struct ProgramOptions {
  DiskProfile profile;
  std::string image;
  std::string mount_point;
  std::string control;
  std::string send;
  double time_scale = 1;
  uint64_t seed = 1;
  bool fast = false;
  bool end_with_parent = false;
};

po::options_description described() {
  po::options_description options(kAbout);
  auto add = options.add_options();
  add("profile", po::value<std::string>()->default_value("scsi-2003"),
      "scsi-2003, sata-7200, sata-ssd, or a profile file (docs/modelled-disk.md)");
  add("image", po::value<std::string>(),
      "where the disk's bytes are kept; made, sparse, if it is not there");
  add("size", po::value<std::string>(), "of the disk, e.g. 2G (default: the profile's)");
  add("mount", po::value<std::string>(), "an empty folder to mount it on");
  add("time-scale", po::value<double>()->default_value(1),
      "the disk is so many times as fast, 0.001 to 1000");
  add("write-cache", po::value<std::string>(),
      "size of its write cache, 0 for none (default: the profile's)");
  add("seed", po::value<std::string>()->default_value("1"),
      "for what power cuts leave and for when they come");
  add("fast", po::bool_switch(), "begin with the delays off");
  add("control", po::value<std::string>(), "make a Unix socket here that takes commands, below");
  add("send", po::value<std::string>(), "send this command to the disk at --control, and end");
  add("end-with-parent", po::bool_switch(),
      "end, as for SIGTERM, when the process that started it does");
  add("print-profile", po::bool_switch(), "print the profile as a profile file, and end");
  add("help", "this text");
  return options;
}

std::string text_of(const po::variables_map& values, const char* name) {
  return values.count(name) == 0 ? "" : values[name].as<std::string>();
}

/// Fills `options`; returns what is wrong, or nothing.
std::string read_options(const po::variables_map& values, ProgramOptions& options) {
  options.control = text_of(values, "control");
  options.send = text_of(values, "send");
  if (values.count("send") != 0) {
    return options.control.empty() ? "--send: needs --control PATH, of the disk that it is for"
                                   : "";
  }
  std::string error;
  const auto profile = load_profile(text_of(values, "profile"), error);
  if (!profile) return "--profile " + error;
  options.profile = *profile;
  if (values.count("size") != 0) {
    const auto size = storage::parse_size_bytes(text_of(values, "size"));
    if (!size) return "--size '" + text_of(values, "size") + "': right would be such as 2G";
    options.profile.size_bytes = *size;
  }
  if (values.count("write-cache") != 0) {
    const auto size = storage::parse_size_bytes(text_of(values, "write-cache"));
    if (!size) {
      return "--write-cache '" + text_of(values, "write-cache") + "': right would be such as 8M";
    }
    options.profile.write_cache_bytes = *size;
  }
  if (const auto problem = check_profile(options.profile); !problem.empty()) {
    return "--" + problem;  // only what options can set may still be wrong here
  }
  options.time_scale = values["time-scale"].as<double>();
  if (!(options.time_scale >= 0.001 && options.time_scale <= 1000)) {
    return "--time-scale: must lie from 0.001 to 1000";
  }
  const auto seed = storage::parse_count(text_of(values, "seed"));
  if (!seed) return "--seed '" + text_of(values, "seed") + "': must be a whole number";
  options.seed = *seed;
  options.fast = values["fast"].as<bool>();
  options.end_with_parent = values["end-with-parent"].as<bool>();
  if (values["print-profile"].as<bool>()) return {};
  options.image = text_of(values, "image");
  options.mount_point = text_of(values, "mount");
  if (options.image.empty()) return "--image: name the file that keeps the disk's bytes";
  if (options.mount_point.empty()) return "--mount: name an empty folder to mount the disk on";
  return {};
}

int fail(const std::string& problem, int status) {
  std::cerr << "cacheoff-disk: " << problem << '\n';
  return status;
}

int send_command(const ProgramOptions& options) {
  std::string error;
  // A cut puts at most the cache and what is under way on the image before it answers.
  const auto answer =
      send_control_command(options.control, options.send, std::chrono::seconds(60), error);
  if (!answer) return fail(error, kExitFailed);
  std::cout << *answer << '\n';
  boost::system::error_code bad;
  const auto value = boost::json::parse(*answer, bad);
  const bool good = !bad && value.is_object() && value.get_object().contains("ok") &&
                    value.get_object().at("ok") == true;
  return good ? kExitSuccess : kExitFailed;
}

/// Until something says that it is time to end. Returns what, for people.
void wait_for_end(int signals, const FuseFile& file, const ControlSocket& control,
                  ServedDisk& disk) {
  for (;;) {
    pollfd wanted[]{{signals, POLLIN, 0},
                    {file.ended_descriptor(), POLLIN, 0},
                    {control.descriptor(), POLLIN, 0}};  // a negative one is passed over
    if (::poll(wanted, 3, -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (wanted[0].revents != 0 || wanted[1].revents != 0) return;
    if (wanted[2].revents != 0 && control.serve(disk)) return;
  }
}

int serve(const ProgramOptions& options) {
  std::string error;
  const auto image = ImageFile::open(options.image, options.profile.size_bytes, error);
  if (image == nullptr) return fail("--image: " + error, kExitFailed);
  ControlSocket control;
  if (!options.control.empty()) {
    if (const auto problem = control.listen(options.control); !problem.empty()) {
      return fail(problem, kExitFailed);
    }
  }
  // Before any thread starts, so that all of them leave these to the descriptor.
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&ends, signal);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const int signals = ::signalfd(-1, &ends, SFD_CLOEXEC);
  if (signals < 0) return fail(std::string("signalfd: ") + std::strerror(errno), kExitFailed);
  if (options.end_with_parent) {
    const pid_t parent = ::getppid();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) return fail("the parent has ended already", kExitFailed);
  }
  ServedDisk disk(
      {options.profile, options.profile.size_bytes, options.time_scale, options.seed, options.fast},
      *image);
  FuseFile file(disk, options.profile.size_bytes);
  if (const auto problem = file.mount(options.mount_point); !problem.empty()) {
    return fail(problem, kExitFailed);
  }
  std::cout << "cacheoff-disk: serving " << options.mount_point << '/' << FuseFile::kName << ", "
            << storage::format_size(options.profile.size_bytes) << ", as " << options.profile.name
            << std::endl;
  wait_for_end(signals, file, control, disk);
  const bool unused = file.unmount();
  ::close(signals);
  if (unused) return kExitSuccess;
  return fail("'" + options.mount_point + "/" + FuseFile::kName +
                  "' was still in use: what used it gets I/O errors now",
              kExitFailed);
}

}  // namespace

int run_disk_program(const std::vector<std::string>& arguments) {
  try {
    const auto options_text = described();
    po::variables_map values;
    // No positional arguments, and no guessing of options from their first letters.
    const auto style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(arguments)
                  .options(options_text)
                  .positional(po::positional_options_description())
                  .style(style)
                  .run(),
              values);
    if (values.count("help") != 0) {
      std::cout << options_text << "\ncommands, for --send, one a line:\n"
                << control_commands() << '\n'
                << kExample;
      return kExitSuccess;
    }
    po::notify(values);
    ProgramOptions options;
    if (const auto problem = read_options(values, options); !problem.empty()) {
      return fail(problem, kExitUsage);
    }
    if (values.count("send") != 0) return send_command(options);
    if (values["print-profile"].as<bool>()) {
      std::cout << profile_to_toml(options.profile);
      return kExitSuccess;
    }
    return serve(options);
  } catch (const po::error& problem) {
    return fail(std::string(problem.what()) + " (see 'cacheoff-disk --help')", kExitUsage);
  } catch (const std::exception& problem) {
    return fail(problem.what(), kExitFailed);
  }
}

}  // namespace workload::disk
