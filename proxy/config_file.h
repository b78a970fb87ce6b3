// The file that --config names: TOML whose keys are the names of the options.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace proxy {

/// Options of a file as if they had been given on the command line, in the file's order of keys.
struct ConfigFile {
  std::vector<std::pair<std::string, std::string>> options;  ///< Name without dashes, value.
  std::string error;  ///< One line with file and line number; empty where it could be read.
};

/// Reads a file. A value is text, a number or a boolean; an array repeats the option; a table (for
/// `cache-dir`) is `key=value,key=value`. Names are not checked here.
ConfigFile read_config_file(const std::filesystem::path& path);

}  // namespace proxy
