#include <array>
#include <cstdio>

#include "workload/ab/report.h"

namespace workload::ab {

namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string two_digits(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.2f", value);
  return text.data();
}

/// Rows of a table of four columns.
class HtmlRows {
 public:
  explicit HtmlRows(const Options& options)
      : row_("<tr " + options.row_attributes + ">"), cell_(options.cell_attributes) {
    if (cell_.empty()) cell_ = "bgcolor=white";
    text_ = "<table " + options.table_attributes + ">\n";
  }

  void pair(const char* label, const std::string& value) {
    text_ += row_ + "<th colspan=2 " + cell_ + ">" + label + "</th><td colspan=2 " + cell_ + ">" +
             escaped(value) + "</td></tr>\n";
  }

  void title(const char* label) {
    text_ += row_ + "<th " + cell_ + " colspan=4>" + label + "</th></tr>\n" + row_;
    for (const char* column : {"&nbsp;", "min", "avg", "max"}) {
      text_ += "<th " + cell_ + ">" + column + "</th>";
    }
    text_ += "</tr>\n";
  }

  void times(const char* label, const TimeSamples& times) {
    text_ += row_ + "<th " + cell_ + ">" + label + "</th>";
    for (const double ns : {static_cast<double>(times.min_ns()), times.mean_ns(),
                            static_cast<double>(times.max_ns())}) {
      std::array<char, 32> ms{};
      std::snprintf(ms.data(), ms.size(), "%5llu", static_cast<unsigned long long>(rounded_ms(ns)));
      text_ += "<td " + cell_ + ">" + ms.data() + "</td>";
    }
    text_ += "</tr>\n";
  }

  std::string finished() { return text_ + "</table>\n"; }

 private:
  std::string row_;
  std::string cell_;
  std::string text_;
};

}  // namespace

std::string report_html(const Options& options, const Measurement& run) {
  const auto& tally = run.tally;
  const auto figures = report_figures(options, run);
  HtmlRows rows(options);
  std::array<char, 64> seconds{};
  std::snprintf(seconds.data(), seconds.size(), "%.3f seconds", run.duration_s);
  rows.pair("Server Software:", figures.server);
  rows.pair("Server Hostname:", options.url.server.host);
  rows.pair("Server Port:", std::to_string(options.url.server.port));
  rows.pair("Document Path:", options.url.path);
  rows.pair("Document Length:", figures.document_length);
  rows.pair("Concurrency Level:", std::to_string(options.concurrency));
  rows.pair("Time taken for tests:", seconds.data());
  rows.pair("Complete requests:", std::to_string(tally.complete));
  rows.pair("Failed requests:", std::to_string(tally.failed()));
  if (tally.not_2xx > 0) rows.pair("Non-2xx responses:", std::to_string(tally.not_2xx));
  if (options.keep_alive) rows.pair("Keep-Alive requests:", std::to_string(tally.kept_alive));
  rows.pair("Total transferred:", std::to_string(tally.received_bytes) + " bytes");
  if (options.has_body) rows.pair("Total body sent:", std::to_string(tally.sent_bytes));
  rows.pair("HTML transferred:", std::to_string(tally.body_bytes) + " bytes");
  rows.pair("Requests per second:", two_digits(run.requests_per_s()));
  rows.pair("Transfer rate:", two_digits(figures.received_kb_per_s) + " kb/s received");
  if (tally.total.count() > 0) {
    rows.title("Connection Times (ms)");
    rows.times("Connect:", tally.connect);
    rows.times("Processing:", tally.processing);
    rows.times("Total:", tally.total);
  }
  return "\n\n" + rows.finished();
}

}  // namespace workload::ab
