// How the event loop learns what sockets are ready: chosen when a program is built, so that another
// method is another program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace storage {

/// Of this program: `epoll`, `kqueue`, `io_uring` or `select`.
std::string_view own_event_method();

/// The methods that a user may name, for texts: `epoll, select, io_uring`.
std::string_view event_method_names();
/// Whether a user may name it.
bool is_event_method(std::string_view name);

/// The program that is this one for another method, which lies beside it: `cacheoff-proxy-select`.
std::string event_method_program(const std::string& program, std::string_view method);

/// Makes the event loop wait by `method`: returns an empty text where this program does, having
/// tried it; becomes the program that does, with these arguments (without the program's name), and
/// does not return; or returns one line that says why there is no such event loop here. Comes
/// before any thread.
std::string take_event_method(std::string_view method, const std::vector<std::string>& arguments);

/// More descriptors than this the event loop can't wait for; the largest number where there is no
/// bound.
uint64_t event_descriptors_max();

}  // namespace storage
