#include <string>

#include "tests/fuzz/workload/targets.h"
#include "workload/model/request_stream.h"
#include "workload/model/workload_file.h"

namespace testing_support {
namespace {

void run(std::string_view input) {
  std::string error;
  const auto workload = workload::parse_workload(input, "w.toml", error);
  require(workload.has_value() == error.empty(), "a file is read, or there is a reason");
  require(error.find('\n') == std::string::npos, "a reason is one line");
  if (!workload) return;
  require(workload::check_workload(*workload).empty(), "what was read can be run");
  std::string again;
  require(
      workload::parse_workload(workload::workload_to_toml(*workload), "w.toml", again) == workload,
      "what was read can be written and read");
  // Whatever a file may say, a stream of it ends up with objects that have URLs.
  workload::RequestStream stream(*workload, 1);
  for (int i = 0; i < 20; ++i) {
    const auto request = stream.next();
    require(workload::parse_object_path(workload::object_path(request.object)) == request.object,
            "an object has a URL");
    require(request.part.offset_bytes + request.part.size_bytes <= request.object.size_bytes,
            "a part lies within its object");
    require(!request.abort_after_bytes || *request.abort_after_bytes < request.object.size_bytes,
            "a response is broken off before its end");
  }
}

}  // namespace

FuzzTarget workload_file_target() {
  return {"workload_file",
          run,
          {"base = \"polymix4\"\n[content.html]\nsize = \"exponential:32KB\"\n",
           "name = \"x\"\n[content.video]\nsize = \"lognormal:2MB,1MB\"\nembedded = \"zipf:9\"\n"
           "[content.thumb]\ndirect = false\n[popularity]\nzipf_exponent = 0.8\n"
           "zipf_order = \"fixed\"\nworking_set_objects_max = 5\n",
           "[requests]\nrecurrence_percent = 50\nrange_percent = 9\nrange_size = "
           "\"uniform:0B,1MB\"\npost_percent = 3\npost_target = \"repeat\"\n[robot]\n"
           "abort_percent = 30\nconnections_max = 2\n[server]\nthink = \"normal:2.5s,1s\"\n"
           "idle_timeout = \"15s\"\n",
           "base = \"cdn\"\n", "base = \"large\"\n[content]\nvideo = {share_percent = 1e2}\n"}};
}

}  // namespace testing_support
