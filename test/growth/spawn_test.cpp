// Fork-join on small stacks: a child that nobody takes is called in place, on the stack of its parent or on a segment.
#include "support.hpp"

#include <atomic>

using namespace nth::test;
using nth::detail::top_of;

namespace {

std::atomic<long> in_place, elsewhere;

void look(const forked *f, std::uintptr_t rsp) {
  const auto *mine = top_of(rsp);
  const auto *parents = top_of(f->parent_rsp);
  ++(mine == parents || (mine->segments != 0 && mine->next == parents) ? in_place : elsewhere);
}

constexpr long n = 20, answer = 6765, children = 2 * 10'946 - 1 - 1; // calls of fib(20), less the first

void fork_join(long *to) {
  const forked first{n, here(), nullptr};
  forked watched = first;
  watched.look = look;
  *to = fib_forked(reinterpret_cast<long>(&watched));
}

TEST(fork_join, from_a_root_of_2_KiB) {
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    for (const int workers : {1, 2, 4}) {
      SCOPED_TRACE(testing::Message() << name_of(policy) << ", " << workers << " workers");
      const runtime up(workers, policy);
      in_place = elsewhere = 0;
      long result = 0;
      run_small(1900, fork_join, &result);
      EXPECT_EQ(result, answer);
      EXPECT_EQ(in_place + elsewhere, children + 1);
      if (workers == 1) {
        EXPECT_EQ(elsewhere, 0);
        EXPECT_LT(stats_now().descriptors.most, 200);
      } else {
        EXPECT_LT(elsewhere, children / 2) << "a few are stolen";
      }
      if (has_small_stacks) {
        EXPECT_GT(stats_now().segments_switched, 0);
      }
      expect_no_segments(workers);
    }
  }
}

// Where half of a stack of the default class is in use.
TEST(fork_join, at_the_end_of_a_stack_of_the_default_class) {
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    const runtime up(1, policy);
    in_place = elsewhere = 0;
    long result = 0;
    run([&] { call_with_room(2000, fork_join, &result); });
    EXPECT_EQ(result, answer);
    EXPECT_EQ(elsewhere, 0);
    expect_no_segments(1);
  }
}

} // namespace
