#include "proxy/config.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <filesystem>
#include <functional>
#include <sstream>

#include "proxy/config_file.h"
#include "storage/base/event_method.h"
#include "storage/base/path_fault.h"

namespace proxy {

namespace {

namespace options = boost::program_options;
using Values = options::variables_map;

constexpr const char* kUsage =
    "usage: cacheoff-proxy [options]\n"
    "A caching HTTP proxy whose storage can be chosen.\n\n"
    "Example, a forward proxy with a disk cache behind a memory cache:\n"
    "  cacheoff-proxy --listen 127.0.0.1:3128 --cache-dir scheme=ufs,path=/tmp/cache,size=1G \\\n"
    "    --memory-cache 64M --access-log access.log --admin 127.0.0.1:3129\n"
    "Example, a reverse proxy for one origin:\n"
    "  cacheoff-proxy --listen 127.0.0.1:8080 --origin 127.0.0.1:80 \\\n"
    "    --cache-dir scheme=memory,size=256M\n\n";

/// An option whose text is read by `read`, which returns what would be right, or nothing.
struct TextOption {
  const char* name;
  const char* default_text;
  const char* meaning;
  std::function<const char*(const std::string&, Config&)> read;
  const char* kind = "text";  ///< Or `size`, `count`, `time`: which texts mean the same.
};

TextOption size_option(const char* name, const char* default_text, const char* meaning,
                       std::function<uint64_t&(Config&)> field) {
  return {name, default_text, meaning,
          [field](const std::string& text, Config& config) -> const char* {
            const auto value = storage::parse_size_bytes(text);
            if (!value || *value == 0) return "a size above 0 such as 64K, 1.5G";
            field(config) = *value;
            return nullptr;
          },
          "size"};
}

TextOption count_option(const char* name, const char* default_text, const char* meaning,
                        std::function<uint64_t&(Config&)> field) {
  return {name, default_text, meaning,
          [field](const std::string& text, Config& config) -> const char* {
            const auto value = storage::parse_count(text);
            if (!value || *value == 0) return "a whole number above 0";
            field(config) = *value;
            return nullptr;
          },
          "count"};
}

TextOption time_option(const char* name, const char* default_text, const char* meaning,
                       std::function<std::chrono::nanoseconds&(Config&)> field) {
  return {name, default_text, meaning,
          [field](const std::string& text, Config& config) -> const char* {
            const auto value = storage::parse_duration(text);
            if (!value || value->count() == 0) return "a time above 0 such as 500ms, 30s, 2m";
            field(config) = *value;
            return nullptr;
          },
          "time"};
}

std::vector<TextOption> limit_options() {
  return {
      size_option("header-size-max", "64K", "longest request or response head",
                  [](Config& c) -> uint64_t& { return c.limits.header_size_bytes_max; }),
      count_option("header-count-max", "128", "most fields in a request head",
                   [](Config& c) -> uint64_t& { return c.limits.header_count_max; }),
      count_option("max-connections", "20000", "most client connections at once",
                   [](Config& c) -> uint64_t& { return c.limits.connections_max; }),
      count_option("origin-connections-max", "1024", "most connections to one origin",
                   [](Config& c) -> uint64_t& { return c.limits.origin_connections_max; }),
      count_option("origin-connections-total-max", "8192", "most connections to all origins",
                   [](Config& c) -> uint64_t& { return c.limits.origin_connections_total_max; }),
      count_option("fills-max", "20000", "most fetches from origins at once",
                   [](Config& c) -> uint64_t& { return c.limits.fills_max; }),
      size_option("fill-window", "256K", "newest bytes of a fetch kept for its readers",
                  [](Config& c) -> uint64_t& { return c.limits.fill_window_bytes; }),
      size_option("fill-unread-max", "64M",
                  "a fetch that lost its readers is finished for the store if this much is left",
                  [](Config& c) -> uint64_t& { return c.limits.fill_unread_bytes_max; }),
      size_option("buffer-memory", "256M", "buffers of all bodies under way",
                  [](Config& c) -> uint64_t& { return c.limits.buffer_memory_bytes; }),
  };
}

std::vector<TextOption> timeout_options() {
  return {
      time_option("header-timeout", "30s", "for a whole request head",
                  [](Config& c) -> std::chrono::nanoseconds& { return c.timeouts.header; }),
      time_option("body-timeout", "60s", "for progress of a request body",
                  [](Config& c) -> std::chrono::nanoseconds& { return c.timeouts.body; }),
      time_option("send-timeout", "60s", "for progress towards a client",
                  [](Config& c) -> std::chrono::nanoseconds& { return c.timeouts.send; }),
      time_option("idle-timeout", "120s", "for a client between requests",
                  [](Config& c) -> std::chrono::nanoseconds& { return c.timeouts.idle; }),
      time_option("connect-timeout", "10s", "for reaching an origin",
                  [](Config& c) -> std::chrono::nanoseconds& { return c.timeouts.connect; }),
      time_option("origin-timeout", "60s", "for progress of an origin",
                  [](Config& c) -> std::chrono::nanoseconds& { return c.timeouts.origin; }),
      time_option("origin-idle-timeout", "50s", "for an unused connection to an origin",
                  [](Config& c) -> std::chrono::nanoseconds& { return c.timeouts.origin_idle; }),
      time_option("tunnel-timeout", "5m", "for a CONNECT tunnel without traffic",
                  [](Config& c) -> std::chrono::nanoseconds& { return c.timeouts.tunnel; }),
      time_option("stop-timeout", "10s", "for finishing what is under way at SIGTERM",
                  [](Config& c) -> std::chrono::nanoseconds& { return c.timeouts.stop; }),
  };
}

const char* read_address(const std::string& text, storage::HostPort& address) {
  const auto parsed = storage::parse_host_port(text);
  boost::system::error_code failure;
  if (parsed) boost::asio::ip::make_address(parsed->host, failure);
  if (!parsed || failure) return "ADDRESS:PORT such as 127.0.0.1:3128 or [::1]:0";
  address = *parsed;
  return nullptr;
}

const char* read_ports(const std::string& text, Config& config) {
  std::istringstream list(text);
  std::string one;
  while (std::getline(list, one, ',')) {
    const auto port = storage::parse_count(one);
    if (!port || *port == 0 || *port > 65535) return "ports from 1 to 65535 such as 563,8443";
    config.connect_ports.insert(static_cast<uint16_t>(*port));
  }
  return nullptr;
}

const char* read_allow(const std::string& text, Config& config) {
  std::istringstream list(text);
  std::string one;
  while (std::getline(list, one, ',')) {
    const auto range = AddressRange::parse(one);
    if (!range) return "address ranges such as 10.0.0.0/8 or fd00::/8";
    config.allow.push_back(*range);
  }
  return nullptr;
}

const char* read_origin(const std::string& text, Config& config) {
  config.origin = storage::parse_host_port(text);
  if (!config.origin || config.origin->port == 0) return "HOST:PORT such as 127.0.0.1:80";
  return nullptr;
}

const char* read_via_name(const std::string& text, Config& config) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '.'; };
  if (text.empty() || !std::all_of(text.begin(), text.end(), plain)) {
    return "a name of letters, digits, '-' and '.'";
  }
  config.via_name = text;
  return nullptr;
}

const char* read_forwarded_for(const std::string& text, Config& config) {
  if (text != "on" && text != "off") return "on or off";
  config.add_forwarded_for = text == "on";
  return nullptr;
}

const char* read_heuristic(const std::string& text, Config& config) {
  const auto value = storage::parse_count(text);
  if (!value || *value > 100) return "a whole number of percent from 0 to 100";
  config.heuristic_percent = static_cast<unsigned>(*value);
  return nullptr;
}

/// Options with one value each, in the order of the help.
std::vector<TextOption> main_options() {
  return {
      {"listen", "127.0.0.1:3128", "where to serve; port 0 picks one",
       [](const std::string& text, Config& c) { return read_address(text, c.listen); }},
      {"origin", "", "HOST:PORT; be a reverse proxy for this origin", read_origin},
      {"memory-cache", "0", "size of a memory cache in front of the cache directory",
       [](const std::string& text, Config& c) -> const char* {
         const auto value = storage::parse_size_bytes(text);
         if (!value) return "a size such as 64M, or 0 for none";
         c.memory_cache_bytes = *value;
         return nullptr;
       },
       "size"},
      {"store-selection", "least-load",
       "round-robin or least-load: which of several cache directories gets a new object",
       [](const std::string& text, Config& c) -> const char* {
         const auto selection = storage::parse_store_selection(text);
         if (!selection) return "round-robin or least-load";
         c.store_selection = *selection;
         return nullptr;
       }},
      {"workers", "1", "threads that serve; this version has one",
       [](const std::string& text, Config&) -> const char* {
         return text == "1" ? nullptr : "1: this version serves with one thread";
       },
       "count"},
      {"event-method", "",
       "epoll, select or io_uring: how the event loop learns what sockets are ready; another one "
       "than "
       "the program's own is another program beside it",
       [](const std::string& text, Config& c) -> const char* {
         if (!storage::is_event_method(text)) return "epoll, select or io_uring";
         c.event_method = text;
         return nullptr;
       }},
      {"access-log", "", "file to append to, in Squid's native format",
       [](const std::string& text, Config& c) -> const char* {
         std::error_code unknown;
         if (text.empty()) return "a file name";
         if (std::filesystem::is_directory(text, unknown)) return "a file, and this is a folder";
         if (!storage::path_fault(text).empty()) return "a path where a file can be";
         c.access_log = text;
         return nullptr;
       }},
      {"admin", "", "where to serve /metrics and /status; port 0 picks one",
       [](const std::string& text, Config& c) {
         c.admin.emplace();
         return read_address(text, *c.admin);
       }},
      {"allow", "", "ranges of clients to serve beside loopback, e.g. 10.0.0.0/8", read_allow},
      {"connect-ports", "", "ports that CONNECT may reach beside 443", read_ports},
      {"via-name", "", "name in Via; default: made up at the start", read_via_name},
      {"forwarded-for", "on", "on or off: tell origins the client's address", read_forwarded_for},
      {"heuristic-percent", "10",
       "without stated lifetime, fresh for this share of the time since Last-Modified",
       read_heuristic, "count"},
      {"stale-if-error", "0s", "stale responses may be served this long where an origin fails",
       [](const std::string& text, Config& c) -> const char* {
         const auto value = storage::parse_duration(text);
         if (!value) return "a time such as 0s or 10m";
         c.stale_if_error = *value;
         return nullptr;
       },
       "time"},
      {"test-delay", "0s",
       "CPU time to waste on each request, at most 1s: to try out what measures the proxy",
       [](const std::string& text, Config& c) -> const char* {
         const auto value = storage::parse_duration(text);
         if (!value || *value > std::chrono::seconds(1)) return "a time from 0s to 1s such as 20us";
         c.test_delay = *value;
         return nullptr;
       },
       "time"},
      {"seed", "1", "seed of random choices",
       [](const std::string& text, Config& c) -> const char* {
         const auto value = storage::parse_count(text);
         if (!value) return "a whole number";
         c.seed = *value;
         return nullptr;
       },
       "count"},
  };
}

std::vector<TextOption> text_options() {
  auto all = main_options();
  for (auto& group : {limit_options(), timeout_options()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

options::options_description describe() {
  options::options_description description("options", 100, 60);
  auto add = description.add_options();
  add("help,h", "this text");
  add("version", "version of the program");
  add("list-schemes", "the storage schemes, one a line, fields separated by tabs");
  add("list-options",
      "the options with one value, one a line: name, kind (size, count, time or text) and default, "
      "separated by tabs");
  add("check", "verify the cache directory offline, say what it holds, and end");
  add("config", options::value<std::string>(),
      "TOML file with any of these options; the command line goes before it");
  add("cache-dir", options::value<std::vector<std::string>>()->composing(),
      "scheme=NAME[,path=PATH],size=SIZE[,min-size=SIZE][,max-size=SIZE][,option=value...]; may be "
      "given again for further directories; default: nothing is cached");
  for (const auto& option : text_options()) {
    std::string meaning = option.meaning;
    if (*option.default_text) meaning += std::string(" (default ") + option.default_text + ")";
    add(option.name, options::value<std::string>(), meaning.c_str());
  }
  return description;
}

/// The file's options as Program_options wants them, so that one set of rules checks both.
std::string store_file(const std::string& path, const options::options_description& description,
                       Values& values) {
  const auto file = read_config_file(path);
  if (!file.error.empty()) return file.error;
  options::parsed_options parsed(&description);
  for (const auto& [name, value] : file.options) {
    if (name == "config" || name == "help" || name == "version" || name == "list-schemes" ||
        name == "list-options" || name == "check" || !description.find_nothrow(name, false)) {
      return path + ": unknown option '" + name + "'; see cacheoff-proxy --help";
    }
    // Program_options would add these to the command line's.
    if (name == "cache-dir" && values.count(name)) continue;
    parsed.options.emplace_back(name, std::vector<std::string>{value});
  }
  options::store(parsed, values);
  return {};
}

std::string read_values(const Values& values, Config& config) {
  for (const auto& option : text_options()) {
    if (!values.count(option.name)) continue;
    const auto& text = values[option.name].as<std::string>();
    if (const char* right = option.read(text, config)) {
      return std::string("--") + option.name + " '" + text + "': must be " + right;
    }
  }
  if (values.count("cache-dir")) {
    for (const auto& text : values["cache-dir"].as<std::vector<std::string>>()) {
      std::string error;
      config.cache_dirs.push_back(storage::parse_scheme_spec(text, error));
      if (!error.empty()) return "--cache-dir '" + text + "': " + error;
    }
  }
  return {};
}

/// What no single option can tell.
std::string check_together(const Config& config, Action action) {
  const auto address = boost::asio::ip::make_address(config.listen.host);
  if (!config.origin && !address.is_loopback() && config.allow.empty()) {
    return "--listen " + config.listen.text() +
           ": a forward proxy that is not on loopback needs --allow RANGE, to not be an open relay";
  }
  if (config.memory_cache_bytes > 0 && config.cache_dirs.empty()) {
    return "--memory-cache needs a --cache-dir behind it; for memory alone use --cache-dir "
           "scheme=memory,size=...";
  }
  if (action == Action::kCheck && config.cache_dirs.empty()) return "--check needs --cache-dir";
  return {};
}

}  // namespace

std::optional<AddressRange> AddressRange::parse(std::string_view text) {
  const auto slash = text.find('/');
  boost::system::error_code failure;
  const auto address = boost::asio::ip::make_address(std::string(text.substr(0, slash)), failure);
  if (failure) return std::nullopt;
  const unsigned bits_max = address.is_v4() ? 32 : 128;
  if (slash == std::string_view::npos) return AddressRange(address, bits_max);
  const auto bits = storage::parse_count(text.substr(slash + 1));
  if (!bits || *bits > bits_max) return std::nullopt;
  return AddressRange(address, static_cast<unsigned>(*bits));
}

bool AddressRange::contains(const boost::asio::ip::address& address) const {
  namespace ip = boost::asio::ip;
  ip::address plain = address;
  if (plain.is_v6() && plain.to_v6().is_v4_mapped()) {
    plain = ip::make_address_v4(ip::v4_mapped, plain.to_v6());
  }
  if (plain.is_v4() != network_.is_v4()) return false;
  const auto matches = [this](const auto& left, const auto& right) {
    for (unsigned bit = 0; bit < prefix_bits_; ++bit) {
      const unsigned mask = 0x80U >> (bit % 8);
      if ((left[bit / 8] & mask) != (right[bit / 8] & mask)) return false;
    }
    return true;
  };
  return plain.is_v4() ? matches(plain.to_v4().to_bytes(), network_.to_v4().to_bytes())
                       : matches(plain.to_v6().to_bytes(), network_.to_v6().to_bytes());
}

bool is_client_allowed(const Config& config, const boost::asio::ip::address& client) {
  namespace ip = boost::asio::ip;
  const bool mapped_loopback = client.is_v6() && client.to_v6().is_v4_mapped() &&
                               ip::make_address_v4(ip::v4_mapped, client.to_v6()).is_loopback();
  if (client.is_loopback() || mapped_loopback) return true;
  if (config.origin && config.allow.empty()) return true;
  return std::any_of(config.allow.begin(), config.allow.end(),
                     [&](const AddressRange& range) { return range.contains(client); });
}

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  const auto description = describe();
  Values values;
  try {
    const options::positional_options_description none;
    options::store(options::command_line_parser(arguments)
                       .options(description)
                       .positional(none)
                       .style(options::command_line_style::unix_style &
                              ~options::command_line_style::allow_guessing)
                       .run(),
                   values);
    if (values.count("config")) {
      line.error = store_file(values["config"].as<std::string>(), description, values);
      if (!line.error.empty()) return line;
    }
  } catch (const options::error& failure) {
    line.error = std::string(failure.what()) + "; see cacheoff-proxy --help";
    return line;
  }
  if (values.count("help") || values.count("version")) {
    line.action = Action::kShowText;
    std::ostringstream text;
    if (values.count("help")) {
      text << kUsage << description;
    } else {
      text << "cacheoff-proxy " << CACHEOFF_VERSION << '\n';
    }
    line.text = text.str();
    return line;
  }
  if (values.count("list-options")) {
    line.action = Action::kShowText;
    for (const auto& option : text_options()) {
      line.text +=
          std::string(option.name) + '\t' + option.kind + '\t' + option.default_text + '\n';
    }
    return line;
  }
  if (values.count("list-schemes")) line.action = Action::kListSchemes;
  if (values.count("check")) line.action = Action::kCheck;
  line.error = read_values(values, line.config);
  if (line.error.empty()) line.error = check_together(line.config, line.action);
  return line;
}

}  // namespace proxy
