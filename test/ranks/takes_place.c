/* Something lies where the areas usually are, on the rank whose number is given: the ranks agree on other places.
 * takes_place <rank> [everywhere]: with a second word there is no place left on that rank. */
#include "nth/cluster.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static void take(uintptr_t at, uintptr_t end) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  if (mmap((void *)at, end - at, PROT_NONE, flags, -1, 0) != (void *)at)
    abort();
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &rank);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == strtol(argv[1], NULL, 10)) {
    if (argc > 2) {
      take(0x110000000000, 0x500000000000);
    } else {
      take(0x200003000000, 0x200003001000);
      take(0x300000000000, 0x300000001000);
    }
  }
  const nth_status status = nth_cluster_init(&argc, &argv, NULL);
  if (status != NTH_OK) {
    fprintf(stderr, "%s\n", nth_last_error());
    MPI_Finalize();
    return 3;
  }
  void *block = nth_isomalloc(100);
  printf("areas elsewhere: block at %p\n", block);
  nth_isofree(block);
  if (nth_cluster_finalize() != NTH_OK)
    abort();
  MPI_Finalize(); /* the program has started it */
  return block == NULL;
}
