// The file-an-object layout on the engines that a user can choose: the schemes ufs and aufs.
#include <vector>

#include "storage/io/engine_factory.h"
#include "storage/layout/ufs_options.h"
#include "storage/layout/ufs_scheme.h"

namespace storage {

namespace {

std::vector<SchemeOption> with_engine(std::string_view default_engine) {
  const std::span<const SchemeOption> layout = ufs_option_table();
  std::vector<SchemeOption> options(layout.begin(), layout.end());
  for (const SchemeOption& option : engine_options(default_engine)) options.push_back(option);
  return options;
}

SchemeOrError make_on(std::string_view name, std::initializer_list<std::string_view> engines,
                      const SchemeSpec& spec, const SchemeEnvironment& environment) {
  SchemeOrError made;
  const EngineChoice choice = choose_engine(spec, engines, made.error);
  if (!made.error.empty()) return made;
  return make_file_per_object(name, spec, environment,
                              [&choice](int directory_fd, const SchemeEnvironment& outside) {
                                return make_engine(choice, directory_fd, outside);
                              });
}

}  // namespace

std::span<const SchemeOption> ufs_scheme_options() {
  static const std::vector<SchemeOption> kOptions = with_engine("blocking");
  return kOptions;
}

std::span<const SchemeOption> aufs_scheme_options() {
  static const std::vector<SchemeOption> kOptions = with_engine("thread_pool");
  return kOptions;
}

SchemeOrError make_ufs(const SchemeSpec& spec, const SchemeEnvironment& environment) {
  return make_on("ufs", {"blocking", "thread_pool", "io_uring"}, spec, environment);
}

SchemeOrError make_aufs(const SchemeSpec& spec, const SchemeEnvironment& environment) {
  return make_on("aufs", {"thread_pool", "io_uring", "blocking"}, spec, environment);
}

}  // namespace storage
