#include "tests/support/browser.h"

#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <stdexcept>

#include "tests/support/peer.h"

namespace testing_support {
namespace {

constexpr std::string_view kChromium = "/usr/bin/chromium";
constexpr std::string_view kReadyMark = "was started successfully on port ";

boost::json::array browser_arguments(const std::filesystem::path& folder) {
  boost::json::array arguments{
      "--headless=new", "--disable-gpu", "--disable-dev-shm-usage",
      "--disable-background-networking", "--disable-component-update", "--disable-sync",
      "--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND",
      // It ends when the driver does, whatever ended that.
      "--remote-debugging-pipe", "--user-data-dir=" + (folder / "profile").string()};
  // Chromium's sandbox refuses to run as root.
  if (::geteuid() == 0) arguments.emplace_back("--no-sandbox");
  return arguments;
}

}  // namespace

std::string Browser::missing() {
  if (!command_exists("chromedriver")) return "chromedriver (chromium-driver) is not installed";
  if (::access(std::string(kChromium).c_str(), X_OK) != 0) return "chromium is not installed";
  return {};
}

Browser::Browser(const std::filesystem::path& folder) {
  const std::map<std::string, std::string> environment{
      {"HOME", folder.string()},
      {"XDG_CONFIG_HOME", (folder / "config").string()},
      {"XDG_CACHE_HOME", (folder / "cache").string()}};
  driver_ =
      std::make_unique<Process>(std::vector<std::string>{"chromedriver", "--port=0"}, environment);
  const std::string line = driver_->wait_for_line(std::string(kReadyMark));
  const size_t at = line.find(kReadyMark);
  if (at == std::string::npos) throw std::runtime_error("chromedriver did not start: " + line);
  port_ = static_cast<uint16_t>(std::atoi(line.c_str() + at + kReadyMark.size()));
  const boost::json::object capabilities{
      {"browserName", "chrome"},
      {"goog:chromeOptions", {{"binary", kChromium}, {"args", browser_arguments(folder)}}},
      {"goog:loggingPrefs", {{"browser", "ALL"}, {"performance", "ALL"}}}};
  const auto session =
      call("POST", "/session", {{"capabilities", {{"alwaysMatch", capabilities}}}});
  session_ = "/session/" + std::string(session.at("sessionId").as_string());
}

Browser::~Browser() {
  try {
    if (!session_.empty()) call("DELETE", "", nullptr);
  } catch (const std::exception&) {
    // The driver is ended below, and the browser with it.
  }
  driver_->terminate();
}

boost::json::value Browser::call(std::string_view method, const std::string& path,
                                 const boost::json::value& body) {
  const std::string text = body.is_null() ? std::string() : boost::json::serialize(body);
  Peer peer = Peer::connect(port_);
  peer.send(std::string(method) + " " + session_ + path +
            " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) +
            "\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " +
            std::to_string(text.size()) + "\r\n\r\n" + text);
  const auto answer = peer.read_message();
  if (!answer.whole) throw std::runtime_error("chromedriver broke off: " + path);
  if (answer.status() != 200) throw std::runtime_error(path + ": " + answer.body);
  return boost::json::parse(answer.body).at("value");
}

boost::json::value Browser::devtools(const std::string& command,
                                     const boost::json::object& parameters) {
  return call("POST", "/goog/cdp/execute", {{"cmd", command}, {"params", parameters}});
}

void Browser::set_size(unsigned width, unsigned height, bool mobile) {
  devtools("Emulation.setDeviceMetricsOverride",
           {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", mobile}});
}

void Browser::open(const std::filesystem::path& file) {
  call("POST", "/url", {{"url", "file://" + file.string()}});
}

boost::json::value Browser::run(std::string_view script) {
  return call("POST", "/execute/sync", {{"script", script}, {"args", boost::json::array{}}});
}

void Browser::press(const std::string& key) {
  boost::json::object down{{"type", "keyDown"}, {"key", key}, {"code", key}};
  // A button is pressed by the character, not by the key.
  if (key == "Enter") down["text"] = "\r";
  devtools("Input.dispatchKeyEvent", down);
  devtools("Input.dispatchKeyEvent", {{"type", "keyUp"}, {"key", key}, {"code", key}});
}

std::vector<std::string> Browser::console() {
  std::vector<std::string> lines;
  const auto entries = call("POST", "/se/log", {{"type", "browser"}});
  for (const auto& entry : entries.as_array()) {
    lines.emplace_back(std::string(entry.at("level").as_string()) + ": " +
                       std::string(entry.at("message").as_string()));
  }
  return lines;
}

std::vector<std::string> Browser::requested() {
  std::vector<std::string> addresses;
  const auto entries = call("POST", "/se/log", {{"type", "performance"}});
  for (const auto& entry : entries.as_array()) {
    const auto event = boost::json::parse(entry.at("message").as_string()).at("message");
    if (event.at("method").as_string() != "Network.requestWillBeSent") continue;
    const auto& request = event.at("params").as_object();
    // The browser's own pages load parts of the browser.
    if (request.at("documentURL").as_string().starts_with("chrome://")) continue;
    addresses.emplace_back(request.at("request").at("url").as_string());
  }
  return addresses;
}

}  // namespace testing_support
