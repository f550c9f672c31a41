/* Other things at the area's place, what is left after a run, wrong options. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#endif
#include "program.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define USUAL_PLACE ((char *)0x200000000000)
static const size_t pages_bytes = 3 * 4096;

static char *take(char *place, size_t bytes, int protection) {
  char *at =
      mmap(place, bytes, protection,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (place != NULL ? MAP_FIXED_NOREPLACE : 0), -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

static struct nth_desc *seen;
static void see(void) { seen = nth_self(); }

/* Something lies where the area would: at its beginning, in its middle, at its end. */
int mode_taken(void) {
  static const size_t offsets[] = {0, (size_t)8 << 40, ((size_t)16 << 40) - 4096};
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; ++i) {
    unsigned char *at = (unsigned char *)take(USUAL_PLACE + offsets[i], pages_bytes, PROT_READ | PROT_WRITE);
    if (at == NULL)
      wrong("mmap", "the usual place is taken already", (long)i);
    for (size_t j = 0; j < pages_bytes; ++j)
      at[j] = (unsigned char)(j * 7 + i);
    start();
    nth_counters c;
    expect(nth_get_counters(&c) == NTH_OK, "nth_get_counters", 0);
    run_many(20000);
    expect(block_many(500, 1) == 0, "all threads block", 500);
    expect(nth_run(see, 0) == NTH_OK, "nth_run", 0);
    const uintptr_t area = (uintptr_t)seen, mine = (uintptr_t)at;
    expect(area < mine || area >= mine + pages_bytes, "a descriptor lies elsewhere", (long)area);
    printf("taken at %p: an area of %ld GiB, a descriptor at %p\n", (void *)at, c.reserved_bytes >> 30,
           (void *)seen);
    finish();
    for (size_t j = 0; j < pages_bytes; ++j)
      expect(at[j] == (unsigned char)(j * 7 + i), "what lay there is as it was", (long)j);
    expect(munmap(at, pages_bytes) == 0, "munmap", 0);
  }
  return 0;
}

/* No place is left anywhere: the message says so and names what lies at the usual one. */
int mode_full(void) {
  static struct {
    char *at;
    size_t bytes;
  } all[4096];
  int n = 0;
  all[n].at = take(USUAL_PLACE, pages_bytes, PROT_NONE);
  all[n++].bytes = pages_bytes;
  for (size_t bytes = (size_t)64 << 40; bytes >= (size_t)512 << 20; bytes /= 2) {
    for (char *at; n < 4096 && (at = take(NULL, bytes, PROT_NONE)) != NULL; ++n) {
      all[n].at = at;
      all[n].bytes = bytes;
    }
  }
  const nth_status status = nth_init(NULL);
  char message[600];
  snprintf(message, sizeof message, "%s", nth_last_error());
  for (int i = 0; i < n; ++i)
    munmap(all[i].at, all[i].bytes);
  printf("%d mappings fill the address space: %s\n", n, message);
  expect(status == NTH_ENOMEM, "no place: NTH_ENOMEM", status);
  expect(strstr(message, "1 GiB") != NULL && strstr(message, "usual place is taken by") != NULL,
         "the message names the place", 0);
  start(); /* nothing was lost by the refusal */
  run_many(1000);
  finish();
  return 0;
}

/* Rounds of a run: what the process has mapped is the same after each but the first, in which the C library
 * takes what it keeps: the stacks of ended kernel threads and a heap. */
int mode_leak(void) {
  static const char *const policies[] = {"dsr", "lsa", "dos"};
  const long size_before = status_kib("VmSize"), mappings_before = mappings();
  long size = 0, lines = 0;
  for (int round = 0; round < 51; ++round) {
    setenv("NTH_STACK_POLICY", policies[round % 3], 1);
    start();
    run_many(5000);
    expect(block_many(300, 1) == 0, "all threads block", round);
    finish();
    if (round == 2) { /* each policy once */
      size = status_kib("VmSize");
      lines = mappings();
    }
  }
  printf("VmSize %ld KiB and %ld mappings before, +%ld and +%ld after 3 rounds, then +%ld and +%ld in 48\n",
         size_before, mappings_before, size - size_before, lines - mappings_before,
         status_kib("VmSize") - size, mappings() - lines);
  expect(size - size_before <= 2048, "what the C library keeps is less than 2 MiB", size - size_before);
  expect(lines - mappings_before <= 8, "in few mappings", lines - mappings_before);
  expect(status_kib("VmSize") - size <= 8, "VmSize stays, but for a page or two",
         status_kib("VmSize") - size);
  expect(mappings() - lines <= 1, "the number of mappings stays", mappings() - lines);
  return 0;
}

/* What no run can have: refused by name and range, and a right value works after it. */
int mode_values(void) {
  static const struct {
    const char *name, *value, *accepted;
  } cases[] = {
      {"NTH_STACKS_LOCAL", "1", "2..1073741824"},
      {"NTH_STACKS_LOCAL", "-1", "2..1073741824"},
      {"NTH_STACKS_NODE", "99999999999999999999", "0..1073741824"},
      {"NTH_STACKS_GLOBAL", "1073741825", "0..1073741824"},
      {"NTH_DESCRIPTORS_LOCAL", "10", "256..1073741824"},
      {"NTH_DESCRIPTORS_NODE", "-5", "0..1073741824"},
      {"NTH_DESCRIPTORS_GLOBAL", "9223372036854775807", "0..1073741824"},
      {"NTH_PLACEMENT", "node:99", "node 99 does not exist"},
      {"NTH_PLACEMENT", "node:-1", "NUMA node (node:1)"},
      {"NTH_AREA_SIZE", "3G", "1G..64T, a power of two"},
      {"NTH_AREA_SIZE", "0", "1G..64T"},
      {"NTH_AREA_SIZE", "128T", "1G..64T"},
      {"NTH_AREA_SIZE", "99999999999999T", "1G..64T"},
      {"NTH_STACK_SIZE", "65537", "16K..1M, a power of two"},
      {"NTH_STACK_SIZE", "2M", "16K..1M"},
      {"NTH_WORKERS", "1025", "0..1024"},
      {"NTH_WORKERS", "-1", "0..1024"},
      {"NTH_WORKERS", "", "0..1024"},
      {"NTH_BACKLOG", "1e9", "0..1099511627776"},
      {"NTH_STACK_POLICY", "none", "dsr, lsa, dos"},
  };
  const long count = (long)(sizeof cases / sizeof *cases);
  const char *workers = getenv("NTH_WORKERS");
  char kept[32];
  snprintf(kept, sizeof kept, "%s", workers != NULL ? workers : "2");
  for (long i = 0; i < count; ++i) {
    setenv(cases[i].name, cases[i].value, 1);
    const nth_status status = nth_init(NULL);
    if (status != NTH_EINVAL || strstr(nth_last_error(), cases[i].name) == NULL ||
        strstr(nth_last_error(), cases[i].accepted) == NULL)
      wrong(cases[i].name, nth_last_error(), status);
    unsetenv(cases[i].name);
    setenv("NTH_WORKERS", kept, 1);
    start();
    run_many(1000);
    finish();
  }
  /* Each in its range, together too much. */
  setenv("NTH_AREA_SIZE", "1G", 1);
  setenv("NTH_WORKERS", "512", 1);
  expect(nth_init(NULL) == NTH_EINVAL, "an area that is too small for its workers", 0);
  expect(strstr(nth_last_error(), "raise NTH_AREA_SIZE") != NULL, "the message says what to raise", 0);
  /* The ends of the ranges are right. */
  setenv("NTH_WORKERS", kept, 1);
  static const char *const ends[][3] = {{"NTH_STACKS_LOCAL", "2", "1073741824"},
                                        {"NTH_STACKS_NODE", "0", "1073741824"},
                                        {"NTH_STACKS_GLOBAL", "0", "1073741824"},
                                        {"NTH_DESCRIPTORS_LOCAL", "256", "1073741824"},
                                        {"NTH_DESCRIPTORS_NODE", "0", "1073741824"},
                                        {"NTH_DESCRIPTORS_GLOBAL", "0", "1073741824"},
                                        {"NTH_AREA_SIZE", "1G", "64T"}};
  const size_t ends_count = sizeof ends / sizeof *ends;
  for (size_t end = 1; end <= 2; ++end) {
    for (size_t i = 0; i < ends_count; ++i)
      setenv(ends[i][0], ends[i][end], 1);
    start();
    run_many(20000);
    expect(block_many(50, 0) == 0, "all threads block", (long)end);
    finish();
  }
  printf("%ld values refused by name and range; a right one worked after each\n", count);
  return 0;
}
