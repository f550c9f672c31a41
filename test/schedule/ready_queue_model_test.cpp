// The ready queue of one worker, its real sources (ready_queue_mutants.py), under interleavings chosen by seed and
// over the memory of an x86-64 machine: its owner puts at both ends, one by one and several at once, sends, pops
// and yields; another worker sends to it; two thieves take from rings, inboxes and private parts, by answer and
// by lock. Checked: each thread runs once, what the owner pops comes in the order of the queue, what one worker
// sends arrives in order, and all counts of ends are posted.
//
// The same over copies with one fault each, and each must be found.
#include "nth/growth.h"
#include "ready_queue_stepping.hpp"

#include "../support/size.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

// In every build, and as a failure of the seed.
#undef NTH_ASSERT
#define NTH_ASSERT(condition) ((condition) ? static_cast<void>(0) : nth::test::interleaving::fail(#condition))

#include "ready_queue_mutants.hpp"

namespace nth::test {
namespace {

std::uint64_t first_seed() {
  const char *text = std::getenv("NTH_TEST_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

TEST(ready_queue, each_thread_runs_once_and_in_order) {
  const long count = std::getenv("NTH_TEST_SEED") != nullptr ? 1 : pick_size(1000, 10'000, 200'000);
  for (const bool membarrier : {true, false}) {
    std::string what;
    first_failure([=](std::uint64_t seed) { return mutant::none::one_interleaving(seed, membarrier); },
                  first_seed(), count, what);
    EXPECT_EQ(what, "") << (membarrier ? "with" : "without")
                        << " membarrier(2); again with NTH_TEST_SEED=<seed>";
  }
}

#define FINDS(fault)                                                                                         \
  TEST(ready_queue_with_a_fault, fault) {                                                                    \
    const bool membarrier = std::string(#fault).find("fenced") == std::string::npos;                         \
    std::string what;                                                                                        \
    const long seeds =                                                                                       \
        first_failure([=](std::uint64_t seed) { return mutant::fault::one_interleaving(seed, membarrier); }, \
                      1, 60'000, what);                                                                      \
    EXPECT_NE(seeds, 0) << "a queue with this fault passes";                                                 \
    std::printf("found after %ld seeds: %s\n", seeds, what.c_str());                                         \
  }
NTH_READY_QUEUE_MUTANTS(FINDS)

} // namespace
} // namespace nth::test
