// By what file a folder is known to hold a store of cacheoff, and of which kind.
#pragma once

#include <string>
#include <string_view>

namespace storage {

/// The file of each ufs store that says what the folder is and carries the lock.
inline constexpr std::string_view kUfsMarkerName = "cacheoff-ufs";
/// The file of a coss or a rock store whose path names a folder.
inline constexpr std::string_view kCossNameInFolder = "cacheoff-coss";
inline constexpr std::string_view kRockNameInFolder = "cacheoff-rock";

/// What kind of store the open folder holds and how that is opened, for a message that says why
/// another kind cannot be; empty where it holds none. Blocks for a few stat(2).
std::string store_in_folder(int directory_fd);

}  // namespace storage
