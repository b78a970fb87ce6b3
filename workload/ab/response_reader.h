// Reads one HTTP response as its bytes arrive: the head's few facts, and where the body ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace workload::ab {

/// What `ab` wants to know of a head.
struct ResponseHead {
  int status = 0;
  bool keep = false;  ///< The server will keep the connection open.
  bool chunked = false;
  std::optional<uint64_t> content_length;
  std::string server;    ///< The Server field, as it came.
  size_t date_at = 0;    ///< Where the Date field's value lies in the head; valid where
  size_t date_size = 0;  ///< this is above 0.
};

/// Reads a head that ends with an empty line. Nothing where it is none: a wrong status line, a
/// field without a colon, lengths that contradict each other or the chunks.
std::optional<ResponseHead> parse_head(std::string_view head);

/// Takes a response in pieces. All that it keeps is a head that is not whole yet, up to
/// kHeadBytesMax.
class ResponseReader {
 public:
  static constexpr size_t kHeadBytesMax = 64 << 10;
  static constexpr size_t kChunkLineBytesMax = 4096;
  static constexpr int kInterimMax = 16;

  enum class State {
    kHead,    ///< The head is not whole.
    kBody,    ///< More of the body is to come, or the end of the connection.
    kDone,    ///< The response is whole.
    kBroken,  ///< This is no HTTP; see reason().
  };

  /// A new response; `head_only`: to HEAD.
  void begin(bool head_only);
  /// The same, with a head that is known already.
  void begin_behind(const ResponseHead& head, bool head_only);

  /// Takes the next bytes from the front of `input` and returns those of the body among them (may
  /// be none while input is left). To be called until the input is empty or the state is kDone or
  /// kBroken; what is left then is behind the response.
  std::string_view take(std::string_view& input);

  /// The connection has ended: kDone where that is how the body ends; else the state stays.
  void end_of_stream();

  State state() const { return state_; }
  /// Valid from kBody on.
  const ResponseHead& head() const { return head_; }
  /// The head's bytes; valid from kBody on, if the head was not known before.
  std::string_view head_text() const { return text_; }
  /// Whether any byte of the response has come.
  bool begun() const { return begun_; }
  /// Why it is broken, for people.
  const char* reason() const { return reason_; }

 private:
  enum class Chunk { kSize, kData, kDataEnd, kTrailer };

  void take_head(std::string_view& input);
  void head_is_whole();
  void frame();
  std::string_view take_chunked(std::string_view& input);
  /// Takes up to the end of a line into line_; true where it is whole.
  bool take_line(std::string_view& input);
  void chunk_size_line();
  void fail(const char* reason);

  State state_ = State::kHead;
  Chunk chunk_ = Chunk::kSize;
  bool head_only_ = false;
  bool begun_ = false;
  bool until_close_ = false;
  int interim_ = 0;
  uint64_t left_ = 0;  ///< Of the body or chunk.
  size_t trailer_bytes_ = 0;
  std::string text_;
  std::string line_;
  ResponseHead head_;
  const char* reason_ = "";
};

}  // namespace workload::ab
