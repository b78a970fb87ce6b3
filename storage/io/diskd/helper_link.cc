#include "storage/io/diskd/helper_link.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "storage/io/diskd/message_queue.h"

namespace storage {

namespace {

unsigned slots_of(const HelperOptions& options) {
  return options.slots > 0 ? options.slots : std::max(1U, options.q2 * 13 / 10);
}

}  // namespace

HelperLink::HelperLink(const HelperOptions& options, OwnedFd folder)
    : program_(options.program.empty() ? default_helper_program() : options.program),
      slot_count_(slots_of(options)),
      messages_max_(options.q2),
      folder_(std::move(folder)) {}

std::unique_ptr<HelperLink> HelperLink::open(const HelperOptions& options, int root_fd,
                                             std::string& error) {
  OwnedFd folder(::openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) {
    error = "cannot open the folder: " + std::generic_category().message(errno);
    return nullptr;
  }
  std::unique_ptr<HelperLink> link(new HelperLink(options, std::move(folder)));
  link->state_ = HelperState::open(link->folder_.get(), options.timeout, error);
  if (link->state_ == nullptr) return nullptr;
  return link;
}

bool HelperLink::start(Random& random, std::string& error) {
  objects_ = IpcObjects::make(*state_, slot_count_, messages_max_, random, error);
  if (objects_ == nullptr) return false;
  free_slots_.clear();
  for (unsigned slot = slot_count_; slot > 0; --slot) free_slots_.push_back(slot - 1);
  process_ = HelperProcess::start(program_, *objects_, folder_.get(), state_->fd(), error);
  return process_ != nullptr;
}

std::string HelperLink::helper_text() const {
  const std::string number =
      process_ != nullptr ? ", process " + std::to_string(process_->pid()) : std::string();
  return "helper (" + program_ + number + ")";
}

int HelperLink::duplicate_end_fd() const {
  return ::fcntl(process_->end_fd(), F_DUPFD_CLOEXEC, 0);
}

void HelperLink::end(std::chrono::milliseconds wait_max) {
  if (process_ != nullptr) (void)process_->wait(wait_max);
  process_.reset();
  objects_.reset();
}

int HelperLink::send(const HelperRequest& request) {
  std::array<std::byte, kHelperRequestSizeMax> buffer;
  const size_t size = encode_request(request, buffer);
  return send_message(objects_->requests_id(), std::span(buffer).first(size));
}

int HelperLink::receive(HelperReply& reply) {
  std::array<std::byte, kMessageSizeMax> buffer;
  const ReceivedMessage received = receive_message(objects_->replies_id(), buffer);
  if (received.system_errno != 0) return received.system_errno;
  const std::optional<HelperReply> decoded =
      decode_reply(std::span(buffer).first(received.size_bytes));
  if (!decoded) return EPROTO;
  reply = *decoded;
  return 0;
}

uint32_t HelperLink::take_slot() {
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  slots_used_max_ = std::max(slots_used_max_, slot_count_ - free_slots_.size());
  return slot;
}

}  // namespace storage
