// Threads of all ranks take and give back series of slots at random, in an area that is too small for all of them: each
// slot has one owner at all times. Two watches: whoever has a block of whole slots marks them in memory that all ranks
// share, and finds no other mark there, at any time; and between phases, when nobody runs, each slot is in the map of
// exactly one rank.
//   random <system-wide negotiations of all ranks, at least> [regroup]
#include "cluster/progress.hpp"
#include "cluster/purchases.hpp"
#include "iso/slots.hpp"
#include "ranks.hpp"

#include <atomic>
#include <cstring>
#include <vector>

namespace {

using nth::detail::iso::slot;
using nth::detail::iso::slot_range;
using nth::detail::iso::the_slots;

std::atomic<std::int32_t>
    *marks; // a word a slot, shared by all ranks: 1 + the rank of a thread that has it, or 0
std::uint64_t seed;
long steps_left;
std::atomic<long> refused;

std::uint64_t next_random(std::uint64_t &x) { // xorshift64 (Marsaglia 2003)
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return x;
}

struct series {
  char *block;
  slot first;
  slot count;
};

constexpr std::size_t header = 256; // of a large block, at most

series take(slot count, std::uint64_t word) {
  const std::size_t bytes = static_cast<std::size_t>(count) * the_slots.slot_bytes() - header;
  auto *block = static_cast<char *>(nth_isomalloc(bytes));
  if (block == nullptr) {
    refused.fetch_add(1);
    return {nullptr, 0, 0};
  }
  const series s{block, the_slots.slot_of(reinterpret_cast<std::uintptr_t>(block)), count};
  for (slot i = s.first; i < s.first + count; ++i)
    CHECK(marks[i].exchange(nth_rank() + 1) == 0);
  std::memcpy(block, &word, sizeof word);
  std::memcpy(block + bytes - sizeof word, &word, sizeof word);
  return s;
}

void give(const series &s, std::uint64_t word) {
  const std::size_t bytes = static_cast<std::size_t>(s.count) * the_slots.slot_bytes() - header;
  CHECK(std::memcmp(s.block, &word, sizeof word) == 0);
  CHECK(std::memcmp(s.block + bytes - sizeof word, &word, sizeof word) == 0);
  for (slot i = s.first; i < s.first + s.count; ++i)
    CHECK(marks[i].exchange(0) == nth_rank() + 1);
  nth_isofree(s.block);
}

void walker(long number) {
  std::uint64_t random = seed + static_cast<std::uint64_t>(number) * 0x9e37'79b9'7f4a'7c15U;
  constexpr int most = 10;
  series held[most] = {};
  std::uint64_t words[most] = {};
  while (__atomic_sub_fetch(&steps_left, 1, __ATOMIC_RELAXED) > 0) {
    const auto i = next_random(random) % most;
    if (held[i].block != nullptr) {
      give(held[i], words[i]);
      held[i] = {};
    } else {
      words[i] = next_random(random);
      held[i] = take(static_cast<slot>(1 + next_random(random) % 7), words[i]);
    }
    if (next_random(random) % 4 == 0)
      nth_yield();
  }
  for (int i = 0; i < most; ++i) {
    if (held[i].block != nullptr)
      give(held[i], words[i]);
  }
}

void phase() {
  constexpr long threads = 4;
  nth_depadd(nth_self(), threads + 1);
  nth_desc *me = nth_self();
  for (long i = 0; i < threads; ++i)
    nth_to_lrq(static_cast<int>(i % kthreads), nth_create(walker, 0, 1, 1, me, i));
  nth_block();
}

// What was sent has been read: no slot is on its way.
void wait_for_rest() {
  namespace cluster = nth::detail::cluster;
  for (bool rest = false; !rest;) {
    cluster::transport::numbers n{};
    cluster::with_transport([&] { n = cluster::transport::count(); });
    const std::uint64_t busy = cluster::purchases_at_rest() ? 0 : 1;
    const std::uint64_t sent = ranks::sum(static_cast<std::uint64_t>(n.sent));
    rest = ranks::sum(static_cast<std::uint64_t>(n.received)) == sent && ranks::sum(busy) == 0;
  }
}

// Nobody takes or gives anything on any rank: each slot is in exactly one map.
void count_owners() {
  wait_for_rest();
  const auto slots = static_cast<std::size_t>(the_slots.size());
  std::vector<std::int32_t> mine(slots), all(slots);
  std::vector<slot_range> runs(slots);
  the_slots.freeze();
  slot covered = 0;
  const std::size_t n = the_slots.list(0, runs.data(), runs.size(), covered);
  the_slots.thaw();
  CHECK(covered == the_slots.size());
  for (std::size_t i = 0; i < n; ++i) {
    for (slot s = runs[i].first; s < runs[i].first + runs[i].count; ++s)
      ++mine[static_cast<std::size_t>(s)];
  }
  MPI_Allreduce(mine.data(), all.data(), static_cast<int>(slots), MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
  for (std::size_t s = 0; s < slots; ++s) {
    CHECK(all[s] == 1);
    CHECK(marks[s].load() == 0);
  }
}

nth_cluster_stats stats() {
  nth_cluster_stats s;
  CHECK(nth_get_cluster_stats(&s) == NTH_OK);
  return s;
}

void regroup_root() { CHECK(nth_regroup_slots() == NTH_OK); }

} // namespace

int main(int argc, char **argv) {
  const ranks::cluster cluster(&argc, &argv);
  const auto wanted = static_cast<std::uint64_t>(argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1000);
  const bool regroups = argc > 2;
  MPI_Win window;
  void *shared = nullptr;
  const MPI_Aint bytes = nth_rank() == 0 ? the_slots.size() * static_cast<MPI_Aint>(sizeof *marks) : 0;
  MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
  MPI_Aint size = 0;
  int unit = 0;
  MPI_Win_shared_query(window, 0, &size, &unit, &shared);
  marks = static_cast<std::atomic<std::int32_t> *>(shared);
  MPI_Barrier(MPI_COMM_WORLD);

  seed = 0x1234'5678 + static_cast<std::uint64_t>(nth_rank()) * 7919;
  std::uint64_t done = 0, wide = 0, failed = 0, phases = 0;
  for (; wide + failed < wanted; ++phases) {
    steps_left = 400;
    ++seed;
    ranks::run(phase);
    if (regroups &&
        phases % static_cast<std::uint64_t>(nth_ranks()) == static_cast<std::uint64_t>(nth_rank()))
      ranks::run(regroup_root); // while the others may still be at work
    CHECK(nth_cluster_barrier() == NTH_OK);
    MPI_Barrier(MPI_COMM_WORLD);
    count_owners();
    const nth_cluster_stats s = stats();
    done = ranks::sum(static_cast<std::uint64_t>(s.purchases));
    wide = ranks::sum(static_cast<std::uint64_t>(s.system_wide));
    failed = ranks::sum(static_cast<std::uint64_t>(s.failed));
  }
  const nth_cluster_stats s = stats();
  const std::uint64_t messages = ranks::sum(static_cast<std::uint64_t>(s.messages));
  const std::uint64_t message_bytes = ranks::sum(static_cast<std::uint64_t>(s.message_bytes));
  const std::uint64_t without = ranks::sum(static_cast<std::uint64_t>(refused.load()));
  CHECK(failed == without);
  if (nth_rank() == 0)
    nth_printf("%d ranks, %ld phases: %ld purchases, %ld system-wide, %ld in vain; %ld messages, %ld bytes\n",
               nth_ranks(), static_cast<long>(phases), static_cast<long>(done), static_cast<long>(wide),
               static_cast<long>(failed), static_cast<long>(messages), static_cast<long>(message_bytes));
  MPI_Win_free(&window);
  return 0;
}
