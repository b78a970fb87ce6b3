#include "storage/layout/known_stores.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>

namespace storage {

namespace {

struct KnownStore {
  std::string_view file;
  std::string_view what;
};

constexpr std::array<KnownStore, 3> kKnownStores = {{
    {kUfsMarkerName, "holds a ufs store: give scheme=ufs, aufs or diskd, or another folder"},
    {kCossNameInFolder, "holds a coss store: give scheme=coss, or another folder"},
    {kRockNameInFolder, "holds a rock store: give scheme=rock, or another folder"},
}};

}  // namespace

std::string store_in_folder(int directory_fd) {
  for (const KnownStore& store : kKnownStores) {
    struct stat status {};
    const std::string file(store.file);
    if (::fstatat(directory_fd, file.c_str(), &status, 0) == 0) return std::string(store.what);
  }
  return {};
}

}  // namespace storage
