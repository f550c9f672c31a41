// What a thread pays: nth_isomalloc and nth_isofree, which find the thread's heap from its stack.
#include "iso/workload.hpp"

#include "nth/iso.h"

#include <cstdio>

namespace {
struct source {
  void *allocate(std::size_t size) { return nth_isomalloc(size); }
  void release(void *block) { nth_isofree(block); }
};

int arguments;
char **words;
int status;

void root() { status = bench::iso::main("nth-thread", arguments, words, source{}); }
} // namespace

int main(int argc, char **argv) {
  arguments = argc;
  words = argv;
  nth_options options;
  if (nth_options_init(&options) != NTH_OK)
    return 1;
  options.workers = 1;
  options.stack_size = 1 << 20; // the bench's own code runs in the thread
  if (nth_init(&options) != NTH_OK || nth_run(root, 0) != NTH_OK || nth_finalize() != NTH_OK)
    return std::fprintf(stderr, "%s\n", nth_last_error()), 1;
  return status;
}
