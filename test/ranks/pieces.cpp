// Stacks and descriptors of rank 0 that other ranks have had come home in chains: as many as were lent, and they are
// used again. (Here rank 0 tells their addresses; threads that move take them along.)
#include "cluster/pieces.hpp"
#include "cluster/transport.hpp"
#include "memory/stack.hpp"
#include "ranks.hpp"
#include "thread/outside.hpp"

#include <algorithm>
#include <sched.h>
#include <vector>

using namespace nth::detail;

namespace {

constexpr int descriptors = 150; // two chains of 64, and a rest
constexpr int stacks = 70;

nth_stats stats() {
  nth_stats s;
  CHECK(nth_get_stats(&s) == NTH_OK);
  return s;
}

long idle_descriptors() { // in lists
  const nth_object_stats s = stats().descriptors;
  return s.worker + s.node + s.global + s.under_way;
}
long idle_stacks() {
  const nth_object_stats s = stats().stacks[the_stacks.region()];
  return s.node + s.global;
}

} // namespace

int main(int argc, char **argv) {
  const ranks::cluster cluster(&argc, &argv);
  std::vector<void *> lent(descriptors + stacks);
  long before_descriptors = 0, before_stacks = 0;
  if (nth_rank() == 0) {
    const outside_scope outside;
    for (int i = 0; i < descriptors; ++i) {
      lent[i] = take_desc(outside.get());
      CHECK(lent[i] != nullptr);
    }
    for (int i = descriptors; i < descriptors + stacks; ++i) {
      content holds{};
      lent[i] = the_stacks.carve(outside->home, holds);
      CHECK(lent[i] != nullptr);
    }
    for (const void *p : lent)
      CHECK(the_area.rank_of(p) == 0);
  }
  if (nth_rank() == 0) {
    before_descriptors = idle_descriptors();
    before_stacks = idle_stacks();
  }
  MPI_Bcast(lent.data(), static_cast<int>(lent.size() * sizeof(void *)), MPI_BYTE, 0, MPI_COMM_WORLD);
  // Each other rank has had its share.
  for (std::size_t i = 0; i < lent.size(); ++i) {
    if (nth_rank() != 0 && static_cast<int>(i) % (nth_ranks() - 1) == nth_rank() - 1)
      cluster::return_piece(lent[i]);
  }
  // What does not fill a chain goes when there is nothing else to do.
  while (cluster::pieces_under_way() != 0)
    sched_yield();
  if (nth_rank() == 0) {
    while (idle_descriptors() < before_descriptors + descriptors || idle_stacks() < before_stacks + stacks)
      sched_yield();
    CHECK(idle_descriptors() == before_descriptors + descriptors);
    CHECK(idle_stacks() == before_stacks + stacks);
    const outside_scope outside; // and are used again
    std::vector<void *> again(descriptors);
    for (void *&p : again)
      p = take_desc(outside.get());
    long same = 0;
    for (void *p : again) {
      same += std::count(lent.begin(), lent.begin() + descriptors, p);
      release_desc(outside.get(), static_cast<nth_desc *>(p));
    }
    CHECK(same > 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}
