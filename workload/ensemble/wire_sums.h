// Structures that are nothing but sums, as bytes.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "workload/ensemble/wire.h"

namespace workload {

/// The fields of a structure whose members are all uint64_t, in their order.
template <class Sums>
auto fields_of(const Sums& sums) {
  static_assert(std::has_unique_object_representations_v<Sums>);
  return std::bit_cast<std::array<uint64_t, sizeof(Sums) / sizeof(uint64_t)>>(sums);
}

/// Writes such a structure.
template <class Sums>
void put_sums(WireWriter& writer, const Sums& sums) {
  for (const uint64_t field : fields_of(sums)) writer.number(field);
}

/// Reads it. Throws WireError where the message is too short.
template <class Sums>
Sums get_sums(WireReader& reader) {
  auto fields = fields_of(Sums());
  for (uint64_t& field : fields) field = reader.number();
  return std::bit_cast<Sums>(fields);
}

}  // namespace workload
