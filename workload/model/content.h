// What the objects of a workload are like, and each object as a pure function of its name.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/model/distributions.h"
#include "workload/model/object.h"

namespace workload {

/// When versions of an object follow each other. The k-th change comes at
/// birth + k * length + variance * U(-length / 2, length / 2); length and birth are the object's
/// own.
struct LifeCycle {
  Distribution length = Distribution::constant(30 * 86400e9);  ///< Durations.
  double variance_percent = 0;                                 ///< 0 to 100.
  friend bool operator==(const LifeCycle& left, const LifeCycle& right) = default;
};

/// One content type of a workload.
struct ContentModel {
  ContentType type = ContentType::kOther;
  /// Weight among the types that are asked for directly, or with `direct` false among those that
  /// occur embedded.
  double share_percent = 100;
  bool direct = true;
  Distribution size = Distribution::exponential(11 * 1024.0);  ///< Of bodies, bytes.
  double cachable_percent = 100;
  LifeCycle life_cycle;
  /// Number of objects embedded in an object of this type; counts. At most kEmbeddedMax are used.
  Distribution embedded;
  friend bool operator==(const ContentModel& left, const ContentModel& right) = default;
};

/// Most objects embedded in one page.
inline constexpr uint64_t kEmbeddedMax = 255;

/// The types that embedded objects have: those that are not asked for directly, chosen by their
/// shares (evenly where all are 0); where there is none, images.
std::vector<const ContentModel*> embeddable_types(const std::vector<ContentModel>& content);

/// Name of an object within a seed. The fields make up ObjectSpec::id, so they are bounded. Ids of
/// the types of PolyMix-4 are distinct; those of other types are hashes, distinct within a type.
struct ObjectName {
  uint16_t world = 0;  ///< Whose objects: generators with worlds of their own never collide.
  ContentType type = ContentType::kOther;  ///< Of the object itself; of its page where embedded.
  uint64_t index = 1;                      ///< Counts from 1 within world and type; below 2^36.
  uint8_t embedded = 0;  ///< 0: the object itself; k: the k-th object embedded in it.
  uint64_t id() const;
  friend bool operator==(const ObjectName& left, const ObjectName& right) = default;
};

/// Every object of a seed, as pure functions: the same name gives the same object on every machine
/// and at any time. Safe to use from any thread.
class ContentUniverse {
 public:
  /// `content` holds each type at most once.
  ContentUniverse(std::vector<ContentModel> content, uint64_t seed);

  /// The object; an embedded one has one of the embeddable types. The name's type must be part of
  /// the content.
  ObjectSpec object(const ObjectName& name) const;
  /// Fields of object(), for those who need no more.
  uint64_t size_bytes(const ObjectName& name) const;
  bool cachable(const ObjectName& name) const;
  /// How many objects the object embeds; 0 for one that is itself embedded.
  uint64_t embedded_count(const ObjectName& name) const;
  /// The model of a type, or null where the content has none.
  const ContentModel* model(ContentType type) const;

  /// Means over what a robot would ask for if it asked for new pages only, embedded objects
  /// included; what PolyMix-4 states as 10,713 B, 80 % and 65.8 %.
  struct Expectation {
    double size_bytes = 0;
    double cachable_percent = 0;
    double image_percent = 0;
  };
  Expectation expectation() const;

 private:
  const ContentModel& model_of(const ObjectName& name) const;
  storage::Random source(const ObjectName& name, uint64_t purpose) const;

  /// A type that embedded objects may have.
  struct Embeddable {
    ContentType type;
    double share = 0;  ///< Cumulated, the last one 1.
  };
  ContentType embedded_type(const ObjectName& name) const;

  std::vector<ContentModel> content_;
  uint64_t seed_;
  std::vector<Embeddable> embeddable_;
};

}  // namespace workload
