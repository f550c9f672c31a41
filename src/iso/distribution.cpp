#include "iso/distribution.hpp"

#include <cstring>

namespace nth::detail::iso {

owner_function user_distribution = nullptr;

namespace {

constexpr slot default_series = 16;
constexpr slot longest_accepted_series = slot{1} << 40;
constexpr slot word_bits = 64;

// No overflow: slots times ranks is below 2^63, for slots of 64 KiB in 47 bits of address are 2^31.
constexpr slot begin_of_part(slot slots, int rank, int ranks) noexcept { return rank * slots / ranks; }

// Bits [first, first + count) of a word that begins at 0, cut at its ends.
constexpr std::uint64_t bits(slot first, slot end) noexcept {
  if (first < 0)
    first = 0;
  if (end > word_bits)
    end = word_bits;
  if (first >= end)
    return 0;
  return ~std::uint64_t{0} >> (word_bits - (end - first)) << first;
}

// "N", a decimal number of at least 1.
bool parse_series(const char *text, slot &series) noexcept {
  slot value = 0;
  for (const char *at = text; *at != 0; ++at) {
    if (*at < '0' || *at > '9')
      return false;
    value = 10 * value + (*at - '0');
    if (value > longest_accepted_series)
      return false;
  }
  if (value == 0)
    return false;
  series = value;
  return true;
}

} // namespace

bool distribution::parse(const char *text) noexcept {
  constexpr const char *with_series = "block-cyclic:";
  const std::size_t prefix = std::strlen(with_series);
  distribution result;
  if (text == nullptr || *text == 0 || std::strcmp(text, "partitioned") == 0) {
    result.kind = spread::partitioned;
  } else if (std::strcmp(text, "cyclic") == 0) {
    result.kind = spread::cyclic;
  } else if (std::strcmp(text, "block-cyclic") == 0) {
    result.kind = spread::block_cyclic;
    result.series = default_series;
  } else if (std::strncmp(text, with_series, prefix) == 0) {
    result.kind = spread::block_cyclic;
    if (!parse_series(text + prefix, result.series))
      return false;
  } else if (std::strcmp(text, "user") == 0 && user_distribution != nullptr) {
    result.kind = spread::user;
    result.owner = user_distribution;
  } else {
    return false;
  }
  *this = result;
  return true;
}

int distribution::owner_of(slot s, slot slots, int ranks) const noexcept {
  switch (kind) {
  case spread::block_cyclic:
    return static_cast<int>(s / series % ranks);
  case spread::cyclic:
    return static_cast<int>(s % ranks);
  case spread::user:
    return owner(static_cast<long>(s), static_cast<long>(slots), ranks);
  case spread::partitioned:
    break;
  }
  // The highest rank whose part begins at s or before: r * slots / ranks <= s, that is, r * slots < (s + 1) * ranks.
  return static_cast<int>(((s + 1) * ranks - 1) / slots);
}

std::uint64_t distribution::word(slot word, slot slots, int rank, int ranks) const noexcept {
  const slot first = word * word_bits;
  const slot end = first + word_bits < slots ? first + word_bits : slots;
  std::uint64_t result = 0;
  switch (kind) {
  case spread::partitioned:
    return bits(begin_of_part(slots, rank, ranks) - first, begin_of_part(slots, rank + 1, ranks) - first);
  case spread::block_cyclic:
    for (slot s = first; s < end;) {
      const slot next = (s / series + 1) * series;
      if (s / series % ranks == rank)
        result |= bits(s - first, (next < end ? next : end) - first);
      s = next;
    }
    return result;
  case spread::cyclic:
    for (slot s = first + (rank - first % ranks + ranks) % ranks; s < end; s += ranks)
      result |= std::uint64_t{1} << (s - first);
    return result;
  case spread::user:
    for (slot s = first; s < end; ++s)
      if (owner_of(s, slots, ranks) == rank)
        result |= std::uint64_t{1} << (s - first);
    return result;
  }
  return result;
}

slot distribution::longest_series(slot slots, int ranks) const noexcept {
  if (ranks == 1 || kind == spread::user)
    return slots;
  if (kind == spread::partitioned)
    return (slots + ranks - 1) / ranks;
  const slot longest = kind == spread::cyclic ? 1 : series;
  return longest < slots ? longest : slots;
}

slot_range distribution::hull(slot slots, int rank, int ranks) const noexcept {
  if (kind != spread::partitioned)
    return {0, slots};
  const slot begin = begin_of_part(slots, rank, ranks);
  return {begin, begin_of_part(slots, rank + 1, ranks) - begin};
}

slot distribution::count(slot slots, int rank, int ranks) const noexcept {
  if (kind == spread::partitioned)
    return hull(slots, rank, ranks).count;
  if (kind == spread::user) {
    slot sum = 0;
    for (slot w = 0; w * word_bits < slots; ++w)
      sum += __builtin_popcountll(word(w, slots, rank, ranks));
    return sum;
  }
  const slot each = kind == spread::cyclic ? 1 : series;
  const slot whole = slots / each;
  const slot over = whole % ranks; // this rank has the series that the end of the area cuts
  const slot rest = rank == over ? slots % each : 0;
  return whole / ranks * each + (rank < over ? each : rest);
}

} // namespace nth::detail::iso
