// Which rank owns which slot when a run begins (paper 004, section 4.1, "Slot distribution").
#pragma once

#include <cstdint>

namespace nth::detail::iso {

using slot = std::int64_t; // a slot's number: 0 is the lowest address of the area
constexpr slot no_slot = -1;

struct slot_range {
  slot first{no_slot};
  slot count{0};
  constexpr slot end() const noexcept { return first + count; }
};

// How slots are distributed at the start.
enum class spread : std::uint8_t {
  partitioned,  // rank r has slots [r * slots / ranks, (r + 1) * slots / ranks)
  block_cyclic, // series of `series` slots in turn
  cyclic,       // slot i belongs to rank i % ranks, as in the paper
  user          // a function says so: nth_set_slot_distribution
};

using owner_function = int (*)(long slot, long slots, int ranks);

struct distribution {
  spread kind{spread::partitioned};
  slot series{1};                // block_cyclic
  owner_function owner{nullptr}; // user; the same answer on all ranks, each time

  // Reads "partitioned", "cyclic", "block-cyclic" (series of 16), "block-cyclic:N" or "user"; null and "" are
  // partitioned. False: none of these, or "user" without a function.
  bool parse(const char *text) noexcept;

  // Answers of a user's function that are no rank make the slot nobody's.
  int owner_of(slot s, slot slots, int ranks) const noexcept;
  // 64 slots from 64 * word on, as bits: 1, rank owns it.
  std::uint64_t word(slot word, slot slots, int rank, int ranks) const noexcept;
  // No more than so many slots side by side belong to one rank.
  slot longest_series(slot slots, int ranks) const noexcept;
  // All slots of the rank lie in it; count 0: it has none.
  slot_range hull(slot slots, int rank, int ranks) const noexcept;
  // How many slots the rank has. For `user` it asks for each slot.
  slot count(slot slots, int rank, int ranks) const noexcept;
};

// What nth_set_slot_distribution was given.
extern owner_function user_distribution;

} // namespace nth::detail::iso
