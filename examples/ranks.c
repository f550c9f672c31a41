/* Lists in memory that keeps its address, on all ranks of a cluster run (paper 004, figure 8; threads of each rank walk
 * their own). mpirun -n 2 ./ranks [items], or alone. */
#include <nth/cluster.h>
#include <nth/pm2.h>

#include <stdio.h>
#include <stdlib.h>

struct item {
  long value;
  struct item *next;
};

static long items = 100000;

static void walk(long number) {
  struct item *head = NULL;
  for (long i = 0; i < items; i++) {
    struct item *one = pm2_isomalloc(sizeof *one);
    if (one == NULL) {
      nth_printf("no memory: %s\n", nth_last_error());
      return;
    }
    one->value = i * 2 + 1;
    one->next = head;
    head = one;
  }
  nth_yield();
  long sum = 0;
  for (const struct item *one = head; one != NULL; one = one->next)
    sum += one->value;
  nth_printf("list %ld begins at %p; its values add up to %ld\n", number, (void *)head, sum);
  /* The items go when the thread ends. */
}

static void root(void) {
  struct nth_desc *self = nth_self();
  nth_depadd(self, 3 + 1);
  for (long i = 0; i < 3; i++)
    nth_to_lrq((int)(i % kthreads), nth_create_ls((void (*)())walk, 0, self, 1, i));
  nth_block();
}

int main(int argc, char **argv) {
  if (nth_cluster_init(&argc, &argv, NULL) != NTH_OK) {
    fprintf(stderr, "%s\n", nth_last_error());
    return 1;
  }
  if (argc > 1)
    items = strtol(argv[1], NULL, 10);
  nth_status status = nth_run(root, 0);
  nth_iso_stats slots;
  if (status == NTH_OK && nth_get_iso_stats(&slots) == NTH_OK)
    nth_printf("%ld of %ld slots are this rank's\n", slots.slots_owned + slots.slots_taken, slots.slots);
  if (status == NTH_OK)
    status = nth_cluster_finalize();
  return status != NTH_OK;
}
