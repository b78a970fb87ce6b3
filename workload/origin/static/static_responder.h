// Answers requests for files.
#pragma once

#include <string>

#include "workload/origin/origin_responder.h"
#include "workload/origin/static/file_answer.h"
#include "workload/origin/static/media_type.h"
#include "workload/origin/static/request_path.h"
#include "workload/origin/static/static_site.h"

namespace workload {

/// A place among the responses that one thread has in memory at a time.
class MadeLease {
 public:
  /// `now` counts those of the thread and must outlive this.
  MadeLease(unsigned& now, unsigned max) : now_(now), max_(max) {}
  ~MadeLease() { now_ -= taken_ ? 1 : 0; }
  MadeLease(const MadeLease&) = delete;
  MadeLease& operator=(const MadeLease&) = delete;

  /// Whether there was a place, which is kept from then on.
  bool take() {
    taken_ = now_ < max_;
    now_ += taken_ ? 1 : 0;
    return taken_;
  }

 private:
  unsigned& now_;
  const unsigned max_;
  bool taken_ = false;
};

/// Opens, describes and sends a file for each request. Small files are read and sent with their
/// head in one call; of larger ones the kernel sends the pages (sendfile), so that a slow peer
/// costs no memory. Reads block the thread, as long as the filesystem takes: that is what is
/// measured.
class StaticResponder final : public OriginResponder {
 public:
  /// `site` must outlive this.
  explicit StaticResponder(const StaticSite& site) : site_(site) {}

  boost::asio::awaitable<bool> respond(OriginConnection& connection, const OriginRequest& request,
                                       bool keep_alive) override;

 private:
  enum class Step {
    kDone,
    kBlocked,  ///< The socket takes no more for now.
    kPause,    ///< Others should have their turn.
    kPeerGone,
    kFileFailed,  ///< The file is shorter than it was, or cannot be read.
  };

  /// Finds what is asked for. True: it is a file, which is open. False: the answer is complete.
  bool find_file(const OriginRequest& request, MadeLease& lease);
  bool answer_status(unsigned status, const OriginRequest& request,
                     std::string_view more_fields = {});
  bool answer_directory(const OriginRequest& request, MadeLease& lease);
  bool redirect_to_directory(const OriginRequest& request);
  /// Takes the open file as it is, what is beside it, or what is to be made of it; false: 406, and
  /// the answer is complete.
  bool choose_coding(const OriginRequest& request, MadeLease& lease);
  bool take_precompressed();
  /// Makes the body; false where the file cannot be read whole.
  boost::asio::awaitable<bool> compress(OriginConnection& connection);
  boost::asio::awaitable<bool> send(OriginConnection& connection);
  Step push(OriginConnection& connection);
  void advance(OriginConnection& connection, uint64_t bytes);

  const StaticSite& site_;
  RequestPath path_;
  OpenedFile file_;
  FileType type_;
  FileContext context_;
  int64_t now_unix_ns_ = 0;
  FileAnswer answer_;
  size_t piece_ = 0;  ///< Of the answer, that is sent next.
  std::string made_;  ///< What pieces of kMemory are parts of.
  std::string boundary_;
};

}  // namespace workload
