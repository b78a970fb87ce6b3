// What kind of content a file's name says that it holds.
#pragma once

#include <string_view>

namespace workload {

/// A kind of content.
struct FileType {
  std::string_view media_type;
  bool compresses = false;  ///< Whether gzip makes it smaller as a rule.
};

/// The type of a file by what follows the last dot of its name, whatever its case;
/// `application/octet-stream` for what is not known. No character set is stated, as none is known.
FileType file_type_of(std::string_view path);

}  // namespace workload
