// A real browser (Debian's chromium and chromium-driver), told what to do over WebDriver.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/process.h"

namespace testing_support {

/// A headless Chromium with a profile of its own. It resolves no name, so that it cannot reach
/// beyond this machine. Calls throw std::runtime_error with the browser's words where it refuses.
/// The destructor ends the browser and its driver, and waits for both.
class Browser {
 public:
  /// Why there can be none here; empty where there can.
  static std::string missing();

  /// Starts one whose profile lies in `folder`, which must outlive it.
  explicit Browser(const std::filesystem::path& folder);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// The size of the page in CSS pixels, as a phone would show it where `mobile`.
  void set_size(unsigned width, unsigned height, bool mobile);
  /// Opens a file and waits until it is loaded.
  void open(const std::filesystem::path& file);
  /// Runs the body of a function in the page and gives what it returns.
  boost::json::value run(std::string_view script);
  /// Presses a key with the focus where it is; names as in KeyboardEvent.key.
  void press(const std::string& key);
  /// Lines of the console since the last call, at any level, with what the browser itself objects
  /// to (blocked scripts, uncaught errors).
  std::vector<std::string> console();
  /// Addresses that pages, other than the browser's own, have asked for since the last call.
  std::vector<std::string> requested();

 private:
  boost::json::value call(std::string_view method, const std::string& path,
                          const boost::json::value& body);
  boost::json::value devtools(const std::string& command, const boost::json::object& parameters);

  std::unique_ptr<Process> driver_;
  uint16_t port_ = 0;
  std::string session_;
};

}  // namespace testing_support
