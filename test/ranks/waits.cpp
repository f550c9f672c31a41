// Threads that wait for other ranks let others of their worker run, on whatever stack they have, and keep what is
// theirs: rank 0 has one worker, and what rank 1 waits for comes from a thread that runs after the one in the barrier.
#include "ranks.hpp"

#include <cerrno>
#include <initializer_list>

namespace {

void in_barrier() { CHECK(nth_cluster_barrier() == NTH_OK); }

void tell_rank_1() {
  int word = 1;
  if (nth_rank() == 0)
    MPI_Send(&word, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
}

// errno is the thread's, also while this rank's worker reads what others print.
void keep_errno() {
  for (int i = 0; i < 200'000; ++i) {
    errno = 77;
    nth_yield();
    CHECK(errno == 77);
  }
}

void print() {
  for (int i = 0; i < 300; ++i)
    nth_printf("line %d\n", i);
}

void two(void (*first)(), long stack_bytes, void (*second)()) {
  nth_desc *me = nth_self();
  nth_depadd(me, 3);
  nth_desc *one = nth_create_ls(first, 0, me, 0);
  nth_desc *other = nth_create_ls(second, 0, me, 0);
  if (stack_bytes != 0)
    CHECK(nth_set_stack_size(one, stack_bytes) == NTH_OK);
  nth_to_lrq(0, other);
  nth_to_lrq(0, one); // runs first
  nth_block();
}

void barrier_on_default_stack() { two(in_barrier, 0, tell_rank_1); }
void barrier_on_own_stack() { two(in_barrier, 256 << 10, tell_rank_1); }
void both_print() { two(keep_errno, 0, print); }
void print_one() { CHECK(nth_printf("%cafter the cluster run\n", 0) == 23); }

} // namespace

int main(int argc, char **argv) {
  {
    const ranks::cluster cluster(&argc, &argv);
    for (void (*root)() : {barrier_on_default_stack, barrier_on_own_stack}) {
      if (nth_rank() == 0) {
        ranks::run(root);
      } else {
        int word = 0;
        MPI_Recv(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(nth_cluster_barrier() == NTH_OK);
      }
    }
    ranks::run(both_print);
    CHECK(nth_finalize() == NTH_ESTATE && nth_init(nullptr) == NTH_ESTATE);
    CHECK(nth_cluster_init(nullptr, nullptr, nullptr) == NTH_ESTATE);
  }
  // A run without ranks goes on as ever.
  CHECK(nth_init(nullptr) == NTH_OK);
  CHECK(nth_run(print_one, 0) == NTH_OK);
  CHECK(nth_finalize() == NTH_OK);
  return 0;
}
