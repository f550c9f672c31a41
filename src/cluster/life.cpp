// The life of a cluster run: nth_cluster_init, nth_cluster_finalize, and questions.
#include "arch/arch.hpp"
#include "base/error.hpp"
#include "base/options.hpp"
#include "c_api/check.hpp"
#include "cluster/agree.hpp"
#include "cluster/cluster.hpp"
#include "cluster/jumps.hpp"
#include "cluster/pieces.hpp"
#include "cluster/places.hpp"
#include "cluster/print.hpp"
#include "cluster/progress.hpp"
#include "cluster/purchases.hpp"
#include "nth/cluster.h"
#include "os/os.hpp"
#include "thread/own_heap.hpp"

#include <atomic>
#include <cstdio>

using namespace nth::detail;

namespace nth::detail::cluster {

namespace {

std::atomic<bool> up_as_rank{false};
int my_rank{0};
int all_ranks{1};
std::atomic<bool> in_barrier{false};
bool all_have_ended{false}; // all ranks are in nth_cluster_finalize

void choose_options(const nth_options *wanted, nth_options &chosen, card &c) noexcept {
  nth_status status = NTH_OK;
  if (wanted != nullptr)
    chosen = *wanted;
  else
    status = nth_options_init(&chosen);
  if (status == NTH_OK)
    status = check_options(chosen);
  if (status != NTH_OK)
    std::snprintf(c.trouble, sizeof c.trouble, "%s", nth_last_error());
}

// Both areas at the same places everywhere. All ranks call it: the same answer on all.
nth_status agree_on_areas(const nth_options &o, unsigned home_bits, cluster_seat &seat) noexcept {
  seat.area.rank = my_rank;
  seat.area.ranks = all_ranks;
  seat.area.home_bits = static_cast<unsigned>(transport::maximum(home_bits));
  const auto wanted = static_cast<std::size_t>(o.area_size);
  const std::size_t least = area::least(1, 1, seat.area);
  if (!agree_on_place(area::preferred_base, wanted, least, seat.area.base, seat.area.bytes))
    return fail(
        NTH_ENOMEM,
        "nth_cluster_init: no addresses for %d ranks, an area of %zu GiB at least, are free on all of them; "
        "raise limits on address space, NTH_AREA_SIZE, or lower NTH_WORKERS",
        all_ranks, least >> 30);
  const auto slot_bytes = static_cast<std::size_t>(o.slot_size);
  if (!agree_on_place(iso::preferred_iso_base, static_cast<std::size_t>(o.iso_size),
                      slot_bytes * static_cast<std::size_t>(all_ranks), seat.iso_base, seat.iso_bytes)) {
    os::release(reinterpret_cast<void *>(seat.area.base), seat.area.bytes);
    return fail(NTH_ENOMEM,
                "nth_cluster_init: no addresses for slots, one of %zu bytes a rank at least, are free on "
                "all of the %d ranks; raise limits on address space, or NTH_ISO_SIZE, or lower NTH_SLOT_SIZE",
                slot_bytes, all_ranks);
  }
  return NTH_OK;
}

void release_areas(const cluster_seat &seat) noexcept {
  os::release(reinterpret_cast<void *>(seat.area.base), seat.area.bytes);
  os::release(reinterpret_cast<void *>(seat.iso_base), seat.iso_bytes);
}

// The run-time, and what serves other ranks. Messages may come when all ranks are through.
nth_status start_rank(const nth_options &o) noexcept {
  runtime &rt = the_runtime;
  open_print();
  if (!open_progress(o.cluster_thread != 0, static_cast<std::uint64_t>(o.cluster_poll_us) * 1000) ||
      !open_pieces())
    return fail(NTH_ENOMEM, "nth_cluster_init: no memory or no kernel thread for messages between ranks");
  if (all_ranks > 1 && o.cluster_thread == 0) {
    rt.seat.progress = progress;
    rt.seat.poll_ns = static_cast<std::uint64_t>(o.cluster_poll_us) * 1000;
  }
  const nth_status started = nth_init(&o);
  if (started != NTH_OK)
    return started;
  keep_jumps_plain();
  if (open_slots() && open_purchases(o.slot_prebuy))
    return NTH_OK;
  return fail(NTH_ENOMEM, "nth_cluster_init: no memory for the map of %zu slots of %ld bytes",
              rt.seat.iso_bytes / static_cast<std::size_t>(o.slot_size), o.slot_size);
}

void stop_rank() noexcept {
  keep_jumps_plain(); // there is no area any more
  close_purchases();
  close_pieces();
  close_progress();
  release_areas(the_runtime.seat);
  the_runtime.seat = {};
  all_have_ended = false;
  transport::stop();
  up_as_rank.store(false, std::memory_order_release);
  my_rank = 0;
  all_ranks = 1;
}

void wait_for_all(bool may_suspend) noexcept {
  with_transport([] { transport::begin_barrier(); });
  bool done = false;
  wait_until(may_suspend, [&] {
    with_transport([&] { done = transport::barrier_done(); });
    return done;
  });
}

// All ranks are in nth_cluster_finalize: what was sent before is still to be read.
void read_the_rest() noexcept {
  send_pieces();
  wait_for_all(false);
  long expected = 0;
  with_transport([&] { expected = transport::addressed_here(); });
  wait_until(false, [&] {
    long received = 0;
    with_transport([&] { received = transport::count().received; });
    return received >= expected;
  });
}

} // namespace

bool is_up() noexcept { return up_as_rank.load(std::memory_order_acquire); }

} // namespace nth::detail::cluster

using namespace nth::detail::cluster;

extern "C" NTH_API nth_status nth_cluster_init(int *argc, char ***argv, const nth_options *options) {
  if (is_up())
    return fail(NTH_ESTATE, "nth_cluster_init: a cluster run is up already; call nth_cluster_finalize first");
  const char *wrong = nullptr; // what only this rank may know, and all must hear of
  if (!transport::start(argc, argv, wrong))
    return fail(NTH_ESYS, "nth_cluster_init: %s", wrong);
  if (up())
    wrong = "nth_init has been called; a cluster run begins with nth_cluster_init alone";
  my_rank = transport::rank();
  all_ranks = transport::ranks();
  card mine{};
  if (wrong != nullptr)
    std::snprintf(mine.trouble, sizeof mine.trouble, "%s", wrong);
  nth_options chosen;
  choose_options(options, chosen, mine);
  cluster_seat seat;
  const unsigned home_bits = choose_places(chosen, seat, mine);
  fill_card(mine, chosen);
  nth_status status = agree(mine);
  if (status == NTH_OK)
    status = agree_on_areas(chosen, home_bits, seat);
  if (status != NTH_OK) {
    transport::stop();
    my_rank = 0;
    all_ranks = 1;
    return status;
  }
  seat.canary = arch::canary();
  transport::broadcast(&seat.canary, sizeof seat.canary);
  the_runtime.seat = seat;
  status = start_rank(chosen);
  std::int64_t all_good = 0;
  with_transport([&] { all_good = transport::minimum(status == NTH_OK); });
  if (all_good == 0) {
    if (status == NTH_OK)
      status = fail(NTH_ENOMEM, "nth_cluster_init: another rank could not start; its message says why");
    if (up())
      static_cast<void>(finalize_run()); // no thread has been made
    stop_rank();
    return status;
  }
  up_as_rank.store(true, std::memory_order_release);
  return NTH_OK;
}

extern "C" NTH_API nth_status nth_cluster_finalize(void) {
  if (worker_or_null() != nullptr)
    return fail(NTH_ESTATE, "nth_cluster_finalize: called in a nano-thread; return from it and call where "
                            "nth_cluster_init was called");
  if (!is_up() || !up())
    return fail(NTH_ESTATE, "nth_cluster_finalize: no cluster run is up");
  if (const long left = wait_for_last_threads())
    return fail(NTH_EBUSY,
                "nth_cluster_finalize: %ld threads are alive (nth_report_blocked names those that are "
                "blocked); let them end, or detach kernel threads that are attached",
                left);
  if (!all_have_ended) // else a kernel thread has called nth_run since, and this is another try
    read_the_rest();
  all_have_ended = true;
  const nth_status stopped = finalize_run();
  if (stopped == NTH_OK)
    stop_rank();
  return stopped;
}

extern "C" NTH_API int nth_rank(void) { return my_rank; }
extern "C" NTH_API int nth_ranks(void) { return all_ranks; }

extern "C" NTH_API nth_status nth_cluster_barrier(void) {
  if (!is_up())
    return fail(NTH_ESTATE, "nth_cluster_barrier: no cluster run is up; call nth_cluster_init first");
  if (in_barrier.exchange(true, std::memory_order_acquire))
    return fail(NTH_ESTATE,
                "nth_cluster_barrier: another thread of this rank waits in it; one call at a time");
  wait_for_all(true);
  in_barrier.store(false, std::memory_order_release);
  return NTH_OK;
}

extern "C" NTH_API nth_status nth_regroup_slots(void) {
  if (!is_up())
    return fail(NTH_ESTATE, "nth_regroup_slots: no cluster run is up; call nth_cluster_init first");
  if (regroup() != taking::ok)
    return fail(NTH_ENOMEM, "nth_regroup_slots: no memory; nothing is lost");
  return NTH_OK;
}

extern "C" NTH_API nth_status nth_get_cluster_stats(nth_cluster_stats *stats) {
  if (stats == nullptr)
    return fail(NTH_EINVAL, "nth_get_cluster_stats: the argument is NULL");
  if (!is_up())
    return fail(NTH_ESTATE, "nth_get_cluster_stats: no cluster run is up");
  const negotiation_numbers n = count_purchases();
  transport::numbers t{};
  with_transport([&] { t = transport::count(); });
  *stats = {n.purchases, n.local,       n.from_one, n.system_wide, n.failed,
            n.sales,     n.regroupings, t.sent,     t.sent_bytes,  polls()};
  return NTH_OK;
}
