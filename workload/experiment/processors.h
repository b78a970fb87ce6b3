// The processors that the programs of a run may use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workload/experiment/expected.h"

namespace workload {

/// Numbers of processors, ascending; empty: all that the caller may use.
using ProcessorList = std::vector<unsigned>;

/// Reads `0`, `0,2` or `0-3,6`: numbers up to 1023. The Problem says what would be right.
Expected<ProcessorList> parse_processors(std::string_view text);

/// `0,2-3`.
std::string processors_text(const ProcessorList& processors);

/// A Problem where the calling process may not use one of these, or where this build can't keep a
/// program to some processors.
Expected<void> check_processors(const ProcessorList& processors);

/// Keeps the calling process, and what it will start, to these. False, with errno, where that can't
/// be. Async-signal-safe.
bool keep_to_processors(const ProcessorList& processors);

}  // namespace workload
