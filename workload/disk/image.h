// Where a modelled disk keeps what is on its medium.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace workload::disk {

/// The medium's bytes. Both calls return 0 or an errno, and move all bytes or fail. Safe from any
/// thread, as long as no two touch the same bytes.
class Image {
 public:
  virtual ~Image() = default;
  virtual int read(uint64_t offset_bytes, std::span<std::byte> bytes) = 0;
  virtual int write(uint64_t offset_bytes, std::span<const std::byte> bytes) = 0;
};

/// A file, sparse where nothing was written. It is the medium itself: a modelled power cut takes
/// nothing from it, and it is not flushed to the machine's own disk.
class ImageFile final : public Image {
 public:
  /// Opens `path` or makes it. Nothing, and the reason in `error`, where that fails, where it is no
  /// regular file, and where it is there with another size.
  static std::unique_ptr<ImageFile> open(const std::string& path, uint64_t size_bytes,
                                         std::string& error);
  ~ImageFile() override;
  ImageFile(const ImageFile&) = delete;
  ImageFile& operator=(const ImageFile&) = delete;

  int read(uint64_t offset_bytes, std::span<std::byte> bytes) override;
  int write(uint64_t offset_bytes, std::span<const std::byte> bytes) override;

 private:
  explicit ImageFile(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace workload::disk
