/* Runs one of the programs: by nano-threads, then sequentially, and compares. Writes one JSON object.
 *
 *   sor --threads 64 --need 384 --steps 100
 *
 * Between two stores to heaps_marks, whose addresses --marks prints, lie the threads from their creation to their end. */
#include "heaps.h"
#include "mistake.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile long heaps_marks[2];

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "%s: %s\n", heaps_name, what);
  exit(2);
}

void *heaps_memory(size_t count, size_t bytes) {
  char *p = calloc(count, bytes);
  if (p == NULL)
    fail("no memory for the data");
  /* Touched, so that no thread's stack is charged with it. */
  for (size_t i = 0; i < count * bytes; i += 4096)
    ((volatile char *)p)[i] = 0;
  return p;
}

struct options {
  struct heaps_order order;
  long workers, need;
  int marks, unchecked;
};

static long number(const char *name, const char *text, long least, long most) {
  char *end = NULL;
  errno = 0;
  const long value = strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || errno != 0 || value < least || value > most) {
    fprintf(stderr, "%s: --%s: '%s' is no number from %ld to %ld\n", heaps_name, name, text, least, most);
    exit(2);
  }
  return value;
}

static struct options read_options(int argc, char **argv) {
  enum { threads = 1, size, steps, workers, need, provoke, marks, unchecked, help };
  static const struct option known[] = {{"threads", required_argument, NULL, threads},
                                        {"size", required_argument, NULL, size},
                                        {"steps", required_argument, NULL, steps},
                                        {"workers", required_argument, NULL, workers},
                                        {"need", required_argument, NULL, need},
                                        {"provoke", no_argument, NULL, provoke},
                                        {"marks", no_argument, NULL, marks},
                                        {"unchecked", no_argument, NULL, unchecked},
                                        {"help", no_argument, NULL, help},
                                        {NULL, 0, NULL, 0}};
  struct options o = {heaps_default, 1, 0, 0, 0};
  for (int found; (found = getopt_long(argc, argv, "", known, NULL)) != -1;)
    switch (found) {
    case threads:
      o.order.threads = number("threads", optarg, 1, 1L << 24);
      break;
    case size:
      o.order.size = number("size", optarg, 1, 1L << 24);
      break;
    case steps:
      o.order.steps = number("steps", optarg, 1, 1L << 40);
      break;
    case workers:
      o.workers = number("workers", optarg, 1, NTH_MAX_WORKERS);
      break;
    case need:
      o.need = number("need", optarg, 0, 1L << 20);
      break;
    case provoke:
      o.order.provoke = 1;
      break;
    case marks:
      o.marks = 1;
      break;
    case unchecked:
      o.unchecked = 1;
      break;
    default:
      fprintf(stderr,
              "%s [--threads N] [--size N] [--steps N] [--workers N] [--need BYTES] [--provoke]\n"
              "    [--marks] [--unchecked]\n"
              "  --need     bytes of stack that a thread needs, which chooses its stack; 0: stacks of "
              "NTH_STACK_SIZE\n"
              "  --provoke  plants a mistake in the data, which the threads report and mend\n"
              "  --marks    prints the addresses that a trace's interesting part begins and ends with\n"
              "  --unchecked  no sequential run, and nothing is compared: for traces\n",
              heaps_name);
      exit(found == help ? 0 : 2);
    }
  if (optind != argc)
    fail("takes options only; --help lists them");
  const char *refusal = heaps_refusal(&o.order);
  if (refusal != NULL)
    fail(refusal);
  return o;
}

static void master(void *state, long threads) {
  struct nth_desc *const self = nth_self();
  heaps_marks[0] = 1;
  nth_depadd(self, threads + 1);
  for (long i = 0; i < threads; i++) {
    struct nth_desc *t = nth_create_ls((void (*)())heaps_thread, 0, self, 2, (long)state, i);
    if (t == NULL)
      fail("no memory for the threads");
    nth_to_lrq_end((int)(i % kthreads), t);
  }
  nth_block();
  heaps_marks[1] = 1;
}

static void must(nth_status status) {
  if (status != NTH_OK)
    fail(nth_last_error());
}

/* Not by getrusage, whose peak is at least that of the process which started this one. */
static long most_resident(void) {
  FILE *status = fopen("/proc/self/status", "r");
  char line[128];
  long kib = -1;
  while (status != NULL && kib < 0 && fgets(line, sizeof line, status) != NULL)
    if (strncmp(line, "VmHWM:", 6) == 0)
      kib = strtol(line + 6, NULL, 10);
  if (kib < 0)
    fail("/proc/self/status does not tell of resident memory (VmHWM)");
  fclose(status);
  return kib * 1024;
}

/* Of the class from which all threads, blocked at one time, had theirs. */
static long stack_bytes_of(const nth_stats *stats, long threads) {
  for (int i = 0; i < NTH_STACK_CLASSES; i++)
    if (stats->stacks[i].most >= threads)
      return stats->stacks[i].bytes;
  return 0;
}

/* NULL, or what is wrong with the result; the sequential run is made for it. */
static const char *wrong_of(void *state, const struct heaps_order *order) {
  struct heaps_order one = *order;
  one.threads = 1;
  void *const alone = heaps_prepare(&one);
  heaps_thread(alone, 0);
  const char *wrong = heaps_wrong(state, alone);
  heaps_free(alone);
  if (wrong == NULL && order->provoke && heaps_mistakes() == 0)
    wrong = "the mistake that was planted has not been reported";
  if (wrong == NULL && !order->provoke && heaps_mistakes() != 0)
    wrong = "a mistake was reported";
  return wrong;
}

int main(int argc, char **argv) {
  const struct options o = read_options(argc, argv);
  if (o.marks) {
    printf("%lx %lx\n", (unsigned long)&heaps_marks[0], (unsigned long)&heaps_marks[1]);
    return 0;
  }
  const nth_stack_need entry = {(void (*)())heaps_thread, o.need, 1};
  if (o.need != 0)
    must(nth_set_stack_needs(&entry, 1));
  nth_options run;
  must(nth_options_init(&run));
  run.workers = o.workers;
  must(nth_init(&run));
  void *const state = heaps_prepare(&o.order);
  const long before = most_resident();
  must(nth_run((void (*)())master, 2, (long)state, o.order.threads));
  const long resident = most_resident() - before;
  nth_stats stats;
  must(nth_get_stats(&stats));
  must(nth_finalize());

  const char *wrong = o.unchecked ? NULL : wrong_of(state, &o.order);
  /* A thread that ends is a switch to the next one, too. */
  printf("{\"program\": \"%s\", \"threads\": %ld, \"size\": %ld, \"steps\": %ld, \"workers\": %ld, "
         "\"need\": %ld, \"data_bytes\": %ld, \"switches\": %ld, ",
         heaps_name, o.order.threads, o.order.size, o.order.steps, o.workers, o.need, heaps_bytes(state),
         heaps_switches(state) + o.order.threads);
  printf("\"stack_bytes\": %ld, \"resident_bytes\": %ld, \"mistakes\": %ld, \"checked\": %s, \"wrong\": "
         "\"%s\"}\n",
         stack_bytes_of(&stats, o.order.threads), resident, heaps_mistakes(), o.unchecked ? "false" : "true",
         wrong == NULL ? "" : wrong);
  heaps_free(state);
  return wrong == NULL ? 0 : 1;
}
