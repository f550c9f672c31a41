// Memory that keeps its address: nth/iso.h. The heap of the caller is found here; iso/heap does the rest.
#include "nth/iso.h"
#include "base/error.hpp"
#include "c_api/check.hpp"
#include "iso/short_way.hpp"
#include "thread/own_heap.hpp"
#include "thread/roomy.hpp"

#include <cerrno>
#include <cstring>

using namespace nth::detail;

namespace {

constexpr std::size_t standard_alignment = 16;

struct request {
  const char *call;
  std::size_t size;
  std::size_t alignment;
  bool may_suspend;
};

// Whoever calls: the running thread and its stack; the top is null outside of the area.
struct caller {
  stack_top *top{nullptr};
  nth_desc *d{nullptr};
  iso::heap *at_hand{nullptr};

  // For a frame with that stack pointer, on this worker now.
  caller(const worker *w, std::uintptr_t sp) noexcept {
    if (w->special == 0)
      top = reinterpret_cast<stack_top *>((sp | stack_last) + 1) - 1;
    else if (on_stack(sp))
      top = top_of(sp);
    else
      return;
    d = top->thread;
    if (d != nullptr)
      at_hand = heap_at_hand(top, d);
  }
};

// function(caller, a, b), on the scheduler's stack where the caller's may be a small one. Frames of their own: those of
// the entries, which this is called from at their ends, shall not lie above, nor the function's.
template <auto function>
[[gnu::noinline]] auto for_caller(std::uintptr_t sp, std::uintptr_t a, std::uintptr_t b) noexcept {
  return function(caller(current_worker(), sp), a, b);
}
template <auto function>
[[gnu::noinline]] auto with_room(std::uintptr_t a, std::uintptr_t b) noexcept {
  const std::uintptr_t sp = stack_pointer();
  return roomy(current_worker(), [=] { return for_caller<function>(sp, a, b); });
}

inline bool on_default_stack() noexcept { return current_worker()->special == 0; }

[[gnu::noinline]] void set_errno(int value) noexcept { errno = value; }

[[gnu::cold, gnu::noinline]] void *refuse(const request &r, iso::heap_error why) noexcept {
  const nth_status status = why == iso::heap_error::none ? NTH_ESTATE : NTH_ENOMEM;
  switch (why) {
  case iso::heap_error::none:
    static_cast<void>(fail(status, "%s: the run-time is not up; call nth_init first", r.call));
    break;
  case iso::heap_error::too_large:
    static_cast<void>(
        fail(status,
             "%s: %zu bytes, aligned to %zu, are more than the area for it has, %zu bytes; raise "
             "NTH_ISO_SIZE",
             r.call, r.size, r.alignment, iso::the_slots.bytes()));
    break;
  case iso::heap_error::no_slots:
    static_cast<void>(
        fail(status,
             "%s: no rank has slots side by side for %zu bytes, aligned to %zu; free some, raise "
             "NTH_ISO_SIZE, or call nth_regroup_slots",
             r.call, r.size, r.alignment));
    break;
  default:
    static_cast<void>(
        fail(status, "%s: the kernel refuses memory for %zu bytes; raise the limit on it", r.call, r.size));
  }
  set_errno(status == NTH_ESTATE ? EINVAL : ENOMEM);
  return nullptr;
}

// In nth_no_suspend scopes nobody else runs meanwhile.
inline bool suspends(const request &r, const nth_desc *d) noexcept {
  return r.may_suspend && (flags_of(d) & flag_no_suspend) == 0;
}

// The caller's heap, at hand or not; null: it has none.
inline iso::heap *heap_of(const caller &c) noexcept {
  return c.at_hand != nullptr || c.d == nullptr ? c.at_hand : own_heap(c.d);
}

[[gnu::noinline]] void *allocate_slowly(const caller &c, const request &r) noexcept {
  iso::heap_error why = iso::heap_error::none;
  if (!up())
    return refuse(r, why);
  if (!open_slots())
    return refuse(r, iso::heap_error::no_memory);
  void *block = nullptr;
  if (c.d == nullptr) {
    rank_heap_scope heap;
    if (iso::heap *h = heap.make(why))
      block = iso::allocate(h, r.size, r.alignment, false, why);
  } else {
    iso::heap *h = heap_of(c);
    if (h == nullptr)
      h = make_own_heap(current_worker(), c.d, suspends(r, c.d), why);
    if (h != nullptr) {
      if (c.top->segments == 0)
        c.top->heap = hint_of(h);
      block = iso::allocate(h, r.size, r.alignment, suspends(r, c.d), why);
    }
  }
  return block != nullptr ? block : refuse(r, why);
}

inline void *allocate_any(const caller &c, const request &r) noexcept {
  if (c.at_hand == nullptr) [[unlikely]]
    return allocate_slowly(c, r);
  iso::heap_error why = iso::heap_error::none;
  if (void *block = iso::allocate(c.at_hand, r.size, r.alignment, suspends(r, c.d), why)) [[likely]]
    return block;
  return refuse(r, why);
}

[[gnu::cold, gnu::noinline]] void refuse_block(const char *call, const void *block,
                                               iso::heap_error why) noexcept {
  const char *what = "is no block of nth_isomalloc, or lies within one";
  if (why == iso::heap_error::freed)
    what = "was freed before";
  else if (why == iso::heap_error::dead)
    what =
        "is no thread's on this rank: its thread has ended or moved on, or it was freed or never was a block";
  else if (why == iso::heap_error::overrun)
    what = "has been written behind its end; nothing is done with it";
  misuse(NTH_EINVAL, "%s: the block at %p %s", call, block, what);
}

[[gnu::noinline]] void free_slowly(const caller &c, const char *call, void *block) noexcept {
  iso::heap_error why = iso::heap_error::foreign;
  if (up() && slots_in_use.holds(reinterpret_cast<std::uintptr_t>(block))) {
    if (c.d == nullptr) {
      rank_heap_scope heap;
      why = iso::release(heap.get(), block);
    } else {
      why = iso::release(heap_of(c), block);
    }
  }
  if (why != iso::heap_error::none)
    refuse_block(call, block, why);
}

inline void free_any(const caller &c, const char *call, void *block) noexcept {
  if (c.at_hand == nullptr) [[unlikely]]
    return free_slowly(c, call, block);
  const iso::heap_error why = iso::release(c.at_hand, block);
  if (why != iso::heap_error::none) [[unlikely]]
    refuse_block(call, block, why);
}

// Usable bytes, or 0: `why`.
[[gnu::noinline]] std::size_t size_of_block(const void *block, iso::heap_error &why) noexcept {
  why = iso::heap_error::foreign;
  const bool may_be_one = up() && slots_in_use.holds(reinterpret_cast<std::uintptr_t>(block));
  return may_be_one ? iso::usable(block, why) : 0;
}

bool resize_in_place(const caller &c, void *block, std::size_t size) noexcept {
  if (c.d != nullptr)
    return iso::resize(heap_of(c), block, size);
  rank_heap_scope heap;
  return iso::resize(heap.get(), block, size);
}

bool is_power_of_two(std::size_t n) noexcept { return n != 0 && (n & (n - 1)) == 0; }

// ---- The calls, once the caller is known ----

void *do_isomalloc(const caller &c, std::size_t size, std::uintptr_t /*none*/) noexcept {
  return allocate_any(c, {"nth_isomalloc", size + (size == 0), standard_alignment, true});
}

int do_isofree(const caller &c, std::uintptr_t block, std::uintptr_t /*none*/) noexcept {
  free_any(c, "nth_isofree", reinterpret_cast<void *>(block));
  return 0;
}

void *do_isorealloc(const caller &c, std::uintptr_t address, std::size_t size) noexcept {
  constexpr const char *name = "nth_isorealloc";
  auto *block = reinterpret_cast<void *>(address);
  if (block != nullptr && size == 0) {
    free_any(c, name, block);
    return nullptr;
  }
  const request wanted = {name, size + (size == 0), standard_alignment, true};
  if (block == nullptr)
    return allocate_any(c, wanted);
  iso::heap_error why = iso::heap_error::none;
  const std::size_t old = size_of_block(block, why);
  if (old == 0) {
    refuse_block(name, block, why);
    return nullptr;
  }
  if (resize_in_place(c, block, size))
    return block;
  void *moved = allocate_any(c, wanted);
  if (moved == nullptr)
    return nullptr;
  std::memcpy(moved, block, old < size ? old : size);
  free_any(c, name, block);
  return moved;
}

void *do_isocalloc(const caller &c, std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) [[unlikely]]
    bytes = ~std::size_t{0}; // more than any area has
  void *block = allocate_any(c, {"nth_isocalloc", bytes + (bytes == 0), standard_alignment, true});
  return block == nullptr ? nullptr : std::memset(block, 0, bytes);
}

void *allocate_aligned(const caller &c, const request &r) noexcept {
  if (!is_power_of_two(r.alignment)) [[unlikely]] {
    static_cast<void>(fail(NTH_EINVAL, "%s: the alignment %zu is no power of two", r.call, r.alignment));
    set_errno(EINVAL);
    return nullptr;
  }
  const std::size_t alignment = r.alignment < standard_alignment ? standard_alignment : r.alignment;
  return allocate_any(c, {r.call, r.size + (r.size == 0), alignment, r.may_suspend});
}
void *do_isoaligned_alloc(const caller &c, std::size_t alignment, std::size_t size) noexcept {
  return allocate_aligned(c, {"nth_isoaligned_alloc", size, alignment, true});
}
void *do_isoaligned_alloc_here(const caller &c, std::size_t alignment, std::size_t size) noexcept {
  return allocate_aligned(c, {"nth_isoaligned_alloc_here", size, alignment, false});
}

std::size_t do_isousable_size(const caller & /*c*/, std::uintptr_t block, std::uintptr_t /*none*/) noexcept {
  iso::heap_error why = iso::heap_error::none;
  return size_of_block(reinterpret_cast<void *>(block), why);
}

} // namespace

namespace {

// The caller's heap, where it is at hand at once: of a thread on a stack of the default class.
inline iso::heap *heap_nearby() noexcept {
  if (current_worker()->special != 0) [[unlikely]]
    return nullptr;
  const stack_top *const top = top_here();
  return heap_at_hand(top, top->thread);
}

// What the short ways do not do; not in line, for they need no frame.
[[gnu::noinline]] void *isomalloc_else(std::size_t size) noexcept {
  if (!on_default_stack()) [[unlikely]]
    return with_room<do_isomalloc>(size, 0);
  return do_isomalloc(caller(current_worker(), stack_pointer()), size, 0);
}
[[gnu::noinline]] void isofree_else(void *block) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  if (block == nullptr)
    return;
  if (!on_default_stack()) [[unlikely]]
    with_room<do_isofree>(address, 0);
  else
    do_isofree(caller(current_worker(), stack_pointer()), address, 0);
}
[[gnu::cold, gnu::noinline]] void refuse_isofree(void *block, iso::heap_error why) noexcept {
  refuse_block("nth_isofree", block, why);
}

} // namespace

extern "C" NTH_API void *nth_isomalloc(size_t size) {
  if (iso::heap *h = heap_nearby()) [[likely]] {
    if (void *block = iso::allocate_short(h, size)) [[likely]]
      return block;
  }
  return isomalloc_else(size);
}

extern "C" NTH_API void nth_isofree(void *block) {
  iso::heap *h = heap_nearby();
  if (h == nullptr || block == nullptr) [[unlikely]]
    return isofree_else(block);
  const iso::heap_error why = iso::release_short(h, block);
  if (why != iso::heap_error::none) [[unlikely]]
    refuse_isofree(block, why);
}

extern "C" NTH_API void *nth_isorealloc(void *block, size_t size) {
  return with_room<do_isorealloc>(reinterpret_cast<std::uintptr_t>(block), size);
}

extern "C" NTH_API void *nth_isocalloc(size_t count, size_t size) {
  return with_room<do_isocalloc>(count, size);
}

extern "C" NTH_API void *nth_isoaligned_alloc(size_t alignment, size_t size) {
  return with_room<do_isoaligned_alloc>(alignment, size);
}

extern "C" NTH_API void *nth_isoaligned_alloc_here(size_t alignment, size_t size) {
  if (!on_default_stack()) [[unlikely]]
    return with_room<do_isoaligned_alloc_here>(alignment, size);
  return do_isoaligned_alloc_here(caller(current_worker(), stack_pointer()), alignment, size);
}

extern "C" NTH_API size_t nth_isousable_size(const void *block) {
  return block == nullptr ? 0 : with_room<do_isousable_size>(reinterpret_cast<std::uintptr_t>(block), 0);
}

extern "C" NTH_API nth_status nth_get_iso_stats(nth_iso_stats *stats) {
  if (stats == nullptr)
    return fail(NTH_EINVAL, "nth_get_iso_stats: NULL");
  if (!up())
    return fail(NTH_ESTATE, "nth_get_iso_stats: the run-time is not up");
  *stats = {};
  if (slots_in_use.begin.load(std::memory_order_acquire) == 0)
    return NTH_OK;
  const iso::slot_store::numbers n = iso::the_slots.count();
  *stats = {static_cast<long>(iso::the_slots.slot_bytes()),
            iso::the_slots.size(),
            iso::the_slots.owned(),
            n.taken,
            n.most_taken,
            n.mapped,
            static_cast<long>(n.committed)};
  return NTH_OK;
}

extern "C" NTH_API nth_status nth_set_slot_distribution(int (*owner)(long slot, long slots, int ranks)) {
  if (up())
    return fail(NTH_ESTATE, "nth_set_slot_distribution: the run-time is up; call it before nth_init");
  iso::user_distribution = reinterpret_cast<iso::owner_function>(owner);
  return NTH_OK;
}
