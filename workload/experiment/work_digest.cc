#include "workload/experiment/work_digest.h"

#include <xxhash.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <vector>

#include "workload/experiment/static_options.h"
#include "workload/experiment/static_page.h"
#include "workload/model/workload_file.h"

namespace workload {
namespace {

constexpr size_t kReadBytes = 1 << 20;
/// Pages of one size and seed are the same as long as they are made in the same way.
constexpr uint64_t kSeedOfDigest = 1;

std::string digest_text(const XXH128_hash_t& hash) {
  char text[48];
  std::snprintf(text, sizeof text, "xxh3-128:%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text;
}

}  // namespace

std::string digest_of_text(std::string_view text) {
  return digest_text(XXH3_128bits(text.data(), text.size()));
}

Expected<std::string> digest_of_file(const std::filesystem::path& file) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  std::ifstream in(file, std::ios::binary);
  if (!in || state == nullptr || XXH3_128bits_reset(state.get()) != XXH_OK) {
    return run_problem("can't read '" + file.string() + "'");
  }
  std::vector<char> buffer(kReadBytes);
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    XXH3_128bits_update(state.get(), buffer.data(), static_cast<size_t>(in.gcount()));
  }
  if (in.bad()) return run_problem("can't read '" + file.string() + "'");
  return digest_text(XXH3_128bits_digest(state.get()));
}

Expected<boost::json::object> describe_work(const ExperimentOptions& options,
                                            const Workload& workload) {
  boost::json::object work{
      {"workload_digest", nullptr}, {"trace_digest", nullptr}, {"verification", "bytes"}};
  if (const auto ab = ab_load_of(options)) {
    work["file_digest"] = digest_of_text(make_static_page(options.file_size_bytes, kSeedOfDigest));
    work["file_size_bytes"] = options.file_size_bytes;
    work["connections"] = ab->connections;
    work["keep_alive"] = ab->keep_alive;
    work["gzip"] = ab->gzip;
    work["requests"] = ab->requests ? boost::json::value(*ab->requests) : nullptr;
    return work;
  }
  if (options.trace.empty() || options.was_given("workload")) {
    Workload nameless = workload;
    nameless.name.clear();
    work["workload_digest"] = digest_of_text(workload_to_toml(nameless));
  }
  if (!options.trace.empty()) {
    auto digest = digest_of_file(options.trace);
    if (!digest) return digest.error();
    work["trace_digest"] = *digest;
  }
  return work;
}

}  // namespace workload
