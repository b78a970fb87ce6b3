// The files that report.html is made of; they are part of the program.
#pragma once

#include <cstddef>
#include <string_view>

namespace workload {

/// A script, and its SHA-256 in base64, by which the page's Content-Security-Policy allows it.
struct PageScript {
  std::string_view text;
  std::string_view sha256;
};

/// What the build has embedded: `page/` of this folder, and Chart.js where it was installed.
struct PageFiles {
  std::string_view style;
  PageScript script;
  PageScript chart_library;  ///< With its license at its head; empty where it was missing.
};

/// The embedded files; they live as long as the program. Any thread.
PageFiles page_files();

}  // namespace workload
