#include "thread/batch.hpp"

#include "thread/backlog.hpp"
#include "thread/outside.hpp"

namespace nth::detail {

namespace {

// The first becomes the last: what is put in front one by one begins with the last.
nth_desc *turn_round(nth_desc *first) noexcept {
  nth_desc *turned = nullptr;
  while (first != nullptr) {
    nth_desc *const next = first->next;
    first->next = turned;
    turned = first;
    first = next;
  }
  return turned;
}

// The window takes n more at the end that they are put to.
template <queue_end End>
bool has_room(const window &x, long n) noexcept {
  if (x.b == nullptr)
    return false;
  return n <= static_cast<long>(End == queue_end::front ? x.lo : block_size - x.hi);
}

template <queue_end End>
bool write_plain_into(window &x, nth_desc *first, const nth_desc *last, long n) noexcept {
  if (!write_plain(x.b->slot + (End == queue_end::front ? x.lo - n : x.hi), first, last, n))
    return false;
  if (End == queue_end::front)
    x.lo -= static_cast<std::uint32_t>(n);
  else
    x.hi += static_cast<std::uint32_t>(n);
  return true;
}

// Calls put(d) for each in the order in which they are put one by one. put may write d->next.
template <queue_end End, class Put>
void one_by_one(nth_desc *first, Put put) noexcept {
  nth_desc *d = End == queue_end::front ? turn_round(first) : first;
  while (d != nullptr) {
    nth_desc *const next = d->next;
    set_ready_fresh(d, state_and_flags(d));
    put(d);
    d = next;
  }
}

} // namespace

template <queue_end End>
put_result put_plain_batch(worker *w, int to, nth_desc *first, const nth_desc *last, long n) noexcept {
  if (to != w->id) {
    window &o = w->own.outgoing[to];
    // The put that fills the window sends it, so one stays.
    const bool fits = o.b != nullptr && o.b->end == End && has_room<End>(o, n + 1);
    return fits && write_plain_into<End>(o, first, last, n) ? put_result::done : put_result::none;
  }
  window &x = End == queue_end::front ? w->own.front : w->own.back;
  if (!has_room<End>(x, 1))
    static_cast<void>(End == queue_end::front ? room_in_front(w) : room_in_back(w));
  if (!has_room<End>(x, n) || !write_plain_into<End>(x, first, last, n))
    return put_result::none;
  return !has_room<End>(x, 1) && holds_many<End>(w) && over_backlog(w) ? put_result::over : put_result::done;
}

template <queue_end End>
bool put_batch(worker *w, nth_desc *first) noexcept {
  bool over = false;
  one_by_one<End>(first, [w, &over](nth_desc *d) {
    over = over || (fills_window<End>(w) && over_backlog(w));
    if (End == queue_end::front)
      push_front(w, d);
    else
      push_back(w, d);
  });
  return over;
}

template <queue_end End>
void send_batch(worker *w, int to, nth_desc *first) noexcept {
  one_by_one<End>(first, [w, to](nth_desc *d) { push_outgoing(w, to, d, End); });
}

template put_result put_plain_batch<queue_end::front>(worker *, int, nth_desc *, const nth_desc *,
                                                      long) noexcept;
template put_result put_plain_batch<queue_end::back>(worker *, int, nth_desc *, const nth_desc *,
                                                     long) noexcept;
template bool put_batch<queue_end::front>(worker *, nth_desc *) noexcept;
template bool put_batch<queue_end::back>(worker *, nth_desc *) noexcept;
template void send_batch<queue_end::front>(worker *, int, nth_desc *) noexcept;
template void send_batch<queue_end::back>(worker *, int, nth_desc *) noexcept;

bool send_batch_outside(int to, nth_desc *first, long n, queue_end end) noexcept {
  block *blocks = nullptr;
  const long count = (n + block_size - 1) / block_size;
  {
    outside_scope outside;
    for (long i = 0; i < count; ++i) {
      block *b = take_block(outside.get());
      if (b == nullptr) {
        while (blocks != nullptr) {
          block *const next = blocks->next;
          give_block(outside.get(), blocks);
          blocks = next;
        }
        return false;
      }
      b->next = blocks;
      blocks = b;
    }
  }
  // `blocks` is in the order of the batch; what is put in front last, and so arrives youngest, comes first in it.
  // In front the last of several is full, so the first one has what is over.
  block *youngest = blocks;
  block *oldest = blocks;
  long fill = n - (count - 1) * static_cast<long>(block_size);
  for (block *b = blocks; b != nullptr; b = b->next, fill = block_size) {
    b->end = end;
    // At the top of the block, which leaves room below for what the threads will put in front.
    b->lo = end == queue_end::front ? block_size - static_cast<std::uint32_t>(fill) : 0;
    b->hi = b->lo + static_cast<std::uint32_t>(fill);
    for (std::uint32_t i = b->lo; i < b->hi; ++i) {
      b->slot[i] = first;
      set_ready_fresh(first, state_and_flags(first));
      first = first->next;
    }
    oldest = b;
  }
  if (end == queue_end::back) {
    youngest = oldest;
    oldest = blocks;
    static_cast<void>(oldest_first(blocks)); // turned round: the youngest has the last members
  }
  worker *const w = the_runtime.at(to);
  send_chain(w, youngest, oldest, static_cast<std::uint32_t>(count));
  wake_after_send(w);
  return true;
}

} // namespace nth::detail
