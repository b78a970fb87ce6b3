// The page that static servers serve in an experiment: made of a size and a seed alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace workload {

/// Its name below the folder that is served, and in the URL.
inline constexpr std::string_view kStaticPageName = "page.html";

/// The largest page, in bytes: it is held in memory.
inline constexpr uint64_t kStaticPageBytesMax = 256ULL << 20;

/// HTML of exactly `size_bytes` (ASCII, one paragraph after another), which gzip makes a third to a
/// quarter of. Another seed has other words; the same of both has the same bytes on every machine.
std::string make_static_page(uint64_t size_bytes, uint64_t seed);

/// What a server's body is, compared with the page.
enum class PageCoding {
  kPlain,    ///< The page itself.
  kGzip,     ///< Whole gzip data whose content is the page.
  kAnother,  ///< Neither.
};
PageCoding coding_of_page(std::string_view body, const std::string& page);

/// XXH3 as `cacheoff ab` writes it: 16 hexadecimal digits.
std::string xxh3_text(std::string_view bytes);

}  // namespace workload
