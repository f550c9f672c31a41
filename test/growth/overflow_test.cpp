// A callee without a bound overflows its segment: the report names thread and root.
#include "../support/message.hpp"
#include "support.hpp"

#include <csignal>
#include <memory>

using namespace nth::test;

extern "C" [[gnu::noinline]] void root_of_endless(long turns) {
  volatile long result = 0;
  for (long i = 0; i < turns; ++i)
    result = result + stub_endless(i == turns - 1 ? 0 : -3); // returns, but the last
}

namespace {

void die(nth_policy policy, long need) {
  const watchdog guard(20);
  nth_options chosen = options(1, policy);
  chosen.guard = 1;
  const runtime up(chosen);
  if (need != 0)
    run_small(need, root_of_endless, 3L);
  else
    run([] {
      call_with_room(
          380, +[](long *turns) { root_of_endless(*turns); }, std::make_unique<long>(3).get());
    });
}

TEST(an_overflow, of_a_segment_names_the_thread) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const nth_policy policy : all_policies) {
    for (const long need : {1900L, 5000L})
      EXPECT_EXIT(
          die(policy, need), testing::KilledBySignal(SIGABRT),
          names({"overflow", "thread 0x", "root_of_endless", "65536", "endless", "NTH_STACK_SIZE=131072"}));
    EXPECT_EXIT(die(policy, 0), testing::KilledBySignal(SIGABRT),
                names({"overflow", "thread 0x", "65536", "endless"}));
  }
}

} // namespace

extern "C" [[gnu::noinline]] void root_of_descent(long n) {
  descent d{[](descent *) {}, 0, 0, nullptr};
  volatile long result = stub_down(n, &d);
  static_cast<void>(result);
}

namespace {

void descend(long most, long n) {
  const watchdog guard(20);
  nth_options chosen = options(1);
  chosen.stack_most = most;
  const runtime up(chosen);
  run_small(1900, root_of_descent, n);
  std::exit(EXIT_SUCCESS);
}

TEST(a_recursion, ends_where_the_segments_of_a_thread_may_be_no_more) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  constexpr long most = 1L << 20;
  EXPECT_EXIT(descend(most, 1L << 40), testing::KilledBySignal(SIGABRT),
              names({"thread 0x", "root_of_descent", "down", "1048576", "NTH_STACK_MOST"}));
  EXPECT_EXIT(descend(16 * most, 10000), testing::ExitedWithCode(EXIT_SUCCESS), "");
}

} // namespace
