// The slots that this rank owns and nobody uses, and the memory behind them (paper 004, sections 3.2, 4.2).
//
// Each slot of the area is owned by one rank or by one thread. A slot is in `mine` when this rank owns it; a thread,
// or whoever takes it, has it from take() until give(). Slots keep their owners when threads move: no map changes.
//
//   in mine, memory may be mapped:  mapped <= mine      the cache of mapped empty slots, bounded
//   not in mine: another rank's, or a thread's
//
// While another rank negotiates (cluster/negotiate), the map is frozen: nothing is taken, and what is given waits in
// `late` until the map is thawed. Memory of slots in use may be read, written and freed as ever.
#pragma once

#include "base/spinlock.hpp"
#include "iso/distribution.hpp"
#include "iso/long_series.hpp"
#include "iso/slot_map.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nth::detail::iso {

constexpr unsigned least_slot_log2 = 16; // 64 KiB, paper 004, section 3.2
constexpr std::uintptr_t preferred_iso_base =
    0x3000'0000'0000; // clear of the area of stacks (memory/area.cpp)

struct slot_setting {     // the same on all ranks, but `rank`
  std::uintptr_t base{0}; // 0: preferred_iso_base, else where the kernel puts it
  std::size_t bytes{0};   // halved while the kernel refuses, when base is 0; whole slots
  unsigned slot_log2{least_slot_log2};
  int rank{0};
  int ranks{1};
  distribution spread{};
  slot cache{256}; // mapped empty slots that are kept
};

enum class taking : std::uint8_t {
  ok,
  none,     // this rank has no such series
  frozen,   // wait for thaw()
  no_memory // there are slots, but the kernel refused memory for them; nothing was changed
};

class slot_store {
public:
  // Reserves the area, or, with `reserved`, uses what the caller has reserved at setting.base.
  bool open(const slot_setting &setting, bool reserved = false) noexcept;
  void close() noexcept;
  bool is_open() const noexcept { return base_address != 0; }

  // ---- By any kernel thread ----

  // `count` slots side by side, readable and writable. They hold zeros or what they held last. One slot comes from
  // the cache when it can, more are the lowest there are; none for a count below 1.
  taking take(slot count, slot &first) noexcept;
  // The `more` slots right behind [first, first + count) too. False: they are not ours, or frozen, or no memory.
  bool extend(slot first, slot count, slot more) noexcept;
  // Back, to this rank: whichever rank they came from. Their memory is kept in the cache when it fits.
  void give(slot first, slot count) noexcept;
  // Slots of a thread that arrives, or that were bought: readable and writable here from now on. They are in nobody's
  // map; a map that is frozen may show them still, when its rank has not heard yet that it has sold them.
  bool commit(slot first, slot count) noexcept;
  // Slots of a thread that leaves: their memory goes to the kernel.
  void discard(slot first, slot count) noexcept;

  // ---- By whoever negotiates (cluster/), one at a time ----

  // A rank sells: `count` slots side by side and up to `extra` more behind them, out of the map, memory gone.
  // count 0 of the result: it has no such series, or is frozen.
  // Of `extra` no more than leaves it half of what it owns.
  slot_range sell(slot count, slot extra) noexcept;
  void add(slot_range bought) noexcept; // into the map; while frozen, to `late`
  void freeze() noexcept;
  void thaw() noexcept;
  bool is_frozen() const noexcept { return frozen.load(std::memory_order_acquire); }
  // While frozen. Series of the map from slot `from` on, maximal, as many as there is room for; up to slot
  // `covered` (size() when all) the list is complete.
  std::size_t list(slot from, slot_range *to, std::size_t room, slot &covered) noexcept;
  // While frozen: another rank has it now, that is, what is in the map of it; the result is how many slots are.
  // What is not in the map stays as it is, `late` ones too: it may have come back, as a thread's, already.
  slot remove(slot_range sold) noexcept;
  // While frozen: of the slots in `window` exactly these, in ascending order, are ours now; parts of them outside of
  // it are not looked at. Those that are given meanwhile come later.
  void replace(slot_range window, const slot_range *now, std::size_t count) noexcept;
  // No longer series than this is in the map. Cheap, may be more than there is; less than what was asked for when a
  // take or a sale has just failed, or when a sale took the last such series.
  slot longest() noexcept;
  slot owned() noexcept; // slots in the map, `late` ones too; exact

  // ---- What the area is ----

  std::uintptr_t base() const noexcept { return base_address; }
  std::size_t bytes() const noexcept { return total << log2; }
  slot size() const noexcept { return static_cast<slot>(total); }
  std::size_t slot_bytes() const noexcept { return std::size_t{1} << log2; }
  bool holds(std::uintptr_t address) const noexcept { return address - base_address < bytes(); }
  slot slot_of(std::uintptr_t address) const noexcept {
    return static_cast<slot>((address - base_address) >> log2);
  }
  std::uintptr_t address_of(slot s) const noexcept {
    return base_address + (static_cast<std::uintptr_t>(s) << log2);
  }
  const slot_setting &setting() const noexcept { return set; }

  struct numbers {
    slot
        taken; // take(), extend() and commit() less give() and discard(): with threads and the rank's own heap
    slot mapped; // in the cache
    slot most_taken;
    std::size_t committed; // bytes made readable and writable
  };
  numbers count() noexcept;

private:
  friend struct slot_store_view; // for tests

  bool reserve_area(bool reserved) noexcept;
  bool is_range(slot_range r) const noexcept {
    return r.first >= 0 && r.count > 0 && r.first < size() && r.count <= size() - r.first;
  }
  bool make_accessible(slot_range r) noexcept;
  bool commit_range(slot_range r) noexcept;
  void drop_memory(slot_range r) noexcept;
  slot pop_hint() noexcept;
  slot push_hint(slot s) noexcept;
  void tidy_ring() noexcept;
  bool keep(slot_range r, slot &evicted) noexcept;
  void put_back(slot evicted, bool thawing) noexcept;
  void leave(slot_range r) noexcept;
  void put(slot_range r) noexcept;
  slot_range take_out(slot_range r) noexcept;
  slot_range clip(slot_range r) const noexcept;
  void count_taken(slot more) noexcept;
  slot free_at_most() const noexcept { return at_start + change; }

  std::uintptr_t base_address{0};
  std::size_t total{0};
  unsigned log2{0};
  bool reserved_here{false};
  slot_setting set{};
  std::atomic<bool> frozen{false};

  spinlock lock; // of all that follows
  slot_map mine;
  slot_map mapped;
  slot_map late;
  slot_map
      accessible; // readable and writable in this process: whole windows, but where the kernel refused one

  // Slots of the cache by age. Each slot in `mapped` is in here; what else is in here is out of date.
  //
  //   oldest               newest - 1
  //     | s | s | stale | s | s |          indices modulo ring_size, a power of two
  slot *ring{nullptr};
  std::size_t ring_size{0};
  std::size_t oldest{0};
  std::size_t newest{0};
  slot mapped_slots{0}; // in `mapped`; <= set.cache

  long_series series;     // of `mine`
  slot at_start{0};       // owned then; the user's distribution: at most so many, until it is counted
  bool start_known{true}; // it was counted
  slot change{
      0}; // owned now, with those that wait or whose memory is on its way to the kernel, less at_start
  slot taken_slots{0};
  slot most_taken_slots{0};
  slot accessible_slots{0};
};

extern slot_store the_slots;

// Who brings slots when this rank has none: negotiation, in a cluster run; null: nobody. Called without locks, by
// the thread that needs them; with `may_suspend` it may let other threads run meanwhile.
//   ok: [first, first + count) is the caller's, as by take(); none: no rank has such a series; no_memory.
using bring_slots = taking (*)(slot count, bool may_suspend, slot &first);
extern std::atomic<bring_slots> slots_from_afar;

// take(), and when that fails what slots_from_afar brings. ok, none or no_memory.
taking obtain(slot count, bool may_suspend, slot &first) noexcept;

} // namespace nth::detail::iso
