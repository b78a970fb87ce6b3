#include <cstdint>
#include <cstring>

#include "proxy/range.h"
#include "tests/fuzz/proxy/targets.h"

namespace testing_support {
namespace {

/// The first eight bytes are the size of the body, the rest is the field.
void run(std::string_view input) {
  uint64_t size_bytes = 0;
  if (input.size() < sizeof(size_bytes)) return;
  std::memcpy(&size_bytes, input.data(), sizeof(size_bytes));
  const std::string_view value = input.substr(sizeof(size_bytes));
  for (uint64_t size : {size_bytes, size_bytes % 16}) {
    const proxy::RangeAnswer answer = proxy::select_range(value, size);
    if (answer.kind == proxy::RangeAnswer::Kind::kPartial) {
      require(answer.range.first <= answer.range.last, "a range is in order");
      require(answer.range.last < size, "a range is within the body");
      const auto text = proxy::format_content_range(answer.range, size);
      const auto back = proxy::parse_content_range(text);
      require(back && back->range == answer.range && back->complete_size_bytes == size,
              "Content-Range says the range that was chosen");
    }
  }
  const auto parsed = proxy::parse_content_range(value);
  if (!parsed) return;
  require(parsed->range.first <= parsed->range.last, "a content range is in order");
  if (parsed->complete_size_bytes) {
    require(parsed->range.last < *parsed->complete_size_bytes, "a content range is within");
  }
}

}  // namespace

FuzzTarget range_target() {
  using namespace std::string_view_literals;
  return {"range",
          run,
          {"\x10\x27\0\0\0\0\0\0bytes=0-499"sv, "\x10\x27\0\0\0\0\0\0bytes=-500,5-"sv,
           "\xff\xff\xff\xff\xff\xff\xff\xff"
           "bytes=0-0, 18446744073709551615-"sv,
           "\x0a\0\0\0\0\0\0\0bytes=1-2,2-5,6-9"sv, "\x0a\0\0\0\0\0\0\0bytes 0-9/10"sv,
           "\x0a\0\0\0\0\0\0\0bytes 0-9/*"sv}};
}

}  // namespace testing_support
