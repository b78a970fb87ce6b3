// What is answered to a request for a file, as a pure function of the request and of what is known
// of the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workload/origin/byte_ranges.h"
#include "workload/origin/conditions.h"
#include "workload/origin/origin_request.h"

namespace workload {

/// What fstat() says of a file, as far as it matters.
struct FileFacts {
  uint64_t inode = 0;
  uint64_t size_bytes = 0;
  int64_t modified_unix_ns = 0;
  int64_t changed_unix_ns = 0;  ///< Of the inode: what no program can set back.
};

/// How a file's bytes are on the wire.
enum class FileCoding {
  kIdentity,       ///< As they are.
  kPrecompressed,  ///< Those of the file `.gz` beside it, whose facts these are.
  kCompressed,     ///< As gzip makes them now. Nothing says that it makes the same bytes again.
};

/// The tag and date of a file's version, in texts of their own.
///
/// The tag is made of inode, size and time of change. While that time is less than two seconds ago
/// the tag is weak and the date no strong validator: a file may change twice within one tick of a
/// filesystem's clock. The tag of what was compressed just now is weak always.
class FileVersion {
 public:
  FileVersion(const FileFacts& facts, FileCoding coding, int64_t now_unix_ns);
  /// Valid as long as this object stays where it is.
  Validators validators() const;

 private:
  std::string etag_;
  int64_t last_modified_unix_s_;
  bool is_settled_;
};

/// Where a piece of a response comes from.
enum class PieceSource {
  kText,    ///< The answer's own text: heads.
  kFile,    ///< The file.
  kMemory,  ///< What was made of the file or in its place.
};
struct AnswerPiece {
  PieceSource source = PieceSource::kText;
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;
};

/// A response: pieces, one behind the other, of which the first is the head.
struct FileAnswer {
  unsigned status = 0;
  bool keep_alive = true;
  std::string text;  ///< What pieces of kText are parts of.
  std::vector<AnswerPiece> pieces;
  std::vector<ByteRange> ranges;  ///< Scratch memory.
};

/// The representation that was chosen, and what else an answer depends on.
struct FileContext {
  int64_t now_unix_s = 0;
  bool keep_alive = true;
  std::string_view media_type;
  FileCoding coding = FileCoding::kIdentity;
  bool negotiated = false;    ///< Whether Accept-Encoding could have made a difference.
  uint64_t size_bytes = 0;    ///< Of the body, coded.
  std::string_view boundary;  ///< Between the parts of a multipart answer: no one can guess it.
};

/// Answers a GET or HEAD whose conditions were evaluated. kCompressed has its body in memory, and
/// no ranges. HEAD gets the head that GET would get. Keeps the memory of `out`.
void answer_file(const OriginRequest& request, const FileContext& context,
                 const Validators& validators, Conditions conditions, FileAnswer& out);

/// Answers with a text of its own, complete; pieces of kText alone. `more_fields` are whole lines.
void answer_file_text(unsigned status, std::string_view text, std::string_view more_fields,
                      bool head_only, const FileContext& context, FileAnswer& out);

/// Answers with a page about a directory, whose `size_bytes` are in memory.
void answer_directory_page(bool head_only, const FileContext& context, FileAnswer& out);

/// Answers OPTIONS with the methods that there are.
void answer_options(const FileContext& context, FileAnswer& out);

/// Line of a head that 405 must have.
inline constexpr std::string_view kFileMethodsField = "Allow: GET, HEAD, OPTIONS\r\n";

}  // namespace workload
