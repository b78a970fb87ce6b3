#include "workload/ab/options.h"

#include <getopt.h>

#include <algorithm>
#include <array>

#include "workload/report/json_text.h"

namespace workload::ab {

namespace {

enum LongOption { kThreads = 256, kRepeat, kJson, kHelpOption };

// The leading colon tells a missing value from an unknown option.
constexpr const char* kShortOptions =
    ":n:c:t:s:b:B:T:p:u:v:lrkVhwix:y:z:C:H:P:A:g:X:de:Sqm:f:Z:E:I";

constexpr size_t kLineBytesMax = 8192;

/// What has no place in Options: which of the options that exclude each other were there.
struct Seen {
  bool head = false;
  bool method = false;
  std::string body_option, body_file;
};

bool is_clean(const std::string& text) {
  return text.size() <= kLineBytesMax && std::none_of(text.begin(), text.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
         });
}

/// What the user gave, in a form that keeps a complaint one short line.
std::string shown(const std::string& text) {
  constexpr size_t kShownMax = 200;
  std::string out;
  for (const char c : text.substr(0, kShownMax)) {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return "'" + out + (text.size() > kShownMax ? "...'" : "'");
}

Problem wrong(const std::string& option, const std::string& value, const std::string& right) {
  return usage_problem(option + ' ' + shown(value) + ": right would be " + right);
}

Expected<uint64_t> count_of(const std::string& option, const std::string& text, uint64_t least,
                            uint64_t most) {
  const auto count = storage::parse_count(text);
  if (count && *count >= least && *count <= most) return *count;
  return wrong(option, text,
               "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
}

Expected<std::chrono::nanoseconds> time_of(const std::string& option, const std::string& text) {
  const auto time = storage::parse_duration(text);
  if (time && time->count() > 0 && *time <= std::chrono::hours(24 * 30)) return *time;
  return wrong(option, text, "seconds, above 0 and at most 30 days");
}

/// Takes a text that goes into the request's head.
Expected<void> take_text(const std::string& option, const std::string& text, std::string& out) {
  if (text.empty() || !is_clean(text)) {
    return usage_problem(option + ": right would be 1 to " + std::to_string(kLineBytesMax) +
                         " printable characters");
  }
  out = text;
  return {};
}

template <class Number>
Expected<void> take_count(const std::string& option, const std::string& text, uint64_t least,
                          uint64_t most, Number& out) {
  const auto count = count_of(option, text, least, most);
  if (!count) return count.error();
  out = static_cast<Number>(*count);
  return {};
}

Expected<void> take_header(const std::string& text, Options& options) {
  const auto colon = text.find(':');
  if (colon == 0 || colon == std::string::npos || !is_clean(text) ||
      text.find_first_of(" \t") < colon) {
    return wrong("-H", text, "'Name: value'");
  }
  options.headers.push_back(text);
  return {};
}

Expected<void> take_method(const std::string& text, Options& options) {
  const bool token = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
  });
  if (text.empty() || text.size() > 32 || !token) return wrong("-m", text, "a method such as GET");
  options.method = text;
  return {};
}

Expected<void> take_body_file(const std::string& option, const std::string& file, Seen& seen) {
  if (!seen.body_option.empty()) {
    return usage_problem(option + ": there is one body at most, and " + seen.body_option +
                         " gave one");
  }
  seen.body_option = option;
  seen.body_file = file;
  return {};
}

Expected<void> take_time_limit(const std::string& text, Options& options) {
  const auto time = time_of("-t", text);
  if (!time) return time.error();
  options.time_limit = *time;
  options.requests = kRequestsOfTimeLimit;
  options.requests_from_t = true;
  return {};
}

Expected<void> take_proxy(const std::string& text, Options& options) {
  options.proxy = storage::parse_host_port(text);
  if (options.proxy && options.proxy->port != 0) return {};
  return wrong("-X", text, "PROXY:PORT, e.g. 127.0.0.1:3128");
}

Expected<void> take_timeout(const std::string& text, Options& options) {
  const auto time = time_of("-s", text);
  if (!time) return time.error();
  options.timeout = *time;
  return {};
}

Expected<void> take_requests(const std::string& text, Options& options) {
  options.requests_from_t = false;
  return take_count("-n", text, 1, kRequestsMax, options.requests);
}

/// Options that are a switch; false where it is none of these.
bool take_switch(int option, Options& options, Seen& seen) {
  switch (option) {
    case 'k':
      return options.keep_alive = true;
    case 'l':
      return options.any_length = true;
    case 'r':
      return options.go_on = true;
    case 'q':
      return options.quiet = true;
    case 'w':
      return options.html = true;
    case 'i':
      return seen.head = true;
    case 'd':
      options.show_percentiles = false;
      return true;
    case 'S':
      options.show_confidence = false;
      return true;
    case 'h':
    case kHelpOption:
      options.action = Action::kHelp;
      return true;
    case 'V':
      options.action = Action::kVersion;
      return true;
    default:
      return false;
  }
}

/// Attributes of the HTML table go into the page as they are: they are the user's own.
void take_attributes(const std::string& text, Options& options, std::string& out) {
  options.html = true;
  out = text;
}

Expected<void> take_value(int option, const std::string& text, Options& options, Seen& seen) {
  switch (option) {
    case 'n':
      return take_requests(text, options);
    case 'c':
      return take_count("-c", text, 1, kConcurrencyMax, options.concurrency);
    case 't':
      return take_time_limit(text, options);
    case 's':
      return take_timeout(text, options);
    case 'b':
      return take_count("-b", text, 1, 1 << 30, options.window_bytes);
    case 'B':
      return take_text("-B", text, options.local_address);
    case 'T':
      return take_text("-T", text, options.content_type);
    case 'p':
      return take_body_file("-p", text, seen);
    case 'u':
      return take_body_file("-u", text, seen);
    case 'v':
      return take_count("-v", text, 0, 100, options.verbosity);
    case 'C':
      return take_text("-C", text, options.cookies.emplace_back());
    case 'H':
      return take_header(text, options);
    case 'A':
      return take_text("-A", text, options.authorization);
    case 'P':
      return take_text("-P", text, options.proxy_authorization);
    case 'X':
      return take_proxy(text, options);
    case 'm':
      seen.method = true;
      return take_method(text, options);
    case 'g':
      return take_text("-g", text, options.gnuplot_file);
    case 'e':
      return take_text("-e", text, options.csv_file);
    case 'x':
      take_attributes(text, options, options.table_attributes);
      return {};
    case 'y':
      take_attributes(text, options, options.row_attributes);
      return {};
    case 'z':
      take_attributes(text, options, options.cell_attributes);
      return {};
    case kThreads:
      return take_count("--threads", text, 1, 256, options.threads);
    case kRepeat:
      return take_count("--repeat", text, 1, kRepeatMax, options.repeat);
    case kJson:
      return take_text("--json", text, options.json_file);
    default:
      break;
  }
  return usage_problem(std::string("-") + static_cast<char>(option) +
                       ": TLS is not there; cacheoff ab speaks plain HTTP only");
}

Expected<void> check_together(Options& options, const Seen& seen) {
  if (options.requests < options.concurrency) {
    return usage_problem("-c " + std::to_string(options.concurrency) + ": more than the " +
                         std::to_string(options.requests) + " requests of -n");
  }
  if (options.threads > options.concurrency) {
    return usage_problem("--threads " + std::to_string(options.threads) + ": more than the " +
                         std::to_string(options.concurrency) + " connections of -c");
  }
  if (!options.gnuplot_file.empty() &&
      options.requests > kRequestsWithGnuplotMax / options.repeat) {
    return usage_problem("-g: keeps every request, so that there may be " +
                         std::to_string(kRequestsWithGnuplotMax) + " at most over all runs");
  }
  if (seen.head && (seen.method || !seen.body_option.empty())) {
    return usage_problem("-i: asks by HEAD, which does not go with -m, -p or -u");
  }
  if (seen.head) options.method = "HEAD";
  if (seen.body_option.empty()) return {};
  if (!seen.method) options.method = seen.body_option == "-p" ? "POST" : "PUT";
  auto body = read_file(seen.body_file, kBodyBytesMax);
  if (!body) return usage_problem(seen.body_option + ": " + body.error().text);
  options.body = std::move(*body);
  options.has_body = true;
  return {};
}

Problem unknown_option(const std::vector<std::string>& arguments) {
  if (optopt > 0 && optopt < 256) {
    return usage_problem(std::string("no such option: '-") + static_cast<char>(optopt) + "'");
  }
  // getopt stands behind the argument that it did not know.
  const auto at = static_cast<size_t>(optind) - 2;
  return usage_problem("no such option: " +
                       shown(at < arguments.size() ? arguments[at] : std::string()));
}

}  // namespace

Expected<Url> parse_url(const std::string& text) {
  constexpr std::string_view kScheme = "http://";
  const std::string named = "URL " + shown(text);
  if (text.rfind("https://", 0) == 0) {
    return usage_problem(named + ": TLS is not there; right would be http://...");
  }
  const bool has_scheme = text.rfind(kScheme, 0) == 0;
  const std::string rest = has_scheme ? text.substr(kScheme.size()) : text;
  const auto slash = rest.find('/');
  if (slash == std::string::npos || slash == 0) {
    return usage_problem(named + ": right would be [http://]HOST[:PORT]/PATH");
  }
  const bool clean = std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '#';
  });
  if (!clean || text.size() > kLineBytesMax) {
    return usage_problem(named + ": holds a blank, a control character or a '#', or is too long");
  }
  Url url;
  url.host_text = rest.substr(0, slash);
  url.path = rest.substr(slash);
  url.whole = std::string(kScheme) + rest;
  const auto last_colon = url.host_text.rfind(':');
  const bool has_port =
      last_colon != std::string::npos && url.host_text.find(']', last_colon) == std::string::npos;
  const auto server = storage::parse_host_port(has_port ? url.host_text : url.host_text + ":80");
  if (!server || server->port == 0 || url.host_text.find('@') != std::string::npos) {
    return usage_problem(named + ": " + shown(url.host_text) + " is no HOST or HOST:PORT");
  }
  url.server = *server;
  return url;
}

Expected<Options> parse_options(const std::vector<std::string>& arguments) {
  static constexpr std::array<option, 5> kLongOptions{
      {{"threads", required_argument, nullptr, kThreads},
       {"repeat", required_argument, nullptr, kRepeat},
       {"json", required_argument, nullptr, kJson},
       {"help", no_argument, nullptr, kHelpOption},
       {nullptr, 0, nullptr, 0}}};
  std::vector<std::string> copies(arguments);
  std::string name = "ab";
  std::vector<char*> words{name.data()};
  for (auto& copy : copies) words.push_back(copy.data());
  words.push_back(nullptr);
  Options options;
  Seen seen;
  opterr = 0;
  optind = 0;  // glibc begins anew, whatever was read before.
  const int count = static_cast<int>(words.size()) - 1;
  while (true) {
    const int option =
        getopt_long(count, words.data(), kShortOptions, kLongOptions.data(), nullptr);
    if (option == -1) break;
    if (option == '?') return unknown_option(arguments);
    if (option == ':') {
      const std::string word = words[static_cast<size_t>(optind) - 1];
      return usage_problem(word + ": a value is missing");
    }
    if (take_switch(option, options, seen)) {
      if (options.action != Action::kRun) return options;
      continue;
    }
    const auto taken = take_value(option, optarg == nullptr ? "" : optarg, options, seen);
    if (!taken) return taken.error();
  }
  if (count - optind != 1) {
    return usage_problem(count == optind ? "the URL is missing"
                                         : "one URL, not " + std::to_string(count - optind));
  }
  auto url = parse_url(words[static_cast<size_t>(optind)]);
  if (!url) return url.error();
  options.url = std::move(*url);
  if (auto together = check_together(options, seen); !together) return together.error();
  return options;
}

}  // namespace workload::ab
