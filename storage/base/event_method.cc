#include "storage/base/event_method.h"

#include <sys/select.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <system_error>

#include "storage/base/own_program.h"

namespace storage {

namespace {

constexpr std::array<std::string_view, 3> kMethods = {"epoll", "select", "io_uring"};

// What the kernel has against the event loop of this program; empty where nothing.
std::string event_loop_fault() {
  try {
    boost::asio::io_context context(1);
    const boost::asio::ip::tcp::socket needs_the_method(context);
    return {};
  } catch (const boost::system::system_error& refused) {
    return std::string(own_event_method()) +
           ": the kernel refuses it: " + refused.code().message() +
           (own_event_method() == "io_uring" ? " (see kernel.io_uring_disabled, and ulimit -l)"
                                             : "");
  }
}

}  // namespace

std::string_view own_event_method() {
#if defined(BOOST_ASIO_HAS_IO_URING_AS_DEFAULT)
  return "io_uring";
#elif defined(BOOST_ASIO_HAS_EPOLL)
  return "epoll";
#elif defined(BOOST_ASIO_HAS_KQUEUE)
  return "kqueue";
#else
  return "select";
#endif
}

std::string_view event_method_names() {
  return "epoll, select, io_uring";
}

bool is_event_method(std::string_view name) {
  return std::ranges::find(kMethods, name) != kMethods.end() || name == own_event_method();
}

std::string event_method_program(const std::string& program, std::string_view method) {
  return program + "-" + std::string(method);
}

std::string take_event_method(std::string_view method, const std::vector<std::string>& arguments) {
  if (method == own_event_method()) return event_loop_fault();
  const std::filesystem::path own = own_program();
  const std::string program = event_method_program(own.string(), method);
  std::error_code unknown;
  if (!std::filesystem::exists(program, unknown)) {
    return std::string(method) + ": there is no '" + program + "' (this program waits by " +
           std::string(own_event_method()) +
           "); build it: cmake -DCACHEOFF_EVENT_METHODS=" + std::string(method);
  }
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), program);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(program.c_str(), pointers.data());
  return std::string(method) + ": can't execute '" + program +
         "': " + std::generic_category().message(errno);
}

uint64_t event_descriptors_max() {
  if (own_event_method() == "select") return FD_SETSIZE;
  return std::numeric_limits<uint64_t>::max();
}

}  // namespace storage
