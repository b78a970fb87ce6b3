#include "proxy/http_date.h"
#include "tests/fuzz/proxy/targets.h"

namespace testing_support {
namespace {

void run(std::string_view input) {
  using proxy::HttpTime;
  using proxy::Seconds;
  for (int64_t now_s : {int64_t{0}, int64_t{1'700'000'000}, int64_t{253'402'300'799}}) {
    const auto time = proxy::parse_http_date(input, HttpTime(Seconds(now_s)));
    if (!time) continue;
    const std::string text = proxy::format_http_date(*time);
    require(text.size() == 29, "a date is 29 characters long");
    require(proxy::parse_http_date(text, HttpTime(Seconds(now_s))) == time ||
                // A two-digit year near the end of time lies beyond the four digits.
                time->time_since_epoch() > Seconds(253'402'300'799),
            "a date that was read can be written and read");
  }
}

}  // namespace

FuzzTarget http_date_target() {
  return {"http_date",
          run,
          {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
           "Sun Nov  6 08:49:37 1994", "Fri, 31 Dec 9999 23:59:60 GMT",
           "Tuesday, 29-Feb-00 00:00:00 GMT"}};
}

}  // namespace testing_support
