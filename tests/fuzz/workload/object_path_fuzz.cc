#include <string>

#include "tests/fuzz/workload/targets.h"
#include "workload/model/object.h"
#include "workload/model/origin_abort.h"

namespace testing_support {
namespace {

void run(std::string_view input) {
  const auto object = workload::parse_object_path(input);
  if (object) {
    const auto path = input.substr(0, input.find('?'));
    require(workload::object_path(*object) == path, "an object has one path");
    require(path.size() <= 200, "a path has at most 200 characters");
    require(object->size_bytes <= workload::kObjectSizeBytesMax, "a size is bounded");
    require(workload::object_etag(*object).size() == 18, "a tag has 16 digits and its quotes");
    require(workload::object_etag(*object) != workload::outdated_etag(*object),
            "the tag of the version before is another");
    require(!workload::media_type(*object).empty(), "an object has a media type");
  }
  const auto type = workload::ContentType::named(input);
  if (type) {
    require(type->name() == input, "a type keeps its name");
    require(input.size() <= workload::ContentType::kNameLengthMax, "a name is bounded");
  }
  workload::parse_break_off(input);
}

}  // namespace

FuzzTarget object_path_target() {
  return {"object_path",
          run,
          {"/object/html/7-10100-2af8-6553f100-15180-6985f39aec7288ad-c.html",
           "/object/image/0-0-0-0-0-0-u.gif?fault=truncate", "video", "a-name-of-15-ch", "65535",
           "/object/a-name-of-15-ch/ffffffffffffffff-ffffffffffffffff-10000000000-"
           "3afff4417f-7fffffff-ffffffffffffffff-c"}};
}

}  // namespace testing_support
