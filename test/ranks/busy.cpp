// A rank one of whose workers computes and never calls nth still sells slots: another worker looks for messages, or, with
// NTH_CLUSTER_THREAD=1, the kernel thread that is there for it. Rank 1 computes until rank 0 has what it wants, so a
// rank 1 that answers nobody never ends.
#include "iso/slots.hpp"
#include "ranks.hpp"

#include <atomic>
#include <unistd.h>

namespace {

using nth::detail::iso::slot;
using nth::detail::iso::taking;

std::atomic<int> *round_done; // shared by the ranks
int current_round;

void compute() {
  while (round_done->load(std::memory_order_relaxed) < current_round) {
  }
}

void buy() {
  slot first = 0;
  for (int i = 0; i < 20; ++i) {
    CHECK(nth::detail::iso::obtain(4, i % 2 == 0, first) == taking::ok);
    if (i % 5 == 0)
      usleep(1000); // until then whoever looks for messages may have gone to sleep
  }
}

} // namespace

int main(int argc, char **argv) {
  const ranks::cluster cluster(&argc, &argv);
  MPI_Win window;
  void *shared = nullptr;
  MPI_Win_allocate_shared(nth_rank() == 0 ? 64 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
  MPI_Aint size = 0;
  int unit = 0;
  MPI_Win_shared_query(window, 0, &size, &unit, &shared);
  round_done = static_cast<std::atomic<int> *>(shared);
  if (nth_rank() == 0) {
    slot first = 0;
    while (nth::detail::iso::the_slots.take(1, first) == taking::ok) {
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (current_round = 1; current_round <= 30; ++current_round) {
    if (nth_rank() == 1) {
      ranks::run(compute); // its kernel thread outside sleeps meanwhile
      usleep(current_round % 3 * 300);
    } else {
      ranks::run(buy);
      round_done->store(current_round);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (nth_rank() == 0) {
    nth_cluster_stats s;
    CHECK(nth_get_cluster_stats(&s) == NTH_OK && s.from_one == 600);
  }
  MPI_Win_free(&window);
  return 0;
}
