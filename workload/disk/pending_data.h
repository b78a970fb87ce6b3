// The bytes of writes that are not on the medium yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace workload::disk {

/// Some bytes of the disk. Shares them with whoever else has the piece.
struct DataPiece {
  uint64_t offset_bytes = 0;
  uint64_t order = 0;  ///< Grows with every write; parts of one write have the same.
  std::shared_ptr<const std::vector<std::byte>> buffer;
  size_t begin = 0;  ///< In the buffer.
  size_t length_bytes = 0;

  uint64_t end_bytes() const { return offset_bytes + length_bytes; }
  std::span<const std::byte> bytes() const {
    return std::span(*buffer).subspan(begin, length_bytes);
  }
  /// The part of it from here to there, both within it.
  DataPiece part(uint64_t from_bytes, uint64_t to_bytes) const;
};

/// Of each byte of the disk what was written last. The memory it takes is at most twice the bytes
/// that it holds. One thread.
class PendingData {
 public:
  void write(uint64_t offset_bytes, std::vector<std::byte> bytes);
  /// What it has of these bytes of the disk.
  std::vector<DataPiece> find(uint64_t offset_bytes, uint64_t length_bytes) const;
  /// Takes that out.
  std::vector<DataPiece> take(uint64_t offset_bytes, uint64_t length_bytes);
  /// Takes everything out, in the order in which it was written.
  std::vector<DataPiece> take_all();
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  void add(DataPiece piece);

  std::map<uint64_t, DataPiece> pieces_;
  uint64_t size_bytes_ = 0;
  uint64_t writes_ = 0;
};

}  // namespace workload::disk
