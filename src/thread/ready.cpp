#include "thread/ready.hpp"

#include "base/error.hpp"
#include "os/os.hpp"
#include "thread/runtime.hpp"

namespace nth::detail {

// ---- Blocks ------------------------------------------------------------------------------------------

block *take_block(worker *w) noexcept {
  if (block *b = w->empties.pop()) [[likely]]
    return b;
  return the_blocks.refill(w->empties, w->home);
}

void give_block(worker *w, block *b) noexcept {
  if (w->blocks_away != nullptr) [[unlikely]] {
    const int node = the_area.node_of(b);
    if (node != w->node) {
      chain<block> &away = w->blocks_away[node];
      away.push(b);
      if (away.count == chain_length)
        the_blocks.put(away.take(), node);
      return;
    }
  }
  while (!w->empties.push(b, block_memory::half))
    [[unlikely]] the_blocks.lift(w->empties, w->node);
}

void send_blocks(worker *w) noexcept {
  for (int node = 0; w->blocks_away != nullptr && node < the_area.nodes; ++node)
    the_blocks.put(w->blocks_away[node].take(), node);
}

// A ring that is full grows; old arrays stay until the run ends (their sum is less than the newest).
bool push_ring(worker *w, block_ring<block> &ring, block *b) noexcept {
  if (ring.push(b)) [[likely]]
    return true;
  const std::int64_t capacity = ring.capacity() == 0 ? 256 : ring.capacity() * 2;
  std::size_t one = 1;
  std::size_t bytes = block_ring<block>::array_bytes(capacity);
  bytes = (bytes + 63) / 64 * 64;
  void *memory = the_area.carve(region::arrays, w->home, bytes, one);
  if (memory == nullptr)
    return false;
  ring.grow(memory, capacity);
  return ring.push(b);
}

namespace {

// Closes a window: its block now carries its bounds.
block *close(window &w) noexcept {
  block *b = w.b;
  b->lo = w.lo;
  b->hi = w.hi;
  return b;
}

void push_ring_or_spare(worker *w, block_ring<block> &ring, block *b) noexcept {
  w->closed = true;
  if (!push_ring(w, ring, b)) [[unlikely]] {
    b->next = w->own.spare_blocks;
    w->own.spare_blocks = b;
  }
}

void push_spare(worker *w, nth_desc *d) noexcept {
  w->closed = true;
  d->next = w->own.spare;
  w->own.spare = d;
}

void open_front(worker *w, block *b) noexcept {
  window &f = w->own.front;
  if (f.b != nullptr)
    give_block(w, f.b);
  f = {b, b->lo, b->hi};
  // What the first dispatches of this block need; the block beneath is looked at one block ahead.
  for (std::uint32_t i = 0; i < prefetch_distance; ++i)
    __builtin_prefetch(b->slot[(b->lo + i) % block_size], 1);
  if (block *beneath = w->front_ring.peek()) {
    for (std::uint32_t i = 0; i < sizeof(block); i += 64)
      __builtin_prefetch(reinterpret_cast<char *>(beneath) + i, 1);
  }
}

} // namespace

// ---- Pushing -------------------------------------------------------------------------------------------

bool room_in_front(worker *w) noexcept {
  window &f = w->own.front;
  if (f.b != nullptr && f.empty()) {
    f.lo = f.hi = block_size;
    return true;
  }
  block *fresh = take_block(w);
  if (fresh == nullptr)
    return false;
  if (f.b != nullptr)
    push_ring_or_spare(w, w->front_ring, close(f));
  f = {fresh, block_size, block_size};
  return true;
}

void push_front_slow(worker *w, nth_desc *d) noexcept {
  if (!room_in_front(w))
    return push_spare(w, d);
  window &f = w->own.front;
  f.b->slot[--f.lo] = d;
}

namespace {

void push_spare_back(worker *w, nth_desc *d) noexcept {
  private_part &p = w->own;
  w->closed = true;
  d->next = nullptr;
  if (p.spare_back == nullptr)
    p.spare_back = d;
  else
    p.spare_back_last->next = d;
  p.spare_back_last = d;
}

// While threads wait behind the back window, it has no block, so that all later ones come here.
void push_behind_spare(worker *w, nth_desc *d) noexcept {
  private_part &p = w->own;
  push_spare_back(w, d);
  block *fresh = take_block(w);
  if (fresh == nullptr)
    return;
  p.back = {fresh, 0, 0};
  while (p.spare_back != nullptr && p.back.hi < block_size) {
    fresh->slot[p.back.hi++] = p.spare_back;
    p.spare_back = p.spare_back->next;
  }
}

} // namespace

bool room_in_back(worker *w) noexcept {
  window &b = w->own.back;
  if (b.b == nullptr && w->own.spare_back != nullptr)
    return false;
  if (b.b != nullptr && b.lo > block_size / 2) {
    // Few are left, and threads that yield to one another keep it so: they move down.
    for (std::uint32_t i = b.lo; i < b.hi; ++i)
      b.b->slot[i - b.lo] = b.b->slot[i];
    b.hi -= b.lo;
    b.lo = 0;
  } else if (b.b != nullptr && b.empty()) {
    b.lo = b.hi = 0;
  } else {
    if (b.b != nullptr)
      push_ring_or_spare(w, w->back_ring, close(b));
    b = {take_block(w), 0, 0};
  }
  return b.b != nullptr;
}

void push_back_slow(worker *w, nth_desc *d) noexcept {
  window &b = w->own.back;
  if (b.b == nullptr && w->own.spare_back != nullptr)
    return push_behind_spare(w, d);
  if (!room_in_back(w))
    return push_spare_back(w, d);
  b.b->slot[b.hi++] = d;
}

void accept_block(worker *w, block *b) noexcept {
  NTH_ASSERT(b->lo < b->hi && b->hi <= block_size);
  window &f = w->own.front;
  window &k = w->own.back;
  const std::uint32_t n = b->hi - b->lo;
  if (b->end == queue_end::front) {
    if (f.b != nullptr && !f.empty()) {
      if (n <= f.lo) { // few: they join the open block
        for (std::uint32_t i = b->hi; i > b->lo; --i)
          f.b->slot[--f.lo] = b->slot[i - 1];
        return give_block(w, b);
      }
      push_ring_or_spare(w, w->front_ring, close(f));
      f.b = nullptr;
    }
    return open_front(w, b);
  }
  if (k.b != nullptr && !k.empty()) {
    if (n <= block_size - k.hi) {
      for (std::uint32_t i = b->lo; i < b->hi; ++i)
        k.b->slot[k.hi++] = b->slot[i];
      return give_block(w, b);
    }
    push_ring_or_spare(w, w->back_ring, close(k));
    k.b = nullptr;
  }
  if (k.b != nullptr)
    give_block(w, k.b);
  k = {b, b->lo, b->hi};
}

void accept_inbox(worker *w) noexcept {
  if (w->inbox.load(std::memory_order_relaxed) == nullptr)
    return;
  const taking_scope taking(w, w);
  // In the order of arrival, so that later ones come to lie further out.
  block *oldest = oldest_first(w->inbox.exchange(nullptr, std::memory_order_acquire));
  while (oldest != nullptr) {
    block *next = oldest->next;
    accept_block(w, oldest);
    oldest = next;
  }
}

// So few threads are popped from the back window where they lie; more are worth the exchange of windows.
constexpr std::uint32_t few_threads = 4;

// ---- Popping -------------------------------------------------------------------------------------------

nth_desc *pop_slow(worker *w) noexcept {
  w->tick = inbox_period;
  look_for_messages(w);
  post_ended(w);
  flush_outgoing(w);
  accept_inbox(w);
  window &f = w->own.front;
  if (f.empty()) {
    if (block *b = w->front_ring.pop()) {
      open_front(w, b);
    } else if (block *s = w->own.spare_blocks) {
      w->own.spare_blocks = s->next;
      open_front(w, s);
    } else if (nth_desc *d = w->own.spare) {
      w->own.spare = d->next;
      return d;
    } else {
      block *old = nullptr;
      // Another worker may win the race for one block; more may lie behind it.
      while (w->back_ring.length() > 0 && (old = w->back_ring.steal()) == nullptr)
        os::pause();
      if (old != nullptr) {
        open_front(w, old);
      } else {
        w->closed = false;
        window &k = w->own.back;
        if (k.empty()) {
          nth_desc *last = w->own.spare_back;
          if (last != nullptr) {
            w->own.spare_back = last->next;
            w->closed = true;
          }
          return last;
        }
        if (k.hi - k.lo <= few_threads)
          return k.b->slot[k.lo++];
        block *const spent = f.b;
        f = {k.b, k.lo, k.hi};
        k = {spent, 0, 0};
      }
    }
  }
  return f.b->slot[f.lo++];
}

void turn_back_window(worker *w) noexcept {
  window &f = w->own.front;
  window &k = w->own.back;
  block *spent = f.b;
  if (spent != nullptr && !f.empty()) {
    push_ring_or_spare(w, w->front_ring, close(f));
    spent = nullptr;
  }
  f = k;
  k = {spent, 0, 0};
  for (std::uint32_t i = f.lo, j = f.hi; i + 1 < j; ++i) {
    nth_desc *const newer = f.b->slot[--j];
    f.b->slot[j] = f.b->slot[i];
    f.b->slot[i] = newer;
  }
}

bool any_ready(const worker *w) noexcept {
  const private_part &p = w->own;
  return !p.front.empty() || !p.back.empty() || p.outgoing_count != 0 || p.spare != nullptr ||
         p.spare_back != nullptr || p.spare_blocks != nullptr;
}

long ready_blocks(const worker *w) noexcept {
  return static_cast<long>(w->front_ring.length() + w->back_ring.length());
}

// ---- To other workers ------------------------------------------------------------------------------------

void send_chain(worker *to, block *youngest, block *oldest, std::uint32_t count) noexcept {
  // Push only, and taken as a whole: no ABA. Release: the taker sees the members.
  block *head = to->inbox.load(std::memory_order_relaxed);
  do {
    oldest->next = head;
    // The head may have been taken and be in use elsewhere by now: then the depth is wrong until the next
    // time that all is taken.
    const std::uint32_t depth = head == nullptr ? 0 : __atomic_load_n(&head->depth, __ATOMIC_RELAXED);
    __atomic_store_n(&youngest->depth, depth + count, __ATOMIC_RELAXED);
  } while (
      !to->inbox.compare_exchange_weak(head, youngest, std::memory_order_seq_cst, std::memory_order_relaxed));
}

namespace {

void send_window(worker *w, int to) noexcept {
  window &o = w->own.outgoing[to];
  --w->own.outgoing_count;
  ++w->away;
  send_block(the_runtime.at(to), close(o));
  o = {};
  wake_after_send(the_runtime.at(to));
}

} // namespace

void push_outgoing(worker *w, int to, nth_desc *d, queue_end end) noexcept {
  window &o = w->own.outgoing[to];
  if (o.b != nullptr && o.b->end != end) [[unlikely]] {
    send_window(w, to);
  }
  if (o.b == nullptr) {
    block *fresh = take_block(w);
    if (fresh == nullptr) [[unlikely]]
      return push_spare(w, d); // runs here: better than not at all
    fresh->end = end;
    o = end == queue_end::front ? window{fresh, block_size, block_size} : window{fresh, 0, 0};
    ++w->own.outgoing_count;
  }
  if (end == queue_end::front)
    o.b->slot[--o.lo] = d;
  else
    o.b->slot[o.hi++] = d;
  if (o.hi - o.lo == block_size) {
    send_window(w, to);
  }
}

void flush_outgoing(worker *w) noexcept {
  for (int to = 0; w->own.outgoing_count > 0; ++to) {
    if (w->own.outgoing[to].b != nullptr)
      send_window(w, to);
  }
}

} // namespace nth::detail
