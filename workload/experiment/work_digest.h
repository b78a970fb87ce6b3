// What says that two experiments asked for the same work, whatever their files were called.
#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <string>
#include <string_view>

#include "workload/experiment/expected.h"
#include "workload/experiment/options.h"
#include "workload/model/workload.h"

namespace workload {

/// `xxh3-128:` and 32 hexadecimal digits: tells texts apart, but nobody who wants to deceive.
std::string digest_of_text(std::string_view text);

/// The same of a file's bytes, read in parts. A Problem where it can't be read.
Expected<std::string> digest_of_file(const std::filesystem::path& file);

/// The key `work` of results.json: `workload_digest` (of every key of the workload but its name;
/// null with a trace that no workload goes with), `trace_digest` (of the file's bytes; null without
/// a trace) and `verification` (`bytes`: every byte of every body is compared). Of static servers
/// both digests are null, and there are `file_digest` (of a file of that size with the seed 1),
/// `file_size_bytes`, `connections`, `keep_alive`, `gzip` and `requests` (null where a time was the
/// goal).
Expected<boost::json::object> describe_work(const ExperimentOptions& options,
                                            const Workload& workload);

}  // namespace workload
