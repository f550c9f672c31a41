// What negotiation does with the slots of a rank: slots.hpp, "By whoever negotiates".
#include "base/error.hpp"
#include "iso/slots.hpp"

namespace nth::detail::iso {

// A series of `mine` leaves it, and the cache; the lock is held. What it returns has memory, which must go to the
// kernel: from the first to the last slot that has any, for nobody uses those between.
slot_range slot_store::take_out(slot_range r) noexcept {
  NTH_ASSERT(mine.all(r));
  change -= r.count;
  mine.clear(r);
  if (mapped_slots == 0)
    return {};
  slot_range memory = mapped.next_run(r.first, r.end());
  for (slot_range next = memory; next.count != 0; next = mapped.next_run(next.end(), r.end()))
    memory.count = next.end() - memory.first;
  if (memory.count != 0 &&
      !accessible.all(memory)) { // rare, see make_accessible: what cannot be written is left out
    for (slot_range m = memory; (m = mapped.next_run(m.first, r.end())).count != 0; m.first = m.end())
      drop_memory(m);
    memory = {};
  }
  leave(r);
  return memory;
}

slot_range slot_store::clip(slot_range r) const noexcept {
  const slot first = r.first < 0 ? 0 : r.first;
  const slot end = r.count > size() - first ? size() : r.end();
  return first < end ? slot_range{first, end - first} : slot_range{};
}

slot_range slot_store::sell(slot count, slot extra) noexcept {
  if (count < 1 || count > size())
    return {};
  const slot all = owned(); // before the lock: it may have to count them
  slot_range sold;
  slot_range memory;
  {
    const lock_scope scope(lock);
    if (is_frozen())
      return {};
    const slot first = series.find(mine, count);
    if (first == no_slot)
      return {};
    const slot most = all / 2 - count;
    if (extra > most)
      extra = most;
    if (extra < 0)
      extra = 0;
    sold = {first, mine.next_absent(first + count, first + count + extra) - first};
    memory = take_out(sold);
    series.find(mine, count); // longest() shall say whether there is another one: who buys once may buy again
  }
  if (memory.count != 0)
    drop_memory(memory);
  return sold;
}

void slot_store::add(slot_range bought) noexcept {
  NTH_ASSERT(is_range(bought));
  if (!is_range(bought))
    return;
  const lock_scope scope(lock);
  change += bought.count;
  if (is_frozen())
    late.set(bought);
  else
    put(bought);
}

void slot_store::freeze() noexcept {
  const lock_scope scope(lock);
  frozen.store(true, std::memory_order_release);
}

// Frozen until what waits is in the map: else a search in between would miss it.
void slot_store::thaw() noexcept {
  for (;;) {
    slot_range r;
    slot evicted = no_slot;
    bool kept = false;
    {
      const lock_scope scope(lock);
      r = late.next_run(0, size());
      if (r.count == 0) {
        frozen.store(false, std::memory_order_release);
        return;
      }
      late.clear(r);
      kept = accessible.all(r) && keep(r, evicted); // what was bought may not be so
    }
    put_back(evicted, true);
    if (!kept) {
      drop_memory(r);
      const lock_scope scope(lock);
      put(r);
    }
  }
}

std::size_t slot_store::list(slot from, slot_range *to, std::size_t room, slot &covered) noexcept {
  const lock_scope scope(lock);
  covered = from < 0 ? 0 : from;
  for (std::size_t n = 0; n < room; ++n) {
    to[n] = mine.next_run(covered, size());
    if (to[n].count == 0) {
      covered = size();
      return n;
    }
    covered = to[n].end();
  }
  return room;
}

// The memory goes with the lock held: as soon as a slot is out of the map, a thread that has it may arrive.
slot slot_store::remove(slot_range sold) noexcept {
  const slot_range r = clip(sold);
  slot gone = 0;
  for (slot at = r.first; at < r.end();) {
    const lock_scope scope(lock);
    const slot_range part = mine.next_run(at, r.end());
    if (part.count == 0)
      break;
    const slot_range memory = take_out(part);
    if (memory.count != 0)
      drop_memory(memory);
    gone += part.count;
    at = part.end();
  }
  return gone;
}

void slot_store::replace(slot_range window, const slot_range *now, std::size_t count) noexcept {
  const slot_range in = clip(window);
  slot longest_now = 0;
  slot length = 0;
  slot last_end = no_slot;
  slot at = in.first;
  for (std::size_t i = 0; i < count; ++i) {
    slot_range r = clip(now[i]);
    const slot end = r.end() < in.end() ? r.end() : in.end();
    if (r.first < at)
      r.first = at;
    if (r.count == 0 || r.first >= end)
      continue;
    r.count = end - r.first;
    remove({at, r.first - at});
    at = end;
    const lock_scope scope(lock);
    change += r.count - mine.count(r);
    mine.set(r);
    series.raise(mine, r, free_at_most());
    length = r.first == last_end ? length + r.count : r.count;
    last_end = end;
    if (length > longest_now)
      longest_now = length;
  }
  remove({at, in.end() - at});
  if (in.count == size()) { // all is known
    const lock_scope scope(lock);
    series.start(longest_now);
  }
}

slot slot_store::longest() noexcept {
  const lock_scope scope(lock);
  return series.longest();
}

slot slot_store::owned() noexcept {
  lock.lock();
  if (!start_known) {
    // The user's function is called for each slot: not with the lock.
    lock.unlock();
    const slot counted = set.spread.count(size(), set.rank, set.ranks);
    lock.lock();
    at_start = counted;
    start_known = true;
  }
  const slot result = at_start + change;
  lock.unlock();
  return result;
}

} // namespace nth::detail::iso
