#include "tests/support/fuzz_target.h"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

namespace testing_support {
namespace {

constexpr int kMutationsPerSeed = 4000;

using namespace std::string_view_literals;

/// Changes `text` in one to four places: a byte set, removed or added, a stretch doubled or cut.
void mutate(std::string& text, std::mt19937_64& random) {
  static constexpr std::string_view kLikely = "\0\xff\"\\,=-*/:;#@[]% \t\r\n0919aZ"sv;
  const auto below = [&](size_t limit) { return limit == 0 ? 0 : random() % limit; };
  const auto likely = [&] {
    return below(2) == 0 ? kLikely[below(kLikely.size())] : static_cast<char>(below(256));
  };
  for (size_t left = 1 + below(4); left > 0; --left) {
    const size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        if (!text.empty()) text[at] = likely();
        break;
      case 1:
        text.insert(text.begin() + static_cast<std::ptrdiff_t>(at), likely());
        break;
      case 2:
        if (!text.empty()) text.erase(at, 1 + below(8));
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), below(16)));
        break;
      default:
        text.resize(text.size() - below(text.size() / 4 + 1));
        break;
    }
  }
}

}  // namespace

void require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "fuzzing: does not hold: %s\n", property);
  std::abort();
}

void run_mutated_seeds(const FuzzTarget& target) {
  target.run("");
  for (size_t i = 0; i < target.seeds.size(); ++i) {
    target.run(target.seeds[i]);
    std::mt19937_64 random(i);
    std::string text(target.seeds[i]);
    for (int round = 0; round < kMutationsPerSeed; ++round) {
      // Mostly near the seed, at times far from it.
      if (round % 8 == 0) text = target.seeds[i];
      mutate(text, random);
      target.run(text);
    }
  }
}

}  // namespace testing_support
