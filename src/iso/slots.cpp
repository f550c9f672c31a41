#include "iso/slots.hpp"

#include "base/error.hpp"
#include "os/advice.hpp"
#include "os/os.hpp"

#include <bit>

namespace nth::detail::iso {

constinit slot_store the_slots;
constinit std::atomic<bring_slots> slots_from_afar{nullptr};

namespace {

constexpr unsigned window_log2 = 26;    // 64 MiB are made readable and writable at once
constexpr std::size_t least_slots = 64; // fewer are no use: halving ends there
constexpr unsigned most_slot_log2 = 40;
constexpr std::size_t least_ring = 64;

std::uint64_t start_word(slot index, const void *context) noexcept {
  const auto *s = static_cast<const slot_setting *>(context);
  return s->spread.word(index, static_cast<slot>(s->bytes >> s->slot_log2), s->rank, s->ranks);
}

// All of 64 words: only where a rank has long series.
bool start_full(slot index, const void *context) noexcept {
  const auto *s = static_cast<const slot_setting *>(context);
  const slot_range hull = s->spread.hull(static_cast<slot>(s->bytes >> s->slot_log2), s->rank, s->ranks);
  return hull.first <= index * 64 && (index + 64) * 64 <= hull.end();
}

void *as_pointer(std::uintptr_t address) noexcept { return reinterpret_cast<void *>(address); }

} // namespace

// ---- Opening ---------------------------------------------------------------------------------------

bool slot_store::open(const slot_setting &setting, bool reserved) noexcept {
  if (is_open() || setting.slot_log2 < least_slot_log2 || setting.slot_log2 > most_slot_log2 ||
      setting.ranks < 1 || setting.rank < 0 || setting.rank >= setting.ranks || setting.cache < 0 ||
      (reserved && setting.base == 0) || setting.base % (std::size_t{1} << setting.slot_log2) != 0)
    return false;
  set = setting;
  log2 = setting.slot_log2;
  if (!reserve_area(reserved))
    return false;
  const slot slots = size();
  if (set.cache > slots)
    set.cache = slots;
  ring_size = std::bit_ceil(static_cast<std::size_t>(set.cache) * 2);
  if (ring_size < least_ring)
    ring_size = least_ring;
  ring = static_cast<slot *>(os::map_pages(ring_size * sizeof(slot)));
  const slot_range hull = set.spread.hull(slots, set.rank, set.ranks);
  const bool may_be_full = set.spread.kind == spread::partitioned;
  if (ring == nullptr || !mine.open(slots, {start_word, &set, hull, may_be_full ? start_full : nullptr}) ||
      !mapped.open(slots) || !late.open(slots) || !accessible.open(slots)) {
    close();
    return false;
  }
  start_known = set.spread.kind != spread::user;
  at_start = start_known ? set.spread.count(slots, set.rank, set.ranks) : slots;
  series.start(set.spread.longest_series(slots, set.ranks));
  return true;
}

// Halved while the kernel refuses, unless its place is given.
bool slot_store::reserve_area(bool reserved) noexcept {
  std::size_t bytes = set.bytes >> log2 << log2;
  if (!reserved) {
    const std::size_t largest = os::largest_reservation();
    const std::size_t least = least_slots << log2;
    if (bytes > largest && set.base == 0)
      bytes = largest >> log2 << log2;
    void *place = nullptr;
    for (; bytes != 0; bytes = bytes / 2 >> log2 << log2) {
      if (set.base != 0)
        place = os::reserve(as_pointer(set.base), bytes, slot_bytes());
      else if (os::address_is_ours_to_choose())
        place = os::reserve(as_pointer(preferred_iso_base), bytes, slot_bytes());
      if (place == nullptr && set.base == 0)
        place = os::reserve(nullptr, bytes, slot_bytes());
      if (place != nullptr || set.base != 0 || bytes / 2 < least)
        break;
    }
    if (place == nullptr)
      return false;
    set.base = reinterpret_cast<std::uintptr_t>(place);
  }
  if (bytes == 0)
    return false;
  set.bytes = bytes;
  base_address = set.base;
  total = bytes >> log2;
  reserved_here = !reserved;
  // Slots are touched here and there: a huge page would cost 2 MiB each time.
  os::advise_small(as_pointer(base_address), bytes);
  return true;
}

void slot_store::close() noexcept {
  if (!is_open())
    return;
  mine.close();
  mapped.close();
  late.close();
  accessible.close();
  if (ring != nullptr)
    os::unmap_pages(ring, ring_size * sizeof(slot));
  if (reserved_here)
    os::release(as_pointer(base_address), bytes());
  ring = nullptr;
  ring_size = oldest = newest = 0;
  mapped_slots = at_start = change = taken_slots = most_taken_slots = accessible_slots = 0;
  series.start(0);
  start_known = true;
  base_address = 0;
  total = 0;
  set = slot_setting{};
  frozen.store(false, std::memory_order_release);
}

// ---- Memory ----------------------------------------------------------------------------------------

bool slot_store::commit_range(slot_range r) noexcept {
  if (!os::commit(as_pointer(address_of(r.first)), static_cast<std::size_t>(r.count) << log2))
    return false;
  accessible_slots += r.count - accessible.count(r);
  accessible.set(r);
  return true;
}

// A window at a time: few calls, and windows side by side are one mapping for the kernel. Refused one, just what is
// wanted of it.
bool slot_store::make_accessible(slot_range r) noexcept {
  const slot window = log2 < window_log2 ? slot{1} << (window_log2 - log2) : 1;
  for (slot s = accessible.next_absent(r.first, r.end()); s < r.end();
       s = accessible.next_absent(s, r.end())) {
    const slot begin = s / window * window;
    const slot end = begin + window < size() ? begin + window : size();
    const slot wanted_end = end < r.end() ? end : r.end();
    if (!commit_range({begin, end - begin}) && !commit_range({s, wanted_end - s}))
      return false;
  }
  return true;
}

void slot_store::drop_memory(slot_range r) noexcept {
  os::discard(as_pointer(address_of(r.first)), static_cast<std::size_t>(r.count) << log2);
}

// ---- The cache -------------------------------------------------------------------------------------

// The slot that was given last of those that are still empty and mapped.
slot slot_store::pop_hint() noexcept {
  while (newest != oldest) {
    const slot s = ring[--newest & (ring_size - 1)];
    if (mapped.test(s))
      return s;
  }
  return no_slot;
}

// Without what is out of date, and what is in it twice; then half of it is empty at least.
void slot_store::tidy_ring() noexcept {
  std::size_t kept = newest; // [kept, newest): from the newest down, moved up
  for (std::size_t i = newest; i-- != oldest;) {
    const slot s = ring[i & (ring_size - 1)];
    if (!mapped.test(s))
      continue;
    mapped.clear({s, 1}); // until all are through: seen
    ring[--kept & (ring_size - 1)] = s;
  }
  oldest = kept;
  for (std::size_t i = oldest; i != newest; ++i)
    mapped.set({ring[i & (ring_size - 1)], 1});
}

// `s` is in `mapped` now. Beyond the bound the oldest leaves both maps: its memory must go to the kernel, without the
// lock, and then put_back() has it. no_slot: none.
slot slot_store::push_hint(slot s) noexcept {
  slot evicted = no_slot;
  while (mapped_slots > set.cache) {
    const slot old = ring[oldest++ & (ring_size - 1)];
    if (!mapped.test(old) || old == s)
      continue;
    evicted = old;
    leave({old, 1});
    mine.clear({old, 1});
  }
  if (newest - oldest == ring_size)
    tidy_ring();
  ring[newest++ & (ring_size - 1)] = s;
  return evicted;
}

// These slots, of `mine`, are no longer in the cache.
void slot_store::leave(slot_range r) noexcept {
  if (mapped_slots == 0)
    return;
  mapped_slots -= r.count == 1 ? static_cast<slot>(mapped.test(r.first)) : mapped.count(r);
  mapped.clear(r);
}

// Into the map, with their memory if there is room in the cache: one slot always, by eviction of another; more when
// they fit as they are. False: nothing was done, for their memory must go first.
bool slot_store::keep(slot_range r, slot &evicted) noexcept {
  evicted = no_slot;
  if (set.cache == 0 || (r.count > 1 && mapped_slots + r.count > set.cache))
    return false;
  put(r);
  for (slot s = r.end(); s-- > r.first;) { // the lowest is taken first
    mapped.set({s, 1});
    ++mapped_slots;
    evicted = push_hint(s);
  }
  return true;
}

// What push_hint() evicted. Thawing, the map may change: it does not wait for itself.
void slot_store::put_back(slot evicted, bool thawing) noexcept {
  if (evicted == no_slot)
    return;
  drop_memory({evicted, 1});
  const lock_scope scope(lock);
  if (is_frozen() && !thawing)
    late.set({evicted, 1});
  else
    put({evicted, 1});
}

// ---- The map ---------------------------------------------------------------------------------------

void slot_store::put(slot_range r) noexcept {
  NTH_ASSERT(mine.none(r));
  mine.set(r);
  series.raise(mine, r, free_at_most());
}

void slot_store::count_taken(slot more) noexcept {
  taken_slots += more;
  if (taken_slots > most_taken_slots)
    most_taken_slots = taken_slots;
}

taking slot_store::take(slot count, slot &first) noexcept {
  if (count < 1 || count > size())
    return taking::none;
  const lock_scope scope(lock);
  if (is_frozen())
    return taking::frozen;
  slot found = count == 1 ? pop_hint() : no_slot;
  if (found != no_slot) {
    mapped.clear({found, 1});
    --mapped_slots;
  } else {
    found = series.find(mine, count);
    if (found == no_slot)
      return taking::none;
    if (!make_accessible({found, count}))
      return taking::no_memory;
    leave({found, count});
  }
  mine.clear({found, count});
  change -= count;
  count_taken(count);
  first = found;
  return taking::ok;
}

bool slot_store::extend(slot first, slot count, slot more) noexcept {
  if (!is_range({first, count}) || more < 0)
    return false;
  const slot_range behind{first + count, more};
  if (more == 0)
    return true;
  if (!is_range(behind))
    return false;
  const lock_scope scope(lock);
  if (is_frozen() || !mine.all(behind) || !make_accessible(behind))
    return false;
  leave(behind);
  mine.clear(behind);
  change -= more;
  count_taken(more);
  return true;
}

void slot_store::give(slot first, slot count) noexcept {
  const slot_range r{first, count};
  NTH_ASSERT(is_range(r));
  if (!is_range(r))
    return;
  slot evicted = no_slot;
  bool done = true;
  lock.lock();
  change += count;
  count_taken(-count);
  if (is_frozen())
    late.set(r);
  else
    done = keep(r, evicted);
  if (!done) {
    lock.unlock();
    drop_memory(r); // nobody has it now
    lock.lock();
    if (is_frozen())
      late.set(r);
    else
      put(r);
  }
  lock.unlock();
  put_back(evicted, false);
}

bool slot_store::commit(slot first, slot count) noexcept {
  if (!is_range({first, count}))
    return false;
  const lock_scope scope(lock);
  if (!make_accessible({first, count}))
    return false;
  if (is_frozen()) { // they were sold, and the message that says so is overtaken by who bought them
    leave({first, count});
    change -= mine.count({first, count});
    mine.clear({first, count});
  }
  count_taken(count);
  return true;
}

void slot_store::discard(slot first, slot count) noexcept {
  NTH_ASSERT(is_range({first, count}));
  if (!is_range({first, count}))
    return;
  drop_memory({first, count});
  const lock_scope scope(lock);
  count_taken(-count);
}

slot_store::numbers slot_store::count() noexcept {
  const lock_scope scope(lock);
  return {taken_slots, mapped_slots, most_taken_slots, static_cast<std::size_t>(accessible_slots) << log2};
}

// ---- From other ranks ------------------------------------------------------------------------------

taking obtain(slot count, bool may_suspend, slot &first) noexcept {
  if (count < 1 || count > the_slots.size())
    return taking::none;
  const taking here = the_slots.take(count, first);
  if (here == taking::ok || here == taking::no_memory)
    return here;
  const bring_slots bring = slots_from_afar.load(std::memory_order_acquire);
  return bring == nullptr ? taking::none : bring(count, may_suspend, first);
}

} // namespace nth::detail::iso
