#include "thread/desc_memory.hpp"

#include "thread/ready.hpp"

namespace nth::detail {

free_pools<block, most_nodes> the_descs;

namespace {

// So many descriptors are carved before those that were just returned by other workers are used again:
// their lines still lie in another core's cache.
constexpr std::size_t carve_floor = 2048;

// What a worker may keep beside its window.
struct {
  long queued;   // in its queue
  long returned; // on their way into it
} worker_bound;

// Blocks of so few, from a worker that ran dry, join the window. Larger ones are worth their look ahead.
constexpr std::uint32_t small_block = 8;

long made{0};
long most{0};

void count_made(long n) noexcept {
  const long now = __atomic_add_fetch(&made, n, __ATOMIC_RELAXED);
  long highest = __atomic_load_n(&most, __ATOMIC_RELAXED);
  while (now > highest &&
         !__atomic_compare_exchange_n(&most, &highest, now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

bool on_stacks() noexcept { return the_runtime.policy == NTH_POLICY_DOS; }

// ---- Back to the kernel --------------------------------------------------------------------------------

// Generations outlive the pages of descriptors, so that no handle of an ended thread is taken for one of
// a later thread: each part keeps the latest that it has lost. Generations begin anew after 2^16, so of two
// the later one is that which fewer steps lead to; a descriptor's own is met again after 2^15 uses at least.
void keep_generations(part &from, std::uintptr_t begin, std::size_t bytes) noexcept {
  auto latest = static_cast<std::uint16_t>(__atomic_load_n(&from.kept_number, __ATOMIC_RELAXED));
  const auto look = [&latest](std::uintptr_t at) {
    const std::uint16_t g = generation_of(reinterpret_cast<const nth_desc *>(at));
    latest = static_cast<std::int16_t>(g - latest) > 0 ? g : latest;
  };
  if (on_stacks()) {
    look(begin + bytes - sizeof(stack_top) - sizeof(nth_desc));
  } else {
    for (std::uintptr_t at = begin; at < begin + bytes; at += sizeof(nth_desc))
      look(at);
  }
  __atomic_store_n(&from.kept_number, latest, __ATOMIC_RELAXED);
}

void restore_generation(nth_desc *d) noexcept {
  const part &of = the_area.part_of(d);
  const auto kept = static_cast<std::uint16_t>(__atomic_load_n(&of.kept_number, __ATOMIC_RELAXED));
  __atomic_store_n(&d->generation, kept, __ATOMIC_RELAXED);
}

void release_blocks_of_descs(chain<block> c) noexcept {
  {
    release_run descs(0, keep_generations);
    long count = 0;
    for (const block *b = c.head; b != nullptr; b = b->next) {
      count += b->hi;
      for (std::uint32_t i = 0; i < b->hi; ++i) {
        if (on_stacks())
          the_stacks.give_back(reinterpret_cast<stack_top *>(b->slot[i] + 1), keep_generations);
        else
          descs.give(the_area.part_of(b->slot[i]), b->slot[i]);
      }
    }
    count_made(-count);
  }
  for (block *b = c.head, *next = nullptr; b != nullptr; b = next) {
    next = b->next;
    chain<block> empty;
    empty.push(b);
    the_blocks.put(empty, the_area.node_of(b));
  }
}

// ---- A worker's queue of full blocks -------------------------------------------------------------------

void queue_push(worker *w, block *b) noexcept {
  b->next = nullptr;
  if (w->free_last == nullptr)
    w->free_first = b;
  else
    w->free_last->next = b;
  w->free_last = b;
  w->free_queued += b->hi;
}

block *queue_pop(worker *w) noexcept {
  block *b = w->free_first;
  if (b != nullptr) {
    w->free_first = b->next;
    if (w->free_first == nullptr)
      w->free_last = nullptr;
    w->free_queued -= b->hi;
  }
  return b;
}

void add_to_chain(chain<block> &c, block *b) noexcept {
  b->next = c.head;
  c.head = b;
  c.count += b->hi;
}

// Past the bound half of the queue moves up, the older half.
void trim_queue(worker *w) noexcept {
  if (w->free_queued <= worker_bound.queued)
    return;
  chain<block> up;
  while (w->free_queued > worker_bound.queued / 2)
    add_to_chain(up, queue_pop(w));
  the_descs.put(up, w->node);
}

// A block of dead descriptors.
void keep_block(worker *w, block *b) noexcept {
  queue_push(w, b);
  trim_queue(w);
}

void use_block(worker *w, block *full) noexcept {
  if (w->free_descs != nullptr)
    give_block(w, w->free_descs);
  w->free_descs = full;
  w->free_count = full->hi;
  w->free_room = block_size;
  for (std::uint32_t i = 1; i <= prefetch_distance; ++i)
    __builtin_prefetch(full->slot[(full->hi - i) % block_size], 1);
  // The block behind it is read in a while: its lines may lie in another core's cache.
  if (const block *behind = w->free_first) {
    for (std::uint32_t i = 0; i < sizeof(block); i += 64)
      __builtin_prefetch(reinterpret_cast<const char *>(behind) + i, 1);
  }
}

// ---- Taking ----------------------------------------------------------------------------------------------

// Fills the window with fresh descriptors. Policy dos: each at the top of a stack of its own.
bool carve_descs(worker *w) noexcept {
  if (w->free_descs == nullptr) {
    w->free_descs = take_block(w);
    if (w->free_descs == nullptr)
      return false;
    w->free_room = block_size;
  }
  block *b = w->free_descs;
  content holds{};
  if (on_stacks()) {
    stack_top *top = the_stacks.carve(w->home, holds);
    if (top == nullptr)
      return false;
    b->slot[0] = reinterpret_cast<nth_desc *>(top) - 1;
    w->free_count = 1;
  } else {
    std::size_t count = block_size;
    auto *d = static_cast<nth_desc *>(
        the_area.carve(static_cast<unsigned>(region::descriptors), w->home, sizeof(nth_desc), count, holds));
    if (d == nullptr)
      return false;
    // Taken from the top of the window, so the lowest address goes last.
    for (std::size_t i = 0; i < count; ++i)
      b->slot[i] = d + (count - 1 - i);
    w->free_count = static_cast<std::uint32_t>(count);
  }
  for (std::uint32_t i = 0; holds == content::cleared && i < w->free_count; ++i)
    restore_generation(b->slot[i]);
  count_made(w->free_count);
  return true;
}

void take_returned(worker *w) noexcept {
  if (w->returned.load(std::memory_order_relaxed) == nullptr)
    return;
  block *oldest = oldest_first(w->returned.exchange(nullptr, std::memory_order_acquire));
  while (oldest != nullptr) {
    block *next = oldest->next;
    if (oldest->hi <= small_block && w->free_room != 0 && w->free_count + oldest->hi <= block_size) {
      for (std::uint32_t i = 0; i < oldest->hi; ++i)
        w->free_descs->slot[w->free_count++] = oldest->slot[i];
      give_block(w, oldest);
    } else {
      keep_block(w, oldest);
    }
    oldest = next;
  }
}

void put_loose(worker *w, nth_desc *d) noexcept {
  d->next = w->loose;
  w->loose = d;
  ++w->loose_count;
}

nth_desc *take_loose(worker *w) noexcept {
  nth_desc *d = w->loose;
  if (d != nullptr) {
    w->loose = d->next;
    --w->loose_count;
  }
  return d;
}

// A chain from the pools joins the own list. Descriptors of another node are not mixed with this node's.
void take_chain(worker *w, chain<block> c) noexcept {
  const bool near = the_area.node_of(c.head->slot[0]) == w->node;
  for (block *b = c.head, *next = nullptr; b != nullptr; b = next) {
    next = b->next;
    if (near) {
      queue_push(w, b);
      continue;
    }
    for (std::uint32_t i = 0; i < b->hi; ++i)
      put_loose(w, b->slot[i]);
    give_block(w, b);
  }
}

void take_pooled(worker *w, long wanted) noexcept {
  if (wanted == 1) {
    const chain<block> c = the_descs.take(w->node);
    if (c.head != nullptr)
      take_chain(w, c);
    return;
  }
  chain_stack<block> all = the_descs.take_many(w->node, wanted);
  while (all.first != nullptr)
    take_chain(w, all.pop());
}

// An empty window gets descriptors, or the loose ones get more. from_pools: so many are wanted from there; 0 once the
// pools have been asked. For one the pools may be left alone while little has been carved; several come from memory
// last. False: no memory. The caller trims the queue: what came from the pools may be more than it had at any time.
bool refill_window(worker *w, long &from_pools) noexcept {
  take_returned(w);
  if (w->free_count != 0)
    return true;
  const bool few = from_pools == 1 && !on_stacks() &&
                   the_area.at(region::descriptors, w->home).prefix() < carve_floor * sizeof(nth_desc);
  if (few && carve_descs(w))
    return true;
  block *b = queue_pop(w);
  if (b == nullptr && from_pools != 0) {
    take_pooled(w, from_pools);
    from_pools = 0;
    b = queue_pop(w);
    if (b == nullptr && w->loose != nullptr)
      return true;
  }
  if (b == nullptr)
    return carve_descs(w);
  use_block(w, b);
  return true;
}

} // namespace

nth_desc *take_desc_slow(worker *w) noexcept {
  if (nth_desc *d = take_loose(w))
    return d;
  long from_pools = 1;
  if (!refill_window(w, from_pools))
    return nullptr;
  trim_queue(w);
  return w->free_count != 0 ? w->free_descs->slot[--w->free_count] : take_loose(w);
}

nth_desc *take_linked_descs(worker *w, long n, nth_desc **last) noexcept {
  nth_desc *first = nullptr;
  nth_desc *end = nullptr;
  const auto append = [&first, &end](nth_desc *head, nth_desc *tail) {
    if (first == nullptr)
      first = head;
    else
      end->next = head;
    end = tail;
  };
  long from_pools = n;
  for (long left = n; left > 0;) {
    if (nth_desc *d = take_loose(w)) {
      d->next = nullptr;
      set_state_and_flags(d, member_by_need);
      append(d, d);
      --left;
    } else if (w->free_count != 0) {
      const long here = left < static_cast<long>(w->free_count) ? left : static_cast<long>(w->free_count);
      nth_desc *tail = nullptr;
      nth_desc *head = link_from_window(w, static_cast<std::uint32_t>(here), &tail);
      append(head, tail);
      left -= here;
    } else {
      from_pools = from_pools == 0 ? 0 : left;
      if (refill_window(w, from_pools))
        continue;
      while (first != nullptr) {
        nth_desc *const next = first->next;
        set_state(first, thread_state::free);
        release_desc(w, first);
        first = next;
      }
      trim_queue(w);
      return nullptr;
    }
  }
  trim_queue(w);
  *last = end;
  return first;
}

// ---- Giving ----------------------------------------------------------------------------------------------

void release_desc_slow(worker *w, nth_desc *d) noexcept {
  block *fresh = take_block(w);
  if (fresh == nullptr)
    return put_loose(w, d);
  if (w->free_descs != nullptr) {
    w->free_descs->hi = w->free_count;
    keep_block(w, w->free_descs);
  }
  w->free_descs = fresh;
  w->free_room = block_size;
  w->free_count = 1;
  fresh->slot[0] = d;
}

namespace {

void send_home(block *&r, int home) noexcept {
  worker *to = the_runtime.of_home(home);
  // Push only, and taken as a whole: no ABA of the list. Release: the home sees the members. The youngest
  // block says how many descriptors wait; it may have been taken and be in use elsewhere by now, but then the
  // exchange fails, unless it has become the head again in between, and the count is off for once.
  block *head = to->returned.load(std::memory_order_acquire);
  do {
    const std::uint32_t before = head == nullptr ? 0 : __atomic_load_n(&head->depth, __ATOMIC_RELAXED);
    if (before + r->hi > static_cast<std::uint64_t>(worker_bound.returned)) {
      chain<block> one;
      add_to_chain(one, r);
      the_descs.put(one, home >> the_area.node_shift);
      break;
    }
    __atomic_store_n(&r->depth, before + r->hi, __ATOMIC_RELAXED);
    r->next = head;
  } while (
      !to->returned.compare_exchange_weak(head, r, std::memory_order_acq_rel, std::memory_order_acquire));
  r = nullptr;
}

} // namespace

void release_foreign_slow(worker *w, nth_desc *d, int home) noexcept {
  block *&r = w->returns_to[home];
  if (r == nullptr) {
    r = take_block(w);
    if (r == nullptr)
      return put_loose(w, d);
    r->hi = 0;
  }
  r->slot[r->hi++] = d;
  if (r->hi == block_size)
    send_home(r, home);
}

void send_returns(worker *w) noexcept {
  for (long n = w->loose_count; n > 0; --n)
    release_desc(w, take_loose(w)); // to its list; or loose again, without memory for a block
  for (int home = 0; home < the_area.homes; ++home) {
    if (w->returns_to[home] != nullptr)
      send_home(w->returns_to[home], home);
  }
  take_returned(w);
}

// ---- Numbers ---------------------------------------------------------------------------------------------

void open_descs(thresholds bounds, int nodes, int workers) noexcept {
  // Of a worker's share one block is for its window, a quarter at most for what comes home, the rest for its
  // queue. Under policy dos the share may be less than a block: a worker has its window all the same.
  const long rest = bounds.local > block_size ? bounds.local - block_size : 0;
  worker_bound.returned = bounds.local / 4 < rest ? bounds.local / 4 : rest;
  worker_bound.queued = rest - worker_bound.returned;
  the_descs.open(nodes, workers, bounds, release_blocks_of_descs, nullptr);
  __atomic_store_n(&made, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&most, 0, __ATOMIC_RELAXED);
}

long descs_allocated() noexcept { return __atomic_load_n(&made, __ATOMIC_RELAXED); }
long descs_most() noexcept { return __atomic_load_n(&most, __ATOMIC_RELAXED); }

} // namespace nth::detail
