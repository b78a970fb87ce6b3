#include "tests/support/stack.h"

#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace testing_support {

Stack::Stack(StackOptions options) : options_(std::move(options)) {
  std::string pattern = (std::filesystem::temp_directory_path() / "cacheoff-e2e-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  folder_ = pattern;
  std::vector<std::string> command{program_path("cacheoff"), "origin", "--listen", "127.0.0.1:0"};
  command.insert(command.end(), options_.origin_arguments.begin(), options_.origin_arguments.end());
  origin_ = std::make_unique<Process>(command);
  origin_port_ = port_in_line(origin_->wait_for_line("listening on"), "listening");
  if (origin_port_ == 0) {
    throw std::runtime_error("the origin did not start: " + origin_->terminate().err);
  }
  start_proxy();
}

Stack::~Stack() {
  proxy_.reset();
  origin_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Stack::start_proxy() {
  std::vector<std::string> command{program_path("cacheoff-proxy"),
                                   "--listen",
                                   "127.0.0.1:0",
                                   "--admin",
                                   "127.0.0.1:0",
                                   "--access-log",
                                   access_log().string()};
  for (const auto& argument : options_.proxy_arguments) {
    // `{folder}` stands for the stack's own temporary folder, `{origin}` for the origin's address.
    std::string text = argument;
    for (const auto& [name, value] :
         {std::pair<std::string, std::string>{"{folder}", folder_.string()},
          std::pair<std::string, std::string>{"{origin}", origin_address()}}) {
      const size_t at = text.find(name);
      if (at != std::string::npos) text.replace(at, name.size(), value);
    }
    command.push_back(text);
  }
  proxy_.reset();
  proxy_ = std::make_unique<Process>(command);
  const std::string line = proxy_->wait_for_line("listening on");
  proxy_port_ = port_in_line(line, "listening");
  admin_port_ = port_in_line(line, "admin");
  if (proxy_port_ == 0 || admin_port_ == 0) {
    throw std::runtime_error("the proxy did not start: " + proxy_->terminate().err);
  }
}

ProcessResult Stack::stop_proxy() {
  return proxy_->terminate();
}

void Stack::kill_proxy() {
  proxy_->signal(SIGKILL);
  proxy_->wait();
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> split_words(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace testing_support
