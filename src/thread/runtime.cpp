#include "thread/runtime.hpp"

#include "base/error.hpp"
#include "memory/annotate.hpp"
#include "os/os.hpp"
#include "os/overflow.hpp"
#include "thread/create.hpp"
#include "thread/dispatch.hpp"
#include "thread/ready.hpp"
#include "topology/topology.hpp"

#include <cerrno>
#include <new>

// NOLINTNEXTLINE(readability-identifier-naming): the name is the C++ ABI's
extern "C" void *__cxa_get_globals() noexcept __attribute__((weak));

namespace nth::detail {

runtime the_runtime;
constinit worker nobody;

extern "C" {
__thread worker *nth_tls_worker = &nobody;
}

namespace {

constexpr std::size_t kernel_stack_bytes = std::size_t{256} << 10;

constexpr std::size_t round_up(std::size_t n, std::size_t unit) noexcept {
  return (n + unit - 1) / unit * unit;
}

void *worker_main(void *argument) {
  auto *w = static_cast<worker *>(argument);
  nth_tls_worker = w;
  if (the_runtime.bind)
    static_cast<void>(topology::bind_current_thread(w->id));
  static_cast<void>(os::alternate_stack_set()); // without one an overflow is a bare SIGSEGV
  w->eh = __cxa_get_globals != nullptr ? static_cast<exception_globals *>(__cxa_get_globals())
                                       : &w->no_exceptions;
  w->errno_place = &errno;
  annotate::begin_worker();
  stack_top *first = take_stack(w);
  enter_first_loop(w, first);
  os::alternate_stack_drop();
  return nullptr;
}

// One worker and its arrays, in memory of its own.
struct worker_layout {
  std::size_t outgoing;
  std::size_t returns;
  std::size_t each;
  explicit worker_layout(int workers) noexcept
      : outgoing(round_up(sizeof(worker), 64)),
        returns(outgoing + round_up(sizeof(window) * static_cast<std::size_t>(workers), 64)),
        each(round_up(returns + sizeof(block *) * static_cast<std::size_t>(workers + 1), 128)) {}
};

// Workers are found by index, so the arrays lie behind all of them.
bool make_workers(runtime &rt) noexcept {
  const worker_layout layout(rt.workers);
  const auto count = static_cast<std::size_t>(rt.homes());
  const std::size_t arrays = layout.each - layout.outgoing;
  rt.memory_bytes = round_up(count * (sizeof(worker) + arrays), os::page_size());
  void *memory = os::map_pages(rt.memory_bytes);
  if (memory == nullptr)
    return false;
  rt.worker_memory = static_cast<worker *>(memory);
  char *tail = static_cast<char *>(memory) + count * sizeof(worker);
  for (int i = 0; i < rt.homes(); ++i) {
    auto *w = new (rt.at(i)) worker;
    w->id = i;
    w->tick = inbox_period;
    w->random = static_cast<std::uint64_t>(i) * 0x9e37'79b9'7f4a'7c15U + 1;
    w->active.store(1, std::memory_order_relaxed);
    w->request.store(one_sided_barrier ? request_idle : request_fence, std::memory_order_relaxed);
    const part &home = rt.policy == NTH_POLICY_DOS ? the_area.at(the_stacks.region(), i)
                                                   : the_area.at(region::descriptors, i);
    w->home_begin = home.begin();
    if (rt.policy == NTH_POLICY_DSR && i < rt.workers)
      w->join_floor = (std::uintptr_t{1} << rt.stack_log2) / 8 * 7;
    w->home_bytes = std::uintptr_t{1} << the_area.home_shift;
    w->own.outgoing = reinterpret_cast<window *>(tail);
    w->returns_to = reinterpret_cast<block **>(tail + (layout.returns - layout.outgoing));
    tail += arrays;
  }
  return true;
}

// Paper 000, section 5: the number of stacks is known before the run, and they are allocated at once,
// while nobody else runs and no lock is needed. Ours are (doc/design.md, "How many stacks"):
//   dsr  P + 1    a loop's a worker, and one for the main thread, which blocks
//   lsa  2P + 1   the loop's own besides
//   dos  P        a loop's a worker; threads bring theirs
bool prepare_stacks(runtime &rt) noexcept {
  const int per_worker = rt.policy == NTH_POLICY_LSA ? 2 : 1;
  for (int i = 0; i < rt.workers; ++i) {
    long count = per_worker;
    if (rt.policy == NTH_POLICY_DOS && i == 0 && the_stacks.allocated() == 1) {
      // The stack on which the guard was proved has no other use here.
      rt.at(0)->stacks.push(the_stacks.take(0));
      count = 0;
    }
    if (!the_stacks.prepare(i, count, rt.at(i)->stacks))
      return false;
  }
  if (rt.policy == NTH_POLICY_DOS || the_stacks.allocated() > rt.workers * per_worker)
    return true;
  stack_list one;
  if (!the_stacks.prepare(rt.workers, 1, one))
    return false;
  the_stacks.put(one.pop());
  return true;
}

os::fault_place locate(std::uintptr_t address) noexcept {
  os::fault_place place{};
  if (!on_stack(address))
    return place;
  const stack_top *top = top_of(address);
  const std::uintptr_t bottom = stack_bottom(top);
  const std::size_t guard = the_stacks.guard_size();
  place.in_area = true;
  place.in_guard = address < bottom + guard;
  place.stack_size = stack_size_of(top);
  place.stack_bottom = bottom + guard;
  if (place.in_guard) {
    if (const nth_desc *d = top->thread) {
      place.thread = d;
      place.root = reinterpret_cast<const void *>(d->root);
      place.generation = generation_of(d);
    }
  }
  return place;
}

void forget_all_stacks() noexcept {
  const unsigned r = the_stacks.region();
  for (int h = 0; h < the_area.homes; ++h) {
    part &p = the_area.at(r, h);
    for (std::uintptr_t at = p.begin(); at < p.begin() + p.carved(); at += the_stacks.size())
      annotate::forget_stack(reinterpret_cast<stack_top *>(at + the_stacks.size()) - 1);
  }
}

void close_memory(runtime &rt) noexcept {
  forget_all_stacks();
  the_stacks.close();
  the_area.close();
  if (rt.worker_memory != nullptr)
    os::unmap_pages(rt.worker_memory, rt.memory_bytes);
  rt.worker_memory = nullptr;
  kthreads = 0;
  rt.workers = 0;
}

void stop_workers(runtime &rt, int started) noexcept {
  rt.stopping.store(true, std::memory_order_seq_cst);
  for (int i = 0; i < started; ++i)
    wake_one(nullptr);
  for (int i = 0; i < started; ++i) {
    // A worker may have gone to sleep before it could see `stopping`.
    wake_one(rt.at(i));
    os::thread_join(rt.at(i)->kernel_thread);
  }
}

} // namespace

nth_status start_runtime(const nth_options &o) noexcept {
  runtime &rt = the_runtime;
  static_cast<void>(topology::load()); // without it one core is assumed
  rt.workers = o.workers == 0 ? topology::usable_cores() : static_cast<int>(o.workers);
  rt.policy = static_cast<nth_policy>(o.stack_policy);
  rt.stack_log2 = static_cast<unsigned>(__builtin_ctzl(static_cast<unsigned long>(o.stack_size)));
  rt.backlog_blocks = (static_cast<std::uint64_t>(o.backlog) + block_size - 1) / block_size;
  rt.spin_ns = static_cast<std::uint64_t>(o.spin_us) * 1000;
  rt.report_deadlock = o.report_deadlock != 0;
  rt.bind = o.bind != 0;
  rt.sleepers.store(0, std::memory_order_relaxed);
  rt.searching.store(0, std::memory_order_relaxed);
  rt.stopping.store(false, std::memory_order_relaxed);
  one_sided_barrier = os::barrier_register();
  descriptors_made.store(0, std::memory_order_relaxed);
  the_blocks.open();

  if (!the_area.open(static_cast<std::size_t>(o.area_size), rt.homes())) {
    topology::unload();
    return fail(NTH_ENOMEM,
                "nth_init: no address space: not even 1 GiB could be reserved; raise the limit on "
                "address space (ulimit -v)");
  }
  if (!the_stacks.open(rt.stack_log2, o.guard != 0) || !make_workers(rt) || !prepare_stacks(rt)) {
    close_memory(rt);
    topology::unload();
    return fail(NTH_ENOMEM, "nth_init: no memory for %d workers and their stacks of %ld bytes", rt.workers,
                o.stack_size);
  }
  static_cast<void>(os::overflow_install(locate));
  kthreads = rt.workers;
  for (int i = 0; i < rt.workers; ++i) {
    rt.at(i)->kernel_thread = os::thread_start(worker_main, rt.at(i), kernel_stack_bytes);
    if (rt.at(i)->kernel_thread == 0) {
      stop_workers(rt, i);
      os::overflow_uninstall();
      close_memory(rt);
      topology::unload();
      return fail(NTH_ESYS,
                  "nth_init: the kernel refused thread %d of %d; lower NTH_WORKERS or raise the limit on "
                  "processes (ulimit -u)",
                  i + 1, static_cast<int>(o.workers == 0 ? i + 1 : o.workers));
    }
  }
  rt.up.store(true, std::memory_order_release);
  return NTH_OK;
}

nth_status stop_runtime() noexcept {
  runtime &rt = the_runtime;
  long live = 0;
  for_each_live([](nth_desc *, void *count) noexcept { ++*static_cast<long *>(count); }, &live);
  if (live != 0)
    return fail(NTH_EBUSY,
                "nth_finalize: %ld threads are alive (nth_report_blocked names those that are blocked); let "
                "them end, "
                "or detach kernel threads that are attached",
                live);
  rt.up.store(false, std::memory_order_release);
  stop_workers(rt, rt.workers);
  os::overflow_uninstall();
  close_memory(rt);
  topology::unload();
  return NTH_OK;
}

void for_each_live(visit_desc visit, void *context) noexcept {
  const bool dos = the_runtime.policy == NTH_POLICY_DOS;
  const std::size_t step = dos ? the_stacks.size() : sizeof(nth_desc);
  for (int h = 0; h < the_area.homes; ++h) {
    part &p = dos ? the_area.at(the_stacks.region(), h) : the_area.at(region::descriptors, h);
    const std::uintptr_t end = p.begin() + p.carved();
    for (std::uintptr_t at = p.begin(); at < end; at += step) {
      auto *d = dos ? reinterpret_cast<nth_desc *>(at + step - sizeof(stack_top)) - 1
                    : reinterpret_cast<nth_desc *>(at);
      const thread_state s = state_of(d);
      if (s != thread_state::free && s != thread_state::spill)
        visit(d, context);
    }
  }
}

long count_descriptors() noexcept { return descriptors_made.load(std::memory_order_relaxed); }

} // namespace nth::detail
