#include "workload/report/json_text.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>

namespace workload {
namespace {

constexpr uint64_t kJsonBytesMax = 256ULL << 20;

void print_double(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  out.append(buffer, end);
}

void print_value(std::string& out, const boost::json::value& value, size_t depth) {
  const std::string inner((depth + 1) * 2, ' ');
  if (const auto* object = value.if_object(); object != nullptr && !object->empty()) {
    out += '{';
    bool first = true;
    for (const auto& member : *object) {
      out += first ? "\n" : ",\n";
      first = false;
      out += inner + boost::json::serialize(boost::json::value(member.key())) + ": ";
      print_value(out, member.value(), depth + 1);
    }
    out += '\n' + std::string(depth * 2, ' ') + '}';
  } else if (const auto* array = value.if_array(); array != nullptr && !array->empty()) {
    out += '[';
    bool first = true;
    for (const auto& element : *array) {
      out += first ? "\n" : ",\n";
      first = false;
      out += inner;
      print_value(out, element, depth + 1);
    }
    out += '\n' + std::string(depth * 2, ' ') + ']';
  } else if (value.is_double()) {
    print_double(out, value.get_double());
  } else {
    out += boost::json::serialize(value);
  }
}

}  // namespace

std::string to_pretty_json(const boost::json::value& value) {
  std::string out;
  print_value(out, value, 0);
  out += '\n';
  return out;
}

boost::json::value json_number(const std::optional<double>& number) {
  if (!number || !std::isfinite(*number)) return nullptr;
  return *number;
}

const boost::json::value* find_json(const boost::json::object& object, std::string_view path) {
  const boost::json::object* here = &object;
  for (;;) {
    const size_t dot = path.find('.');
    const auto* value = here->if_contains(path.substr(0, dot));
    if (value == nullptr || dot == std::string_view::npos) return value;
    here = value->if_object();
    if (here == nullptr) return nullptr;
    path.remove_prefix(dot + 1);
  }
}

std::optional<double> number_at(const boost::json::object& object, std::string_view path) {
  const auto* value = find_json(object, path);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double number = value->to_number<double>();
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

uint64_t count_at(const boost::json::object& object, std::string_view path) {
  const auto* value = find_json(object, path);
  if (value == nullptr) return 0;
  if (value->is_uint64()) return value->get_uint64();
  const auto number = number_at(object, path);
  return number && *number > 0 && *number < 0x1p63 ? static_cast<uint64_t>(*number) : 0;
}

std::string text_at(const boost::json::object& object, std::string_view path) {
  const auto* value = find_json(object, path);
  if (value == nullptr || !value->is_string()) return {};
  return std::string(value->get_string());
}

uint64_t sum_at(const boost::json::object& object, std::string_view path) {
  const auto* value = find_json(object, path);
  const auto* counts = value == nullptr ? nullptr : value->if_object();
  uint64_t sum = 0;
  if (counts == nullptr) return sum;
  for (const auto& member : *counts) sum += count_at(*counts, member.key());
  return sum;
}

Expected<std::string> read_file(const std::filesystem::path& path, uint64_t size_bytes_max) {
  std::error_code failure;
  const uint64_t size = std::filesystem::file_size(path, failure);
  if (failure) return run_problem("can't read '" + path.string() + "': " + failure.message());
  if (size > size_bytes_max) {
    return run_problem("'" + path.string() + "' is too large: " + std::to_string(size) +
                       " bytes, at most " + std::to_string(size_bytes_max) + " are read");
  }
  std::ifstream in(path, std::ios::binary);
  std::string text(size, '\0');
  in.read(text.data(), static_cast<std::streamsize>(size));
  if (!in) return run_problem("can't read '" + path.string() + "'");
  return text;
}

Expected<boost::json::object> read_json_object(const std::filesystem::path& path) {
  auto text = read_file(path, kJsonBytesMax);
  if (!text) return text.error();
  boost::json::error_code failure;
  boost::json::value value = boost::json::parse(*text, failure);
  if (failure) return run_problem("'" + path.string() + "' is not JSON: " + failure.message());
  if (!value.is_object()) {
    return run_problem("'" + path.string() + "' is damaged: it must hold a JSON object");
  }
  return std::move(value.get_object());
}

Expected<void> write_file(const std::filesystem::path& path, std::string_view text) {
  const std::filesystem::path temporary = path.string() + ".new";
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  std::error_code failure;
  if (out) {
    std::filesystem::rename(temporary, path, failure);
    if (!failure) return {};
  }
  const std::string reason = failure ? failure.message() : std::strerror(errno);
  std::filesystem::remove(temporary, failure);
  return run_problem("can't write '" + path.string() + "': " + reason);
}

}  // namespace workload
