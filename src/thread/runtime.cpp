#include "thread/runtime.hpp"

#include "base/error.hpp"
#include "base/options.hpp"
#include "memory/annotate.hpp"
#include "os/limits.hpp"
#include "os/os.hpp"
#include "os/overflow.hpp"
#include "thread/create.hpp"
#include "thread/dispatch.hpp"
#include "thread/needs.hpp"
#include "thread/own_heap.hpp"
#include "thread/ready.hpp"
#include "thread/statistics.hpp"
#include "thread/workers.hpp"
#include "topology/topology.hpp"

#include <cerrno>
#include <cstdio>
#include <unistd.h>

// NOLINTNEXTLINE(readability-identifier-naming): the name is the C++ ABI's
extern "C" void *__cxa_get_globals() noexcept __attribute__((weak));

namespace nth::detail {

runtime the_runtime;
constinit worker nobody;

extern "C" {
__thread worker *nth_tls_worker = &nobody;
NTH_API __thread nth_fork *nth_tls_fork = &nobody.fork;
}

namespace {

constexpr std::size_t kernel_stack_bytes = std::size_t{256} << 10;

// Not one of its frames may have a canary: it changes here.
__attribute__((no_stack_protector)) void *worker_main(void *argument) {
  auto *w = static_cast<worker *>(argument);
  nth_tls_worker = w;
  nth_tls_fork = &w->fork;
  if (the_runtime.bind)
    static_cast<void>(topology::bind_current_thread(w->id));
  // Without one an overflow is a bare SIGSEGV; but a handler of signals cannot run on a few hundred bytes.
  if (!os::alternate_stack_set() && the_limits.count != 0)
    end_program(
        "a worker of this program, which has small stacks, gets no alternate stack for signal handlers (64 "
        "KiB); raise the limit on memory");
  w->eh = __cxa_get_globals != nullptr ? static_cast<exception_globals *>(__cxa_get_globals())
                                       : &w->no_exceptions;
  w->errno_place = &errno;
  annotate::begin_worker();
  stack_top *first = take_stack(w);
  w->limits = limits_here();
  const std::uintptr_t own_canary = arch::canary();
  if (the_runtime.seat.canary != 0)
    arch::set_canary(the_runtime.seat.canary);
  enter_first_loop(w, first);
  arch::set_canary(own_canary);
  clear_limits(w);
  os::alternate_stack_drop();
  return nullptr;
}

os::fault_place locate(std::uintptr_t address) noexcept {
  os::fault_place place{};
  if (!on_stack(address))
    return place;
  const stack_top *top = top_of(address);
  const std::uintptr_t bottom = stack_bottom(top);
  const std::size_t guard = the_stacks.guard_size(region_of_stack(top));
  place.in_area = true;
  place.in_guard = address < bottom + guard;
  place.stack_size = stack_size_of(top);
  place.stack_bottom = bottom + guard;
  if (place.in_guard) {
    if (const nth_desc *d = top->thread) {
      place.thread = d;
      place.own_size = class_of(d) != 0 && top->segments == 0;
      place.root = reinterpret_cast<const void *>(d->root);
      place.generation = generation_of(d);
    }
  }
  return place;
}

void forget_all_stacks() noexcept {
  for (unsigned r = 0; r < stack_regions; ++r) {
    const std::size_t size = std::size_t{1} << (r + smallest_class_log2);
    for (int h = 0; h < the_area.homes; ++h)
      the_area.at(r, h).for_each([size](std::uintptr_t bottom) {
        annotate::forget_stack(reinterpret_cast<stack_top *>(bottom + size) - 1);
      });
  }
}

// What the first nth_isomalloc, or a cluster, opens. False: the message is written.
nth_status choose_slots(const runtime &rt, const nth_options &o) noexcept {
  iso::slot_setting slots;
  slots.base = rt.seat.iso_base;
  slots.bytes = rt.seat.iso_bytes != 0 ? rt.seat.iso_bytes : static_cast<std::size_t>(o.iso_size);
  slots.slot_log2 = static_cast<unsigned>(__builtin_ctzl(static_cast<unsigned long>(o.slot_size)));
  slots.rank = rt.seat.area.rank;
  slots.ranks = rt.seat.area.ranks;
  slots.cache = (o.slot_cache << iso::least_slot_log2) >> slots.slot_log2;
  if (!slots.spread.parse(o.slot_distribution))
    return fail(NTH_EINVAL,
                "NTH_SLOT_DISTRIBUTION is \"%.100s\": accepted is partitioned, cyclic, block-cyclic, "
                "block-cyclic:N with N from 1, or user, for which nth_set_slot_distribution gives a function",
                o.slot_distribution);
  if (o.slot_size > o.iso_size)
    return fail(NTH_EINVAL, "NTH_SLOT_SIZE, %ld bytes, is more than NTH_ISO_SIZE, %ld", o.slot_size,
                o.iso_size);
  set_slots(slots, o.iso_check != 0);
  return NTH_OK;
}

void close_memory(runtime &rt) noexcept {
  close_slots();
  forget_all_stacks();
  the_stacks.close();
  the_descs.close();
  the_blocks.close();
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

// The memory of each node, all regions: once, before anything is carved, so that no mapping is split later.
void bind_memory(runtime &rt) noexcept {
  rt.nodes_unbound = 0;
  for (int node = 0; the_area.nodes > 1 && node < the_area.nodes; ++node) {
    bool bound = true;
    for (unsigned r = 0; r < region_count; ++r)
      bound = topology::bind_memory(reinterpret_cast<void *>(the_area.node_begin(r, node)),
                                    the_area.node_bytes(), node) &&
              bound;
    rt.nodes_unbound += bound ? 0 : 1;
  }
}

// Why there is no area, and what to do.
[[gnu::cold]] nth_status no_area(const nth_options &o, int workers, const home_layout &homes) noexcept {
  const std::size_t least = area::least(homes.nodes, homes.homes_each, the_runtime.seat.area);
  const unsigned long gib = least >> 30;
  if (static_cast<std::size_t>(o.area_size) < least)
    return fail(
        NTH_EINVAL,
        "nth_init: %d workers need an area of %lu GiB at least; raise NTH_AREA_SIZE, which is %ld GiB, "
        "or lower NTH_WORKERS",
        workers, gib, o.area_size >> 30);
  char limits[200], there[160], taken[240] = "";
  if (os::describe_mapping(area::preferred_base, area::preferred_base + least, there, sizeof there))
    std::snprintf(taken, sizeof taken, "; its usual place is taken by %s", there);
  return fail(NTH_ENOMEM,
              "nth_init: no address space: not even %lu GiB in one piece, the least for %d workers, could be "
              "reserved; %s%s",
              gib, workers, os::describe_limits(limits, sizeof limits), taken);
}

// In a program with small stacks its threads take segments of the default class: one must have room for each callee.
// A size that nobody has chosen is made large enough.
nth_status choose_stack_size(const nth_options &o, unsigned &log2) noexcept {
  log2 = static_cast<unsigned>(__builtin_ctzl(static_cast<unsigned long>(o.stack_size)));
  if (the_limits.count == 0 || room_of_default(log2) >= the_limits.largest)
    return NTH_OK;
  unsigned enough = log2;
  while (enough <= largest_class_log2 && room_of_default(enough) < the_limits.largest)
    ++enough;
  char name[160];
  describe_function(the_limits.largest_callee, name, sizeof name);
  if (enough > largest_class_log2)
    return fail(NTH_EINVAL,
                "nth_init: %s, which is called through a stub, needs %u bytes of stack, more than the "
                "largest stack of "
                "%ld has room for; let nth-stack call it without one, or make its frame smaller",
                name, the_limits.largest_need, largest_stack_size);
  if (is_chosen_stack_size(o))
    return fail(NTH_EINVAL,
                "nth_init: NTH_STACK_SIZE is %ld, but %s, which is called through a stub, needs %u bytes of "
                "it; choose "
                "%ld or more, or none",
                o.stack_size, name, the_limits.largest_need, 1L << enough);
  log2 = enough;
  return NTH_OK;
}

} // namespace

nth_status start_runtime(const nth_options &o) noexcept {
  runtime &rt = the_runtime;
  unsigned stack_log2 = 0;
  if (const nth_status size = choose_stack_size(o, stack_log2); size != NTH_OK)
    return size;
  if (const nth_status slots = choose_slots(rt, o); slots != NTH_OK)
    return slots;
  const topology::load_report machine = topology::load(o.placement); // not known: one core is assumed
  if (machine.wrong[0] != '\0')
    return fail(NTH_EINVAL, "NTH_PLACEMENT: %s", machine.wrong);
  topology::begin_at(rt.seat.first_place);
  rt.workers = o.workers == 0 ? topology::default_workers() : static_cast<int>(o.workers);
  rt.policy = static_cast<nth_policy>(o.stack_policy);
  rt.stack_log2 = stack_log2;
  rt.backlog_blocks = (static_cast<std::uint64_t>(o.backlog) + block_size - 1) / block_size;
  rt.spin_ns = static_cast<std::uint64_t>(o.spin_us) * 1000;
  rt.report_deadlock = o.report_deadlock != 0;
  rt.bind = o.bind != 0;
  rt.crowded = rt.seat.crowded || rt.workers > topology::usable_cores();
  rt.print_stats = o.stats != 0;
  rt.strict = static_cast<unsigned>(o.stack_strict);
  rt.stack_most = static_cast<std::size_t>(o.stack_most);
  rt.sleepers.store(0, std::memory_order_relaxed);
  rt.searching.store(0, std::memory_order_relaxed);
  rt.stopping.store(false, std::memory_order_relaxed);
  rt.poller.store(-1, std::memory_order_relaxed);
  one_sided_barrier = os::barrier_register();

  const home_layout homes(rt.workers);
  if (!the_area.open(static_cast<std::size_t>(o.area_size), homes.nodes, homes.homes_each, rt.seat.area)) {
    topology::unload();
    return no_area(o, rt.workers, homes);
  }
  bind_memory(rt);
  const thresholds stacks = {o.stacks_local, o.stacks_node, o.stacks_global};
  const thresholds descs = {o.descriptors_local, o.descriptors_node, o.descriptors_global};
  the_blocks.open(homes.nodes, rt.workers);
  // Under policy dos a descriptor is a stack.
  open_descs(rt.policy == NTH_POLICY_DOS ? stacks : descs, homes.nodes, rt.workers);
  if (!the_stacks.open(rt.stack_log2, o.guard != 0, stacks, homes.nodes, rt.workers) || !make_workers(rt) ||
      !prepare_stacks(rt)) {
    const int workers = rt.workers;
    close_memory(rt);
    topology::unload();
    char limits[200];
    return fail(NTH_ENOMEM, "nth_init: no memory for %d workers and their stacks of %ld bytes; %s", workers,
                1L << rt.stack_log2, os::describe_limits(limits, sizeof limits));
  }
  open_limits();
  the_needs.choose_classes();
  static_cast<void>(os::overflow_install(locate));
  kthreads = rt.workers;
  for (int i = 0; i < rt.workers; ++i) {
    rt.at(i)->kernel_thread = os::thread_start(worker_main, rt.at(i), kernel_stack_bytes);
    if (rt.at(i)->kernel_thread == 0) {
      const int workers = rt.workers;
      stop_workers(rt, i);
      os::overflow_uninstall();
      close_memory(rt);
      topology::unload();
      char limits[200];
      return fail(NTH_ESYS,
                  "nth_init: the kernel refused thread %d of %d; lower NTH_WORKERS or raise the limit on "
                  "processes (ulimit -u), or, if its stack was refused: %s",
                  i + 1, workers, os::describe_limits(limits, sizeof limits));
    }
  }
  rt.up.store(true, std::memory_order_release);
  return NTH_OK;
}

namespace {

struct living {
  long all;
  long moving; // of them, ready or running
};

living count_living() noexcept {
  living sum{0, 0};
  for_each_live(
      [](nth_desc *d, void *context) noexcept {
        auto *counts = static_cast<living *>(context);
        const thread_state s = state_of(d);
        ++counts->all;
        if (s == thread_state::ready_fresh || s == thread_state::ready_again)
          ++counts->moving;
      },
      &sum);
  return sum;
}

// What a thread last did may have been seen by the caller of nth_finalize before the worker that runs it has
// counted it as ended, and a thread that it has woken may wait for the worker that it blocked on. So threads that
// are not blocked, and workers that are not asleep, are given this long.
constexpr std::uint64_t last_steps_ns = 1'000'000'000;

} // namespace

long wait_for_last_threads() noexcept {
  const runtime &rt = the_runtime;
  const std::uint64_t until = os::now_ns() + last_steps_ns;
  living left = count_living();
  while (left.all != 0 && os::now_ns() < until) {
    const bool at_rest = rt.sleepers.load(std::memory_order_seq_cst) == rt.workers;
    left = count_living();
    if (left.moving == 0 && at_rest)
      break;
    os::yield_processor();
  }
  return left.all;
}

nth_status stop_runtime() noexcept {
  runtime &rt = the_runtime;
  if (const long left = wait_for_last_threads())
    return fail(NTH_EBUSY,
                "nth_finalize: %ld threads are alive (nth_report_blocked names those that are blocked); let "
                "them end, or detach kernel threads that are attached",
                left);
  rt.up.store(false, std::memory_order_release);
  stop_workers(rt, rt.workers);
  if (rt.print_stats)
    write_stats(STDERR_FILENO);
  os::overflow_uninstall();
  close_memory(rt);
  topology::unload();
  return NTH_OK;
}

void for_each_desc(visit_desc visit, void *context) noexcept {
  const bool dos = the_runtime.policy == NTH_POLICY_DOS;
  const unsigned r = dos ? the_stacks.region() : static_cast<unsigned>(region::descriptors);
  for (int h = 0; h < the_area.homes; ++h) {
    the_area.at(r, h).for_each([=](std::uintptr_t at) {
      visit(dos ? reinterpret_cast<nth_desc *>(at + the_stacks.size() - sizeof(stack_top)) - 1
                : reinterpret_cast<nth_desc *>(at),
            context);
    });
  }
}

void for_each_live(visit_desc visit, void *context) noexcept {
  struct wish {
    visit_desc visit;
    void *context;
  } w{visit, context};
  for_each_desc(
      [](nth_desc *d, void *wished) noexcept {
        const auto *it = static_cast<const wish *>(wished);
        const thread_state s = state_of(d);
        if (s != thread_state::free && s != thread_state::spill)
          it->visit(d, it->context);
      },
      &w);
}

} // namespace nth::detail
