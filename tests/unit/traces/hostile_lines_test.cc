// Lines changed at random, from a fixed seed: whatever comes, a line has one account, views stay
// inside the line, and a plan's invariants hold.
#include <gtest/gtest.h>

#include "storage/base/random.h"
#include "tests/support/text_source.h"
#include "traces/log_format.h"
#include "traces/replay_plan.h"

namespace {

std::string sample_text() {
  const std::string samples = CACHEOFF_SOURCE_DIR "/traces/samples/";
  std::string text;
  for (const char* name : {"squid-quirks.log", "combined-quirks.log"}) {
    auto source = traces::open_file_source(samples + name);
    EXPECT_TRUE(source) << name;
    std::string bytes(64 * 1024, '\0');
    bytes.resize(*(*source)->read(bytes));
    text += bytes + "\n";
  }
  return text;
}

void mutate(std::string& text, storage::Random& random) {
  constexpr std::string_view kNasty("\0\n\r\"\\[] \t/?#%-\xff:0", 18);
  const uint64_t changes = 1 + random.below(40);
  for (uint64_t change = 0; change < changes && !text.empty(); ++change) {
    const size_t at = random.below(text.size());
    switch (random.below(5)) {
      case 0:
        text[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        text[at] = kNasty[random.below(kNasty.size())];
        break;
      case 2:
        text.erase(at, 1 + random.below(30));
        break;
      case 3:
        text.insert(at, 1 + random.below(20), kNasty[random.below(kNasty.size())]);
        break;
      default:
        text.insert(at, text.substr(random.below(text.size()), random.below(60)));
        break;
    }
  }
}

void expect_inside(std::string_view line, std::string_view view) {
  if (view.empty()) return;
  EXPECT_GE(view.data(), line.data());
  EXPECT_LE(view.data() + view.size(), line.data() + line.size());
}

TEST(HostileLines, EveryMutationKeepsTheAccount) {
  const std::string original = sample_text();
  storage::Random random(20240305);
  uint64_t used = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string text = original;
    mutate(text, random);
    const auto lines = static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n')) +
                       (!text.empty() && text.back() != '\n' ? 1 : 0);
    const auto plan = testing_support::plan_text(text);
    ASSERT_EQ(plan.lines.total(), lines) << "round " << round;
    ASSERT_EQ(plan.lines.used(), plan.requests.size());
    for (size_t at = 1; at < plan.requests.size(); ++at) {
      ASSERT_GE(plan.requests[at].offset, plan.requests[at - 1].offset);
      ASSERT_LT(plan.requests[at].object, plan.objects.size());
    }
    used += plan.lines.used();
  }
  EXPECT_GT(used, 1500U * 20) << "most lines must survive, or the test tests nothing";
}

TEST(HostileLines, ViewsStayInsideTheLine) {
  const std::string original = sample_text();
  storage::Random random(7);
  for (int round = 0; round < 20000; ++round) {
    const size_t begin = random.below(original.size());
    std::string line = original.substr(begin, random.below(300));
    mutate(line, random);
    const auto parsed = traces::parse_log_line(line);
    if (const auto* record = std::get_if<traces::AccessRecord>(&parsed)) {
      for (const auto view : {record->client, record->method, record->host, record->result_tag,
                              record->hierarchy, record->content_type}) {
        expect_inside(line, view);
      }
    } else {
      EXPECT_FALSE(std::get<traces::LineFault>(parsed).detail.empty());
    }
  }
}

}  // namespace
