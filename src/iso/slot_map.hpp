// A set of slots: a bit for each, and bits above that say where there is nothing, so that 2^28 slots are searched in
// a few steps (paper 004, section 4.2; there 7 KiB in one level).
//
//   level 4   1 word          a bit a word below; 1: surely nothing there, 0: maybe
//   level 3   16 words ...    (of 2^28 slots)
//   level 2   1,024 words
//   level 1   65,536 words
//   level 0   a bit a slot    1: in the set
//
// Level 0 alone says what is in the set. What lies below a bit that says "nothing" has not been written, or not since,
// and its own such bits may say "maybe".
// The memory is reserved and reads as zero until it is touched. A word of level 0 that has never been written stands
// for what the map was opened with; `known` has a bit a word that has.
#pragma once

#include "iso/distribution.hpp"

#include <cstddef>
#include <cstdint>

namespace nth::detail::iso {

// Not safe among kernel threads: its user locks.
class slot_map {
public:
  // What words hold that were never written.
  struct pattern {
    std::uint64_t (*word)(slot index, const void *context); // the same answer each time
    const void *context;
    slot_range hull{0, 0}; // nothing is in it outside of this
    // Whether all bits of the 64 words from `index` on are 1; may be null, and false when not known.
    bool (*full)(slot index, const void *context){nullptr};
  };
  static constexpr slot most_slots = slot{1} << 36;

  // A map of `slots` bits. Without a pattern nothing is in the set. False: no memory, or no such number of slots.
  bool open(slot wanted, const pattern &initial) noexcept;
  bool open(slot wanted) noexcept { return open(wanted, pattern{nullptr, nullptr}); }
  void close() noexcept;

  // Ranges lie within [0, size()).
  slot size() const noexcept { return slots; }
  bool test(slot s) const noexcept { return (peek(word_of(s)) >> (s % word_bits) & 1) != 0; }
  bool all(slot_range r) const noexcept { return next_absent(r.first, r.end()) >= r.end(); }
  bool none(slot_range r) noexcept { return next_before(r.first, r.end()) == no_slot; }
  void set(slot_range r) noexcept;
  void clear(slot_range r) noexcept;

  // The first slot of the set at or after `from`; no_slot: there is none.
  slot next(slot from) noexcept { return next_before(from, slots); }
  // The first slot at or after `from` that is not in the set; size() if there is none.
  slot next_absent(slot from) const noexcept { return next_absent(from, slots); }
  // Not before `limit` is as good as `limit`: it searches no further.
  slot next_absent(slot from, slot limit) const noexcept;
  // How many slots right before `s` are in the set; no more than about `most` are looked at.
  slot run_before(slot s, slot most) const noexcept;
  // The first series, maximal, at or after `from` (cut at `limit`); count 0: none.
  slot_range next_run(slot from, slot limit) noexcept;
  // The lowest `count` slots side by side, at or after `from`; no_slot: there are none.
  slot find(slot count, slot from = 0) noexcept;
  // The number of slots in the set: reads all of it.
  slot count() const noexcept { return count({0, slots}); }
  slot count(slot_range r) const noexcept;

private:
  static constexpr slot word_bits = 64;
  static constexpr int most_levels = 6; // 64^6 = most_slots

  static std::size_t word_of(slot s) noexcept { return static_cast<std::size_t>(s / word_bits); }
  std::uint64_t peek(std::size_t w) const noexcept;
  void write(std::size_t w, std::uint64_t bits) noexcept;
  void mark_some(std::size_t w) noexcept;
  void mark_none(std::size_t w) noexcept;
  std::size_t maybe(std::size_t from) const noexcept;
  std::size_t maybe_after(std::size_t visited) const noexcept;
  slot next_before(slot from, slot limit) noexcept;

  slot slots{0};
  std::size_t words{0}; // of level 0
  pattern untouched{nullptr, nullptr};
  std::uint64_t *known{nullptr};
  std::uint64_t *level[most_levels]{};
  int top{0}; // the level that is one word, 1 at least
  void *memory{nullptr};
  std::size_t memory_bytes{0};
};

} // namespace nth::detail::iso
