// JSON files that people can read, and values looked up in JSON that nobody checked.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "workload/experiment/expected.h"

namespace workload {

/// Indented text with a line break at the end. Numbers keep their shortest exact form; a number
/// that is not finite becomes null.
std::string to_pretty_json(const boost::json::value& value);

/// A number, or null where there is none or where it is not finite.
boost::json::value json_number(const std::optional<double>& number);

/// The value behind the keys of `path`, which a `.` separates; null where a key is missing.
const boost::json::value* find_json(const boost::json::object& object, std::string_view path);

/// The finite number there; nothing where it is missing, null or no number.
std::optional<double> number_at(const boost::json::object& object, std::string_view path);

/// The number there as a count; 0 where it is missing, negative or no number.
uint64_t count_at(const boost::json::object& object, std::string_view path);

/// The text there; empty where it is missing or no text.
std::string text_at(const boost::json::object& object, std::string_view path);

/// Sum of the counts that the object there holds; 0 where it is missing.
uint64_t sum_at(const boost::json::object& object, std::string_view path);

/// Reads a file that must hold one JSON object. The Problem names the file; nothing larger than
/// 256 MiB is read.
Expected<boost::json::object> read_json_object(const std::filesystem::path& path);

/// Writes a file whole or not at all (a temporary beside it, renamed).
Expected<void> write_file(const std::filesystem::path& path, std::string_view text);

/// The whole of a file of at most `size_bytes_max`.
Expected<std::string> read_file(const std::filesystem::path& path, uint64_t size_bytes_max);

}  // namespace workload
