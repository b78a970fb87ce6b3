#include "workload/system/nginx_configuration.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "workload/system/nginx_defaults.h"

namespace workload {
namespace {

/// From the innermost: where a request's directives are looked for.
constexpr std::array<std::string_view, 3> kRequestSections{"http/server/location /", "http/server",
                                                           "http"};
constexpr std::string_view kUpstreamSection = "http/upstream ";

/// Reads words, quotes and comments; one thing a call.
class NginxTokens {
 public:
  explicit NginxTokens(std::string_view text) : text_(text) {}

  enum class Kind { kWord, kEnd, kOpen, kClose, kNothing };

  Kind next(std::string& word) {
    skip_blanks();
    word.clear();
    if (at_ == text_.size()) return Kind::kNothing;
    const char c = text_[at_];
    if (c == ';' || c == '{' || c == '}') {
      ++at_;
      return c == ';' ? Kind::kEnd : c == '{' ? Kind::kOpen : Kind::kClose;
    }
    if (c == '"' || c == '\'') {
      read_quoted(word);
    } else {
      read_plain(word);
    }
    return Kind::kWord;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
        ++at_;
      } else {
        return;
      }
    }
  }

  void read_quoted(std::string& word) {
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      word += text_[at_++];
    }
    if (at_ < text_.size()) ++at_;
  }

  void read_plain(std::string& word) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      // `${name}` is a variable and no block.
      const bool of_variable = c == '{' && !word.empty() && word.back() == '$';
      const bool ends = std::string_view(" \t\r\n;{").find(c) != std::string_view::npos;
      if (ends && !of_variable) return;
      if (of_variable) {
        const size_t end = std::min(text_.find('}', at_), text_.size() - 1);
        word += text_.substr(at_, end + 1 - at_);
        at_ = end + 1;
        continue;
      }
      if (c == '\\' && at_ + 1 < text_.size()) word += text_[at_++];
      word += text_[at_++];
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::string joined(const std::vector<std::string>& words, size_t from) {
  std::string out;
  for (size_t i = from; i < words.size(); ++i) out += (i == from ? "" : " ") + words[i];
  return out;
}

/// A number with a unit behind it; `units` names them with their factors. Several, one behind the
/// other, are added. Nothing where the text is no such thing.
struct NginxUnit {
  std::string_view name;
  uint64_t factor;
};

std::optional<uint64_t> parse_units(std::string_view text, std::span<const NginxUnit> units) {
  uint64_t sum = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    size_t digits = 0;
    uint64_t number = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9' && digits < 12) {
      number = number * 10 + static_cast<uint64_t>(text[digits++] - '0');
    }
    if (digits == 0) return std::nullopt;
    text.remove_prefix(digits);
    size_t letters = 0;
    while (letters < text.size() && (text[letters] < '0' || text[letters] > '9')) ++letters;
    const auto unit = std::find_if(units.begin(), units.end(), [&](const NginxUnit& one) {
      return one.name == text.substr(0, letters);
    });
    if (unit == units.end()) return std::nullopt;
    sum += number * unit->factor;
    text.remove_prefix(letters);
  }
  return sum;
}

constexpr NginxUnit kTimeUnits[] = {
    {"ms", 1},          {"", 1000},           {"s", 1000},
    {"m", 60'000},      {"h", 3'600'000},     {"d", 86'400'000},
    {"w", 604'800'000}, {"M", 2'592'000'000}, {"y", 31'536'000'000}};
constexpr NginxUnit kSizeUnits[] = {{"", 1},        {"k", 1 << 10}, {"K", 1 << 10}, {"m", 1 << 20},
                                    {"M", 1 << 20}, {"g", 1 << 30}, {"G", 1 << 30}};

/// The words behind the name in one form for all that mean the same.
std::string plain_words(NginxKind kind, const std::string& text) {
  if (kind == NginxKind::kText) return text;
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const auto number =
        kind == NginxKind::kTime ? parse_units(word, kTimeUnits) : parse_units(word, kSizeUnits);
    out += out.empty() ? "" : " ";
    out += number ? std::to_string(*number) + (kind == NginxKind::kTime ? "ms" : "") : word;
    begin = end + 1;
  }
  return out;
}

/// Takes the directives of that name out of a section; the words of the last one, or nothing.
std::optional<std::string> take(std::vector<NginxDirective>& directives, std::string_view section,
                                std::string_view name) {
  std::optional<std::string> words;
  std::erase_if(directives, [&](const NginxDirective& one) {
    if (one.section != section || one.words.front() != name) return false;
    words = joined(one.words, 1);
    return true;
  });
  return words;
}

std::string best_event_method(const std::string& kernel) {
  if (kernel == "Linux") return "epoll";
  if (kernel.ends_with("BSD") || kernel == "Darwin") return "kqueue";
  return {};
}

std::vector<std::string> upstream_sections(const std::vector<NginxDirective>& directives) {
  std::vector<std::string> sections;
  for (const auto& one : directives) {
    if (!one.section.starts_with(kUpstreamSection)) continue;
    if (std::find(sections.begin(), sections.end(), one.section) == sections.end()) {
      sections.push_back(one.section);
    }
  }
  return sections;
}

/// Fills the default in where nothing was written.
ConfigurationLine line_of(const NginxDefault& row, std::string place,
                          const std::optional<std::string>& written) {
  return {std::move(place), std::string(row.name),
          plain_words(row.kind, written.value_or(std::string(row.value))), written.value_or("")};
}

}  // namespace

std::vector<NginxDirective> parse_nginx(std::string_view text) {
  std::vector<NginxDirective> directives;
  std::vector<std::string> sections;
  std::vector<std::string> words;
  NginxTokens tokens(text);
  std::string word;
  const auto place = [&] {
    std::string out;
    for (const auto& section : sections) out += (out.empty() ? "" : "/") + section;
    return out;
  };
  for (;;) {
    switch (tokens.next(word)) {
      case NginxTokens::Kind::kWord:
        words.push_back(word);
        continue;
      case NginxTokens::Kind::kEnd:
        if (!words.empty()) directives.push_back({place(), std::move(words)});
        break;
      case NginxTokens::Kind::kOpen:
        sections.push_back(joined(words, 0));
        break;
      case NginxTokens::Kind::kClose:
        if (!sections.empty()) sections.pop_back();
        break;
      case NginxTokens::Kind::kNothing:
        return directives;
    }
    words.clear();
  }
}

EffectiveConfiguration nginx_configuration(std::string_view text, const NginxMachine& machine) {
  std::vector<NginxDirective> directives = parse_nginx(text);
  EffectiveConfiguration out;
  const auto upstreams = upstream_sections(directives);
  for (const auto& row : nginx_defaults()) {
    switch (row.context) {
      case NginxContext::kMain:
        out.push_back(line_of(row, "", take(directives, "", row.name)));
        break;
      case NginxContext::kEvents:
        out.push_back(line_of(row, "events", take(directives, "events", row.name)));
        break;
      case NginxContext::kHttp: {
        std::optional<std::string> written;
        for (const auto section : kRequestSections) {
          const auto here = take(directives, section, row.name);
          if (!written) written = here;
        }
        out.push_back(line_of(row, "http", written));
        break;
      }
      case NginxContext::kUpstream:
        for (const auto& section : upstreams) {
          out.push_back(line_of(row, section, take(directives, section, row.name)));
        }
        break;
    }
  }
  for (auto& line : out) {
    if (line.place.empty() && line.name == "worker_processes" && line.value == "auto") {
      line.value = std::to_string(machine.cpus);
    }
  }
  const auto method = take(directives, "events", "use");
  const std::string best = best_event_method(machine.kernel);
  if (method || !best.empty()) {
    out.push_back({"events", "use", method.value_or(best), method.value_or("")});
  }
  for (const auto& one : directives) {
    const std::string rest = joined(one.words, 1);
    out.push_back({one.section, one.words.front(), rest, rest});
  }
  sort_configuration(out);
  return out;
}

std::map<std::string, std::string> said_by_nginx(std::string_view log) {
  constexpr std::string_view kBefore = "using the \"";
  constexpr std::string_view kBehind = "\" event method";
  const size_t end = log.find(kBehind);
  if (end == std::string_view::npos) return {};
  const size_t begin = log.rfind(kBefore, end);
  if (begin == std::string_view::npos) return {};
  const auto method = log.substr(begin + kBefore.size(), end - begin - kBefore.size());
  return {{"events.use", std::string(method)}};
}

}  // namespace workload
