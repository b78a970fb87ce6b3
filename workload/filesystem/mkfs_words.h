// Which options of a filesystem's mkfs an experiment may set.
#pragma once

#include <string>
#include <string_view>

namespace workload {

/// What is wrong with `words`, options for the mkfs of that filesystem, in one line; empty where
/// nothing is. Only options known to shape the filesystem may stand there: what names another
/// device, file, folder or identity, makes nothing, or is no option at all (mkfs would take it for
/// a device, and mkfs.btrfs takes several) is refused. Of a filesystem that is not known nothing
/// may.
std::string why_not_mkfs_words(std::string_view filesystem, std::string_view words);

}  // namespace workload
