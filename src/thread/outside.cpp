#include "thread/outside.hpp"

#include "base/error.hpp"
#include "os/os.hpp"
#include "thread/desc_memory.hpp"
#include "thread/ready.hpp"

namespace nth::detail {

namespace {

__thread nth_desc *attached_desc __attribute__((tls_model("initial-exec")));

// make_ready sets it to 1; see ends.cpp.
std::uint32_t *wake_word(nth_desc *d) noexcept { return reinterpret_cast<std::uint32_t *>(&d->args[0]); }

} // namespace

block *take_block_outside() noexcept {
  outside_scope outside;
  return take_block(outside.get());
}

void give_block_outside(block *b) noexcept {
  outside_scope outside;
  give_block(outside.get(), b);
}

void send_outside(int which, nth_desc *d, block *b, queue_end end) noexcept {
  b->end = end;
  // At the top of the block, which leaves room below for what the thread will put in front.
  b->lo = block_size - 1;
  b->hi = block_size;
  b->slot[block_size - 1] = d;
  worker *to = the_runtime.at(which);
  send_block(to, b);
  wake_after_send(to);
}

nth_desc *make_outside_desc() noexcept {
  outside_scope outside;
  nth_desc *d = take_desc(outside.get());
  if (d == nullptr)
    return nullptr;
  d->root = nullptr;
  d->succ = nullptr;
  __atomic_store_n(&d->ndep, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&d->flags, 0, __ATOMIC_RELAXED);
  __atomic_store_n(wake_word(d), 0, __ATOMIC_RELAXED);
  set_state(d, thread_state::outside);
  return d;
}

void drop_outside_desc(nth_desc *d) noexcept {
  outside_scope outside;
  retire(d);
  release_desc(outside.get(), d);
  if (the_area.node_of(d) != outside->node) [[unlikely]]
    send_returns(outside.get());
}

void wait_outside(nth_desc *d) noexcept {
  while (__atomic_load_n(wake_word(d), __ATOMIC_ACQUIRE) == 0)
    os::futex_wait(wake_word(d), 0);
}

void block_outside() noexcept {
  nth_desc *d = attached_desc;
  if (d == nullptr)
    return misuse(NTH_ESTATE, "nth_block: %s", nothing_to_block_on);
  __atomic_store_n(wake_word(d), 0, __ATOMIC_RELAXED);
  if (dependencies(d) != 0) {
    if (__atomic_sub_fetch(&d->ndep, 1, __ATOMIC_ACQ_REL) == 0)
      return;
  } else {
    dep_word old = __atomic_load_n(word_of(d), __ATOMIC_ACQUIRE);
    do {
      if ((old & token_in_word) != 0) {
        __atomic_fetch_and(word_of(d), ~token_in_word, __ATOMIC_ACQUIRE);
        return;
      }
    } while (!__atomic_compare_exchange_n(word_of(d), &old, old | dep_waiting | 1, true, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
  }
  wait_outside(d);
}

nth_desc *attached() noexcept { return attached_desc; }
void set_attached(nth_desc *d) noexcept { attached_desc = d; }

} // namespace nth::detail
