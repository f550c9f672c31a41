// A stack that overflows is caught and named: the thread, its root, the size of its stack, and the option
// that changes it. The program exports its symbols, so that the root has a name.
#include "../support/message.hpp"
#include "../support/runtime.hpp"

#include <csignal>
#include <string>
#include <tuple>
#include <vector>

using namespace nth::test;

// A frame of some hundred bytes, smaller than a guard page; `depth` never gets as large as `end`.
extern "C" [[gnu::noinline]] long overflow_test_recursion(long depth, long end) {
  volatile char frame[200];
  frame[depth % 200] = 1;
  const long below = depth == end ? 0 : overflow_test_recursion(depth + 1, end);
  return below + frame[depth % 200];
}

extern "C" [[gnu::noinline]] void overflow_test_root(long end) {
  volatile long result = overflow_test_recursion(0, end);
  (void)result;
}

// Overflows after it has been suspended.
extern "C" [[gnu::noinline]] void overflow_test_resumed_root(long end) {
  nth_depadd(nth_self(), 2);
  nth_to_lrq_end(kthreads - 1, nth_create_ls(
                                   +[] {}, 0, nth_self(), 0));
  nth_block();
  volatile long result = overflow_test_recursion(0, end);
  (void)result;
}

namespace {

constexpr long never = 1L << 40;

class overflow : public testing::TestWithParam<std::tuple<nth_policy, long>> {
protected:
  static nth_options chosen() {
    nth_options result = options(2, std::get<0>(GetParam()));
    result.stack_size = std::get<1>(GetParam()) << 10;
    result.guard = 1;
    return result;
  }
  static void die(void (*root)(long)) {
    const watchdog guard(20);
    const runtime up(chosen());
    [[maybe_unused]] const nth_status status = nth_run(root, 1, never);
  }
  static names message(const char *root) {
    const std::string kib = std::to_string(std::get<1>(GetParam()));
    const std::string bytes = std::to_string(std::get<1>(GetParam()) << 10);
    std::vector<std::string> words = {"overflow", "thread", root, bytes + "|" + kib + " KiB|" + kib + "K"};
    if (std::get<1>(GetParam()) < 1024) // the largest cannot be made larger
      words.push_back("NTH_STACK_SIZE");
    return names(words);
  }
  void SetUp() override {
    if (under_tsan)
      GTEST_SKIP() << "ThreadSanitizer keeps the fault for itself";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

class overflow_death : public overflow {};

TEST_P(overflow_death, is_named) {
  EXPECT_EXIT(die(overflow_test_root), testing::KilledBySignal(SIGABRT), message("overflow_test_root"));
}

TEST_P(overflow_death, is_named_after_a_suspension) {
  EXPECT_EXIT(die(overflow_test_resumed_root), testing::KilledBySignal(SIGABRT),
              message("overflow_test_resumed_root"));
}

// A depth that fits is left alone: three quarters of the stack.
TEST_P(overflow_death, is_not_seen_where_the_stack_suffices) {
  const watchdog guard;
  const runtime up(chosen());
  const long frame = under_asan ? 1500 : 320; // more than a frame of the recursion has
  EXPECT_EQ(nth_run(overflow_test_root, 1, chosen().stack_size * 3 / 4 / frame), NTH_OK);
}

// A fault that is no overflow is not called one.
TEST_P(overflow_death, is_not_claimed_for_other_faults) {
  if (under_asan)
    GTEST_SKIP() << "AddressSanitizer reports the fault and exits";
  const auto die_elsewhere = [] {
    const watchdog guard(20);
    const runtime up(chosen());
    static volatile long nowhere = 8;
    run([] { *reinterpret_cast<volatile int *>(nowhere) = 1; });
  };
  EXPECT_EXIT(die_elsewhere(), testing::KilledBySignal(SIGSEGV), "");
}

INSTANTIATE_TEST_SUITE_P(stacks, overflow_death,
                         testing::Combine(testing::ValuesIn(all_policies),
                                          testing::Values(16, 64, 256, 1024)),
                         [](const auto &test) {
                           return name_of(std::get<0>(test.param)) + std::to_string(std::get<1>(test.param)) +
                                  "K";
                         });

} // namespace
