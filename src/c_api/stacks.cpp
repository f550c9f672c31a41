// Stacks: their class, by the thread or by the root, and their bounds.
#include "base/error.hpp"
#include "base/options.hpp"
#include "os/binding.hpp"
#include "thread/needs.hpp"
#include "thread/roomy.hpp"
#include "thread/runtime.hpp"

using namespace nth::detail;

namespace {

nth_status refuse(const char *call, nth_desc *d) noexcept {
  if (d == nullptr)
    return fail(NTH_EINVAL, "%s: the thread is NULL", call);
  if (state_of(d) == thread_state::member)
    return fail(NTH_ESTATE, "%s: thread %p of a batch has no root yet; call nth_batch_create first", call,
                static_cast<void *>(d));
  char name[160];
  return fail(
      NTH_ESTATE, "%s: thread %p (root %s) is not fresh: a stack is chosen before a thread is enqueued", call,
      static_cast<void *>(d), describe_function(reinterpret_cast<const void *>(d->root), name, sizeof name));
}

void set_class(nth_desc *d, int flags) noexcept {
  const auto others = static_cast<std::uint8_t>(flags_of(d) & ~flag_class);
  __atomic_store_n(&d->flags, static_cast<std::uint8_t>(others | flags), __ATOMIC_RELAXED);
}

constexpr long least_need = 8; // a return address

// Whether a root may run on a stack without room for the dynamic linker. The answer holds for all roots of
// its object, and is kept for the one that was asked last.
bool bound(void (*root)()) noexcept {
  static void (*last)() = nullptr;
  if (__atomic_load_n(&last, __ATOMIC_RELAXED) == root)
    return true;
  if (os::binds_lazily(reinterpret_cast<const void *>(root)))
    return false;
  __atomic_store_n(&last, root, __ATOMIC_RELAXED);
  return true;
}

[[gnu::noinline]] nth_status wrong_need(const char *call, void (*root)(), long need) noexcept {
  char name[160];
  describe_function(reinterpret_cast<const void *>(root), name, sizeof name);
  if (need < least_need)
    return fail(NTH_EINVAL, "%s: root %s: a need of %ld bytes; a call alone takes 8", call, name, need);
  return fail(NTH_EINVAL, "%s: root %s needs %ld bytes; the largest stack, of %ld bytes, has room for %ld",
              call, name, need, largest_stack_size, largest_need);
}

[[gnu::noinline]] nth_status bound_lazily(const char *call, void (*root)()) noexcept {
  char name[160];
  return fail(NTH_EINVAL,
              "%s: root %s lies in a program or library that binds calls lazily, which takes stack that no "
              "analysis counts; link it with -z now (-Wl,-z,now), or set LD_BIND_NOW=1",
              call, describe_function(reinterpret_cast<const void *>(root), name, sizeof name));
}

[[gnu::noinline]] nth_status set_size(nth_desc *d, long bytes) noexcept {
  if (d == nullptr || state_of(d) != thread_state::created)
    return refuse("nth_set_stack_size", d);
  if (bytes < 1L << first_sparse_log2 || bytes > largest_stack_size)
    return fail(
        NTH_EINVAL,
        "nth_set_stack_size: %ld bytes; accepted is 16384 to %ld, and less by nth_set_stack_need, for "
        "roots whose need is proved",
        bytes, largest_stack_size);
  set_class(d, class_for_size(bytes));
  return NTH_OK;
}

[[gnu::noinline]] nth_status set_need(nth_desc *d, long need) noexcept {
  constexpr const char *call = "nth_set_stack_need";
  if (d == nullptr || state_of(d) != thread_state::created)
    return refuse(call, d);
  const bool many = (flags_of(d) & flag_spilled) != 0;
  const int flags =
      need < least_need || need > largest_need ? -1 : class_for_need(need + (many ? for_many_arguments : 0));
  if (flags < 0)
    return wrong_need(call, d->root, need);
  if (!bound(d->root))
    return bound_lazily(call, d->root);
  set_class(d, flags);
  return NTH_OK;
}

} // namespace

extern "C" NTH_API nth_status nth_set_stack_size(nth_desc *thread, long bytes) {
  return roomy(current_worker(), [=] { return set_size(thread, bytes); });
}

extern "C" NTH_API nth_status nth_set_stack_need(nth_desc *thread, long need) {
  return roomy(current_worker(), [=] { return set_need(thread, need); });
}

extern "C" NTH_API nth_status nth_set_stack_needs(const nth_stack_need *table, long count) {
  constexpr const char *call = "nth_set_stack_needs";
  if (the_runtime.up.load(std::memory_order_acquire))
    return fail(NTH_ESTATE, "%s: the run-time is up; the table is read when it starts", call);
  if (count < 0 || (count > 0 && table == nullptr))
    return fail(NTH_EINVAL, "%s: %s", call,
                count < 0 ? "the number of entries is negative" : "the table is NULL");
  for (long i = 0; i < count; ++i) {
    if (table[i].root == nullptr)
      return fail(NTH_EINVAL, "%s: the root of entry %ld is NULL", call, i);
    if (table[i].need < least_need || table[i].need > largest_need)
      return wrong_need(call, table[i].root, table[i].need);
    if (table[i].may_block != 0 && os::binds_lazily(reinterpret_cast<const void *>(table[i].root)))
      return bound_lazily(call, table[i].root);
  }
  constexpr long at_once = 64;
  for (long i = 0; i < count;) {
    need_entry some[at_once];
    long n = 0;
    for (; n < at_once && i < count; ++n, ++i)
      some[n] = {table[i].root, table[i].need, table[i].may_block != 0, 0};
    if (!the_needs.add(some, n))
      return fail(NTH_ENOMEM, "%s: no memory for %ld entries", call, count);
  }
  return NTH_OK;
}

extern "C" NTH_API nth_status nth_stack_bounds(void **lowest, void **end) {
  const std::uintptr_t sp = stack_pointer();
  if (!on_stack(sp) || top_of(sp)->thread == nullptr)
    return fail(NTH_ESTATE, "nth_stack_bounds: the caller is no nano-thread; pthread_getattr_np tells the "
                            "stack of a kernel thread");
  stack_top *top = top_of(sp);
  if (lowest != nullptr)
    *lowest = reinterpret_cast<void *>(stack_bottom(top) + the_stacks.guard_size(region_of_stack(top)));
  if (end != nullptr)
    *end = top;
  return NTH_OK;
}
