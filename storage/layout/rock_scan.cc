#include "storage/layout/rock_scan.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <unordered_set>
#include <utility>

#include "storage/layout/aligned_buffer.h"
#include "storage/layout/change_signal.h"

namespace storage {

namespace {

constexpr unsigned kScannersMax = 4;
constexpr size_t kBatchSize = 1024 * 1024;

// What is kept of a slot. Generations are unique, so the hash need not be.
struct FoundSlot {
  uint64_t generation = 0;
  uint32_t index = 0;
  uint32_t next = 0;
  uint32_t payload_size_bytes = 0;
  RockPart part = RockPart::kHead;
  bool sound = false;
};

struct FoundHead {
  RockVersion version;
  RockObject object;
};

// Shared by those who scan.
struct Progress {
  Progress(std::shared_ptr<File> file_in, const RockGeometry& geometry_in, uint32_t slot_count_in,
           boost::asio::any_io_executor executor)
      : file(std::move(file_in)),
        geometry(geometry_in),
        signal(std::move(executor)),
        slots(slot_count_in) {}

  uint32_t slot_count() const { return static_cast<uint32_t>(slots.size()); }
  void note(uint32_t number, std::span<const std::byte> bytes);

  const std::shared_ptr<File> file;
  const RockGeometry geometry;
  ChangeSignal signal;
  uint32_t next = 0;
  unsigned running = 0;
  Error failure;
  std::vector<FoundSlot> slots;
  std::vector<FoundHead> heads;
  RockScan result;
};

void Progress::note(uint32_t number, std::span<const std::byte> bytes) {
  const Result<RockSlot> slot = decode_rock_slot(geometry, number, bytes);
  if (!slot) {
    const bool damaged = slot.error().code == Errc::kCorrupt && claims_to_start_rock_object(bytes);
    if (damaged) result.damaged_slots.push_back(number);
    return;
  }
  FoundSlot& found = slots[number];
  found.generation = slot->generation;
  found.index = slot->index;
  found.next = slot->next;
  found.payload_size_bytes = slot->payload_size_bytes;
  found.part = slot->part;
  found.sound = true;
  result.next_generation = std::max(result.next_generation, slot->generation + 1);
  if (!slot->starts_object()) return;
  FoundHead head;
  head.version.hash = slot->hash;
  head.version.generation = slot->generation;
  head.version.head_slot = number;
  head.object = slot->object;
  heads.push_back(head);
}

// One by one, since a batch cannot be read.
Task<void> read_singly(Progress& progress, uint32_t first, uint32_t count,
                       std::span<std::byte> buffer) {
  const size_t slot_size = progress.geometry.slot_size_bytes;
  for (uint32_t slot = first; slot < first + count; ++slot) {
    const std::span<std::byte> bytes = buffer.first(slot_size);
    const Result<size_t> got =
        co_await progress.file->read(progress.geometry.slot_offset(slot), bytes);
    if (got) {
      progress.note(slot, bytes.first(*got));
    } else if (got.error().code == Errc::kIo) {
      progress.result.unreadable_slots.push_back(slot);
    } else {
      co_return got.error();
    }
  }
  co_return Result<void>();
}

Task<void> read_batch(Progress& progress, uint32_t first, uint32_t count,
                      std::span<std::byte> buffer) {
  const size_t slot_size = progress.geometry.slot_size_bytes;
  const Result<size_t> got = co_await progress.file->read(progress.geometry.slot_offset(first),
                                                          buffer.first(count * slot_size));
  if (!got && got.error().code == Errc::kIo) {
    co_return co_await read_singly(progress, first, count, buffer);
  }
  if (!got) co_return got.error();
  for (uint32_t i = 0; i < count && i * slot_size < *got; ++i) {
    const size_t begin = i * slot_size;
    progress.note(first + i, buffer.subspan(begin, std::min(slot_size, *got - begin)));
  }
  co_return Result<void>();
}

boost::asio::awaitable<void> scan_some(std::shared_ptr<Progress> progress) {
  const size_t slot_size = progress->geometry.slot_size_bytes;
  const auto batch = static_cast<uint32_t>(std::max<size_t>(kBatchSize / slot_size, 1));
  const Space buffer = make_aligned_buffer(batch * slot_size);
  while (progress->next < progress->slot_count() && progress->failure.code == Errc::kNone) {
    const uint32_t first = progress->next;
    const uint32_t count = std::min(batch, progress->slot_count() - first);
    progress->next += count;
    const Result<void> read = co_await read_batch(*progress, first, count, buffer.bytes());
    if (!read) progress->failure = read.error();
  }
}

// Follows one part; false where a slot is missing, another's, or already another object's.
bool follow(const Progress& progress, std::vector<bool>& used, RockPart part, uint64_t generation,
            uint64_t size_bytes, uint32_t count, uint32_t first, std::vector<uint32_t>& chain) {
  uint32_t slot = first;
  for (uint32_t index = 0; index < count; ++index) {
    if (slot >= progress.slot_count() || used[slot]) return false;
    const FoundSlot& found = progress.slots[slot];
    const bool right =
        found.sound && found.part == part && found.generation == generation &&
        found.index == index &&
        found.payload_size_bytes == rock_payload_size(progress.geometry, size_bytes, index);
    if (!right) return false;
    used[slot] = true;
    chain.push_back(slot);
    slot = found.next;
  }
  return true;
}

// The whole chain of a head, or an empty one where it is not whole; `used` is changed only if it
// is.
RockChain chain_of(const Progress& progress, std::vector<bool>& used, const FoundHead& head) {
  const RockObject& object = head.object;
  RockChain chain;
  chain.head_count = object.head_slot_count(progress.geometry);
  const bool whole =
      follow(progress, used, RockPart::kHead, head.version.generation, object.head_size_bytes(),
             chain.head_count, head.version.head_slot, chain.slots) &&
      follow(progress, used, RockPart::kBody, object.body_generation,
             object.body_size_bytes - object.body_part_offset(), object.body_slot_count,
             object.first_body_slot, chain.slots);
  if (whole) return chain;
  for (const uint32_t slot : chain.slots) used[slot] = false;
  return RockChain();
}

void resolve(Progress& progress, unsigned key_hash_bits) {
  RockScan& result = progress.result;
  std::ranges::sort(progress.heads, std::greater<>(),
                    [](const FoundHead& head) { return head.version.generation; });
  std::vector<bool> used(progress.slot_count());
  std::unordered_set<KeyHash, KeyHashHasher> known;
  for (const FoundHead& head : progress.heads) {
    if (!known.insert(truncated(head.version.hash, key_hash_bits)).second) {
      // Also where the newer one is broken: the older one had been replaced.
      ++result.older_versions;
      result.stale.push_back(head.version);
      continue;
    }
    RockFoundObject object;
    object.version = head.version;
    object.body_size_bytes = head.object.body_size_bytes;
    object.chain = chain_of(progress, used, head);
    const auto beyond = [&](uint32_t slot) { return slot >= progress.geometry.slot_count; };
    if (object.chain.slots.empty()) {
      result.broken.push_back(head.version.head_slot);
      result.stale.push_back(head.version);
    } else if (std::ranges::any_of(object.chain.slots, beyond)) {
      result.stale.push_back(head.version);
    } else {
      result.objects.push_back(std::move(object));
    }
  }
  std::ranges::reverse(result.objects);
  std::ranges::reverse(result.stale);
}

}  // namespace

Task<RockScan> scan_rock(std::shared_ptr<File> file, RockGeometry geometry, uint32_t slot_count,
                         unsigned key_hash_bits, boost::asio::any_io_executor executor) {
  const auto progress = std::make_shared<Progress>(std::move(file), geometry, slot_count, executor);
  for (unsigned i = 0; i < kScannersMax; ++i) {
    ++progress->running;
    boost::asio::co_spawn(executor, scan_some(progress), [progress](std::exception_ptr thrown) {
      if (thrown) progress->failure = Error(Errc::kOverloaded);  // no memory
      --progress->running;
      progress->signal.notify();
    });
  }
  while (progress->running > 0) co_await progress->signal.wait_for_ever();
  if (progress->failure.code != Errc::kNone) co_return progress->failure;
  resolve(*progress, key_hash_bits);
  co_return std::move(progress->result);
}

}  // namespace storage
