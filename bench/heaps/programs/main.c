/* Runs `work` in nano-threads: PROGRAM [threads [workers [size]]]. What the first thread says goes to standard output, that
 * all said the same and what their stacks were to standard error, as one line of JSON. */
#include "program.h"

#include <nth/nth.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct one {
  struct text text;
  long root_bytes; /* of the stack that the thread started on */
};

static long work_size;

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(2);
}

static void make_room(struct text *out, size_t more) {
  if (out->length + more < out->room)
    return;
  out->room = 2 * (out->length + more);
  out->bytes = realloc(out->bytes, out->room);
  if (out->bytes == NULL)
    fail("no memory for what a thread says");
}

void say(struct text *out, const char *format, ...) {
  va_list words;
  make_room(out, 1000);
  va_start(words, format);
  const int length = vsnprintf(out->bytes + out->length, 1000, format, words);
  va_end(words);
  if (length < 0 || length >= 1000)
    fail("a thread says too much at once");
  out->length += (size_t)length;
}

void say_long(struct text *out, const char *name, const char *bytes, size_t length) {
  unsigned long hash = 14695981039346656037UL;
  for (size_t i = 0; i < length; ++i)
    hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211UL;
  const int end = length < 20 ? (int)length : 20;
  say(out, "%s: %zu bytes, %.*s … %.*s, hash %016lx\n", name, length, end, bytes, end,
      bytes + length - (size_t)end, hash);
}

void let_others_run(void) { nth_yield(); }

static void root(struct one *one) {
  void *lowest, *end;
  if (nth_stack_bounds(&lowest, &end) != NTH_OK)
    fail("a thread finds no bounds of its stack");
  one->root_bytes = (char *)end - (char *)lowest;
  work(&one->text, work_size);
}

static void report(const struct one *all, long threads) {
  nth_stats stats;
  long least = all[0].root_bytes, most = 0;
  for (long i = 0; i < threads; ++i) {
    least = all[i].root_bytes < least ? all[i].root_bytes : least;
    most = all[i].root_bytes > most ? all[i].root_bytes : most;
    if (all[i].text.length != all[0].text.length ||
        memcmp(all[i].text.bytes, all[0].text.bytes, all[0].text.length) != 0) {
      fprintf(stderr, "thread %ld says:\n%.*s", i, (int)all[i].text.length, all[i].text.bytes);
      fail("that is not what the first one said");
    }
  }
  if (nth_get_stats(&stats) != NTH_OK)
    fail(nth_last_error());
  fwrite(all[0].text.bytes, 1, all[0].text.length, stdout);
  fprintf(stderr,
          "{\"threads\": %ld, \"root_least\": %ld, \"root_most\": %ld, \"segments_switched\": %ld, "
          "\"segments_taken\": %ld, "
          "\"segments_kept\": %ld, \"segments_most\": %ld, \"roots_unbounded\": %ld, \"threads_unbounded\": "
          "%ld}\n",
          threads, least, most, stats.segments_switched, stats.segments_taken, stats.segments_kept,
          stats.segments_most, stats.roots_unbounded, stats.threads_unbounded);
}

/* The root of the thread that all others have as successor. */
static void control(struct one *all, long threads) {
  struct nth_desc *self = nth_self();
  const long workers = nth_workers();
  nth_depadd(self, threads + 1);
  for (long i = 0; i < threads; ++i) {
    struct nth_desc *thread = nth_create((void (*)())root, 0, 1, 1, self, (long)&all[i]);
    if (thread == NULL)
      fail(nth_last_error());
    nth_to_lrq((int)(i % workers), thread);
  }
  nth_block();
}

int main(int argc, char **argv) {
  const long threads = argc > 1 ? atol(argv[1]) : 1;
  nth_options options;
  if (nth_options_init(&options) != NTH_OK)
    fail(nth_last_error());
  options.workers = argc > 2 ? atol(argv[2]) : 1;
  work_size = argc > 3 ? atol(argv[3]) : 1;
  struct one *all = threads < 1 ? NULL : calloc((size_t)threads, sizeof *all);
  if (all == NULL)
    fail("PROGRAM [threads [workers [size]]]");
  for (long i = 0; i < threads; ++i)
    make_room(&all[i].text, 1);
  prepare();
  if (nth_init(&options) != NTH_OK || nth_run((void (*)())control, 2, (long)all, threads) != NTH_OK)
    fail(nth_last_error());
  report(all, threads);
  if (nth_finalize() != NTH_OK)
    fail(nth_last_error());
  return 0;
}
