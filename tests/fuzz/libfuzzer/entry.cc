// Entry of the libFuzzer programs; CACHEOFF_FUZZ_TARGET names the function to run.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/support/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static void (*const run)(std::string_view) = [] {
    void (*found)(std::string_view) = nullptr;
    for (const auto& target : testing_support::fuzz_targets()) {
      if (target.name == CACHEOFF_FUZZ_TARGET) found = target.run;
    }
    testing_support::require(found != nullptr, "CACHEOFF_FUZZ_TARGET names a target");
    return found;
  }();
  run(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
