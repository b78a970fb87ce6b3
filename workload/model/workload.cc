#include "workload/model/workload.h"

#include <algorithm>
#include <utility>

namespace workload {
namespace {

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;
constexpr double kMs = 1e6;
constexpr double kDay = 86400e9;

ContentModel content(ContentType type, double share_percent, Distribution size,
                     double cachable_percent, LifeCycle life_cycle) {
  ContentModel model;
  model.type = type;
  model.share_percent = share_percent;
  model.size = size;
  model.cachable_percent = cachable_percent;
  model.life_cycle = life_cycle;
  return model;
}

std::string check_content(const Workload& workload) {
  if (workload.content.size() > kContentTypesMax) {
    return "content: at most " + std::to_string(kContentTypesMax) + " types";
  }
  const auto embeddable = embeddable_types(workload.content);
  double direct_share = 0;
  for (const auto& model : workload.content) {
    const std::string prefix = "content." + std::string(model.type.name());
    if (std::count_if(workload.content.begin(), workload.content.end(),
                      [&](const ContentModel& each) { return each.type == model.type; }) != 1) {
      return prefix + ": each type may stand there once";
    }
    if (model.direct) direct_share += model.share_percent;
    if (!(model.life_cycle.length.mean() > 0)) {
      return prefix + ".life_cycle: must be above 0 on average";
    }
    if (!model.embedded.always_zero() && embeddable.empty()) {
      return prefix +
             ".embedded: embedded objects are of the types with direct = false, or images, and "
             "there is no such type, nor content.image";
    }
    if (!model.embedded.always_zero() &&
        std::find(embeddable.begin(), embeddable.end(), &model) != embeddable.end()) {
      return prefix + ".embedded: what is itself embedded embeds nothing";
    }
    if (model.embedded.mean() > static_cast<double>(kEmbeddedMax)) {
      return prefix + ".embedded: a page embeds at most " + std::to_string(kEmbeddedMax);
    }
  }
  if (direct_share <= 0) {
    return "content: no type has direct = true and a share_percent above 0, so there is nothing "
           "to ask for";
  }
  return {};
}

struct Percentage {
  std::string key;
  double value;
};

std::string check_percentages(const Workload& workload) {
  const auto& requests = workload.requests;
  const auto& popularity = workload.popularity;
  std::vector<Percentage> all{
      {"requests.recurrence_percent", requests.recurrence_percent},
      {"requests.ims_200_percent", requests.ims_200_percent},
      {"requests.ims_304_percent", requests.ims_304_percent},
      {"requests.reload_percent", requests.reload_percent},
      {"requests.etag_200_percent", requests.etag_200_percent},
      {"requests.etag_304_percent", requests.etag_304_percent},
      {"requests.range_percent", requests.range_percent},
      {"requests.post_percent", requests.post_percent},
      {"requests.head_percent", requests.head_percent},
      {"popularity.hot_set_percent", popularity.hot_set_percent},
      {"popularity.hot_set_share_percent", popularity.hot_set_share_percent},
      {"popularity.byte_hit_discrimination_percent", popularity.byte_hit_discrimination_percent},
      {"robot.abort_percent", workload.robot.abort_percent},
      {"server.abort_percent", workload.server.abort_percent}};
  for (const auto& model : workload.content) {
    const std::string prefix = "content." + std::string(model.type.name());
    all.push_back({prefix + ".share_percent", model.share_percent});
    all.push_back({prefix + ".cachable_percent", model.cachable_percent});
    all.push_back({prefix + ".life_cycle_variance_percent", model.life_cycle.variance_percent});
  }
  for (const auto& each : all) {
    if (!(each.value >= 0 && each.value <= 100)) {
      return each.key + ": must lie from 0 to 100";
    }
  }
  return {};
}

}  // namespace

Workload polymix4_workload() {
  Workload workload;
  workload.name = "polymix4";
  auto image = content(ContentType::kImage, 65, Distribution::exponential(4.5 * kKiB), 80,
                       {Distribution::log_normal(30 * kDay, 7 * kDay), 50});
  image.direct = false;
  auto html = content(ContentType::kHtml, 15, Distribution::exponential(8.5 * kKiB), 90,
                      {Distribution::log_normal(7 * kDay, 1 * kDay), 33});
  html.embedded = Distribution::zipf(13);
  workload.content = {
      image, html,
      content(ContentType::kDownload, 0.5, Distribution::log_normal(300 * kKiB, 300 * kKiB), 95,
              {Distribution::log_normal(182.5 * kDay, 30 * kDay), 33}),
      content(ContentType::kOther, 19.5, Distribution::log_normal(25 * kKiB, 10 * kKiB), 72,
              {Distribution::uniform(1 * kDay, 365 * kDay), 50})};
  auto& requests = workload.requests;
  requests.recurrence_percent = 68.75;  // 55 / 80: so that 55 % of all can be hits.
  requests.ims_200_percent = 5;
  requests.ims_304_percent = 10;
  requests.reload_percent = 5;
  requests.post_percent = 1.5;
  requests.head_percent = 0.1;
  requests.post_body = Distribution::uniform(0, 8 * kKiB);
  auto& popularity = workload.popularity;
  popularity.hot_set_percent = 1;
  popularity.hot_set_share_percent = 10;
  popularity.byte_hit_discrimination_percent = 90;
  workload.server.think = Distribution::normal(2500 * kMs, 1000 * kMs);
  return workload;
}

Workload simple_workload() {
  Workload workload;
  workload.name = "simple";
  workload.content = {content(ContentType::kOther, 100, Distribution::exponential(11 * kKiB), 100,
                              {Distribution::constant(30 * kDay), 0})};
  return workload;
}

Workload cdn_workload() {
  // Sources and assumptions, figure by figure, are in docs/workload.md.
  const auto named = [](std::string_view name) { return *ContentType::named(name); };
  Workload workload;
  workload.name = "cdn";
  const LifeCycle yearly{Distribution::log_normal(180 * kDay, 90 * kDay), 50};
  const LifeCycle daily{Distribution::log_normal(1 * kDay, 1 * kDay), 50};
  auto html =
      content(ContentType::kHtml, 40, Distribution::log_normal(18 * kKiB, 27 * kKiB), 60, daily);
  html.embedded = Distribution::log_normal(54, 27);
  workload.content = {
      content(ContentType::kImage, 18, Distribution::log_normal(58.5 * kKiB, 117 * kKiB), 92,
              {Distribution::log_normal(60 * kDay, 60 * kDay), 50}),
      html,
      content(named("font"), 4, Distribution::log_normal(33 * kKiB, 16 * kKiB), 98, yearly),
      content(named("json"), 60, Distribution::log_normal(4 * kKiB, 8 * kKiB), 40, daily),
      content(named("script"), 24, Distribution::log_normal(25.5 * kKiB, 38 * kKiB), 92, yearly),
      content(named("style"), 8, Distribution::log_normal(10 * kKiB, 15 * kKiB), 95, yearly)};
  for (auto& model : workload.content) {
    model.direct = model.type == ContentType::kHtml || model.type == named("json");
  }
  std::sort(
      workload.content.begin(), workload.content.end(),
      [](const ContentModel& left, const ContentModel& right) { return left.type < right.type; });
  workload.requests.recurrence_percent = 90;
  workload.requests.etag_200_percent = 1;
  workload.requests.etag_304_percent = 6;
  workload.requests.ims_304_percent = 2;
  workload.requests.reload_percent = 1;
  workload.requests.head_percent = 0.5;
  workload.requests.post_percent = 2;
  workload.requests.post_body = Distribution::log_normal(2 * kKiB, 4 * kKiB);
  workload.popularity.zipf_exponent = 0.8;
  workload.popularity.zipf_order = ZipfOrder::kFixed;
  workload.robot.requests_per_second = 1;
  workload.robot.connections_max = 6;
  workload.robot.requests_per_connection = Distribution::exponential(100);
  workload.server.think = Distribution::log_normal(100 * kMs, 100 * kMs);
  workload.server.requests_per_connection = Distribution::constant(1000);
  workload.server.idle_timeout = std::chrono::seconds(60);
  return workload;
}

Workload large_workload() {
  Workload workload;
  workload.name = "large";
  const LifeCycle stable{Distribution::constant(365 * kDay), 0};
  workload.content = {content(ContentType::kDownload, 10,
                              Distribution::log_normal(16 * kMiB, 32 * kMiB), 100, stable),
                      content(*ContentType::named("video"), 90,
                              Distribution::log_normal(2 * kMiB, 1792 * kKiB), 100, stable)};
  workload.requests.recurrence_percent = 80;
  workload.requests.range_percent = 25;
  workload.requests.range_size = Distribution::constant(kMiB);
  workload.requests.etag_304_percent = 1;
  workload.requests.head_percent = 0.5;
  workload.popularity.zipf_exponent = 0.8;
  workload.popularity.zipf_order = ZipfOrder::kNewest;
  workload.robot.requests_per_second = 0.2;
  workload.robot.connections_max = 2;
  workload.robot.requests_per_connection = Distribution::exponential(100);
  workload.robot.abort_percent = 2;
  workload.server.think = Distribution::log_normal(100 * kMs, 100 * kMs);
  workload.server.requests_per_connection = Distribution::constant(1000);
  workload.server.idle_timeout = std::chrono::seconds(60);
  return workload;
}

std::optional<Workload> built_in_workload(std::string_view name) {
  if (name == "polymix4") return polymix4_workload();
  if (name == "simple") return simple_workload();
  if (name == "cdn") return cdn_workload();
  if (name == "large") return large_workload();
  return std::nullopt;
}

std::string_view built_in_workload_names() {
  return "polymix4, simple, cdn, large";
}

std::string check_workload(const Workload& workload) {
  if (auto problem = check_content(workload); !problem.empty()) return problem;
  if (auto problem = check_percentages(workload); !problem.empty()) return problem;
  const auto& requests = workload.requests;
  if (requests.ims_200_percent + requests.ims_304_percent + requests.reload_percent +
          requests.etag_200_percent + requests.etag_304_percent + requests.range_percent >
      100) {
    return "requests.reload_percent: ims_200_percent, ims_304_percent, reload_percent, "
           "etag_200_percent, etag_304_percent and range_percent come to more than 100 together";
  }
  if (requests.post_percent + requests.head_percent > 100) {
    return "requests.head_percent: post_percent and head_percent come to more than 100 together";
  }
  if (requests.range_percent > 0 && !(requests.range_size.mean() > 0)) {
    return "requests.range_size: must be above 0 on average, as range_percent asks for ranges";
  }
  if (workload.popularity.hot_set_share_percent > 0 && workload.popularity.hot_set_percent <= 0) {
    return "popularity.hot_set_percent: must be above 0, as hot_set_share_percent asks for the hot "
           "set";
  }
  for (const auto& [key, length] :
       {std::pair{"robot.requests_per_connection", &workload.robot.requests_per_connection},
        std::pair{"server.requests_per_connection", &workload.server.requests_per_connection}}) {
    if (!(length->mean() >= 1)) return std::string(key) + ": must be at least 1 on average";
  }
  if (!(workload.popularity.zipf_skew >= 0 && workload.popularity.zipf_skew <= 100)) {
    return "popularity.zipf_skew: must lie from 0 (uniform) to 100";
  }
  if (!(workload.popularity.zipf_exponent >= 0 && workload.popularity.zipf_exponent <= 10)) {
    return "popularity.zipf_exponent: must lie from 0 (none) to 10";
  }
  if (workload.popularity.zipf_skew > 0 && workload.popularity.zipf_exponent > 0) {
    return "popularity.zipf_exponent: zipf_skew is another law, one of the two must be 0";
  }
  if (!(workload.robot.requests_per_second > 0 && workload.robot.requests_per_second <= 1e6)) {
    return "robot.requests_per_second: must lie above 0, up to 1000000";
  }
  if (workload.robot.connections_max < 1 || workload.robot.connections_max > 10000) {
    return "robot.connections_max: must lie from 1 to 10000";
  }
  return {};
}

}  // namespace workload
