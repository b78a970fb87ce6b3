#include "workload/ensemble/wire_run.h"

#include <algorithm>

#include "workload/ensemble/wire_sums.h"

namespace workload {
namespace {

constexpr uint64_t kKindMax = static_cast<uint64_t>(RequestKind::kRange);
constexpr uint64_t kMethodMax = static_cast<uint64_t>(RequestMethod::kPost);
constexpr uint64_t kBreakOffMax = 0xffff;

void put_object(WireWriter& writer, const ObjectSpec& object) {
  writer.number(object.seed);
  writer.number(object.id);
  writer.text(object.type.name());
  writer.number(object.size_bytes);
  writer.flag(object.cachable);
  writer.signed_number(object.last_modified_unix_s);
  writer.signed_number(object.lifetime_s);
}

ObjectSpec get_object(WireReader& reader) {
  ObjectSpec object;
  object.seed = reader.number();
  object.id = reader.number();
  const auto type = ContentType::named(reader.text());
  if (!type) throw WireError("a message names no content type");
  object.type = *type;
  object.size_bytes = reader.number_up_to(kObjectSizeBytesMax);
  object.cachable = reader.flag();
  object.last_modified_unix_s = reader.signed_number();
  object.lifetime_s = reader.signed_number();
  if (object.last_modified_unix_s < 0 || object.last_modified_unix_s > kLastModifiedMaxUnixS ||
      object.lifetime_s < 0 || object.lifetime_s > kLifetimeMaxS) {
    throw WireError("a message has an object out of range");
  }
  return object;
}

void put_request(WireWriter& writer, const IntendedRequest& request) {
  writer.number(request.sequence);
  writer.number(request.page_sequence);
  writer.flag(request.embedded);
  writer.number(request.embedded_following);
  put_object(writer, request.object);
  writer.number(static_cast<uint64_t>(request.kind));
  writer.number(static_cast<uint64_t>(request.method));
  writer.number(request.request_body_bytes);
  writer.number(request.part.offset_bytes);
  writer.number(request.part.size_bytes);
  writer.number(request.abort_after_bytes);
  writer.number(std::optional<uint64_t>(request.break_off));
  writer.flag(request.is_repeat);
  writer.flag(request.offered_hit_reference);
  writer.flag(request.offered_hit);
}

IntendedRequest get_request(WireReader& reader) {
  IntendedRequest request;
  request.sequence = reader.number();
  request.page_sequence = reader.number();
  request.embedded = reader.flag();
  request.embedded_following = reader.number();
  request.object = get_object(reader);
  request.kind = static_cast<RequestKind>(reader.number_up_to(kKindMax));
  request.method = static_cast<RequestMethod>(reader.number_up_to(kMethodMax));
  request.request_body_bytes = reader.number_up_to(kObjectSizeBytesMax);
  request.part.offset_bytes = reader.number_up_to(request.object.size_bytes);
  request.part.size_bytes =
      reader.number_up_to(request.object.size_bytes - request.part.offset_bytes);
  request.abort_after_bytes = reader.optional_number();
  const auto break_off = reader.optional_number();
  if (break_off) request.break_off = static_cast<uint16_t>(std::min(*break_off, kBreakOffMax));
  request.is_repeat = reader.flag();
  request.offered_hit_reference = reader.flag();
  request.offered_hit = reader.flag();
  return request;
}

size_t get_phase(WireReader& reader, size_t phases) {
  return reader.number_up_to(phases - 1);
}

}  // namespace

void put_time(WireWriter& writer, storage::SteadyTime time) {
  writer.signed_number(time.time_since_epoch().count());
}

storage::SteadyTime get_time(WireReader& reader) {
  return storage::SteadyTime(storage::Nanoseconds(reader.signed_number()));
}

void put_time(WireWriter& writer, const std::optional<storage::SteadyTime>& time) {
  writer.flag(time.has_value());
  if (time) put_time(writer, *time);
}

std::optional<storage::SteadyTime> get_optional_time(WireReader& reader) {
  if (!reader.flag()) return std::nullopt;
  return get_time(reader);
}

void put_page(WireWriter& writer, const ScheduledPage& page) {
  writer.number(page.grant.phase);
  writer.real(page.place);
  writer.number(page.requests.size());
  for (const IntendedRequest& request : page.requests) put_request(writer, request);
}

ScheduledPage get_page(WireReader& reader, size_t phases) {
  ScheduledPage page;
  page.grant.phase = get_phase(reader, phases);
  page.place = reader.real();
  page.grant.requests = reader.count();
  if (page.grant.requests == 0) throw WireError("a message has an empty page");
  for (uint64_t index = 0; index < page.grant.requests; ++index) {
    page.requests.push_back(get_request(reader));
  }
  return page;
}

void put_state(WireWriter& writer, const RunState& state) {
  writer.number(state.times.size());
  for (const PhaseTimes& times : state.times) {
    writer.number(times.phase);
    put_time(writer, times.from);
    put_time(writer, times.until);
  }
  put_time(writer, state.end);
  writer.number(state.granted);
  writer.number(state.fill_bytes);
  writer.flag(state.all_granted);
}

RunState get_state(WireReader& reader, size_t phases) {
  RunState state;
  for (size_t left = reader.count(); left > 0; --left) {
    PhaseTimes times;
    times.phase = get_phase(reader, phases);
    times.from = get_optional_time(reader);
    times.until = get_optional_time(reader);
    state.times.push_back(times);
  }
  state.end = get_optional_time(reader);
  state.granted = reader.number();
  state.fill_bytes = reader.number();
  state.all_granted = reader.flag();
  return state;
}

void put_counts(WireWriter& writer, const LiveCounts& counts) {
  put_sums(writer, counts);
}

LiveCounts get_counts(WireReader& reader) {
  return get_sums<LiveCounts>(reader);
}

void put_fills(WireWriter& writer, const std::vector<PhaseFill>& fills) {
  writer.number(fills.size());
  for (const PhaseFill& fill : fills) {
    writer.number(fill.phase);
    writer.number(fill.bytes);
  }
}

std::vector<PhaseFill> get_fills(WireReader& reader, size_t phases) {
  std::vector<PhaseFill> fills;
  for (size_t left = reader.count(); left > 0; --left) {
    PhaseFill fill;
    fill.phase = get_phase(reader, phases);
    fill.bytes = reader.number();
    fills.push_back(fill);
  }
  return fills;
}

void put_grants(WireWriter& writer, const std::vector<Grant>& grants) {
  writer.number(grants.size());
  for (const Grant& grant : grants) {
    writer.number(grant.phase);
    writer.number(grant.requests);
  }
}

std::vector<Grant> get_grants(WireReader& reader, size_t phases) {
  std::vector<Grant> grants;
  for (size_t left = reader.count(); left > 0; --left) {
    Grant grant;
    grant.phase = get_phase(reader, phases);
    grant.requests = reader.number();
    grants.push_back(grant);
  }
  return grants;
}

LiveCounts counts_since(const LiveCounts& all, const LiveCounts& before) {
  auto fields = fields_of(all);
  const auto earlier = fields_of(before);
  for (size_t index = 0; index < fields.size(); ++index) fields[index] -= earlier[index];
  return std::bit_cast<LiveCounts>(fields);
}

}  // namespace workload
