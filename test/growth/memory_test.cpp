// No memory for a segment: the error handler is told what was to be called; else the program ends.
#include "../failure/refusals.hpp"
#include "support.hpp"

#include <csetjmp>
#include <csignal>

using namespace nth::test;
namespace os = nth::detail::os;

namespace {

jmp_buf out;
std::string told;
nth_status told_status;

void descend(descent *d, long *reached) { *reached = down(400'000, d); }
constexpr long too_deep = 5'000'000;

// A handler that does not return.
void jump_out(nth_status status, const char *message) {
  told_status = status;
  told = message;
  stub_longjmp(out, 1);
}

struct attempt {
  descent d;
  long reached;
  long caught;
};

void try_deep(attempt *a) {
  if (setjmp(out) == 0)
    a->reached = down(too_deep, &a->d);
  else
    ++a->caught;
}

// Waits for a thread that it makes.
void run_blocked_once() {
  nth_depadd(nth_self(), 2);
  nth_to_lrq(0, nth_create_ls(
                    +[] { nth_yield(); }, 0, nth_self(), 0));
  nth_block();
}

TEST(no_memory, is_told_to_the_error_handler_with_names) {
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    for (const bool small : {true, false}) {
      SCOPED_TRACE(testing::Message() << name_of(policy) << (small ? ", small" : ", default"));
      nth_options chosen = options(1, policy);
      chosen.area_size = 1L << 30;
      const runtime up(chosen);
      nth_error_handler before = nth_set_error_handler(jump_out);
      attempt a{};
      told.clear();
      const auto refuse = [](attempt *it) {
        os::fail_after(os::fail_kind::commit, 1, true);
        try_deep(it);
        os::fail_never();
      };
      if (small)
        run_small(5000, +refuse, &a);
      else
        run([&] { refuse(&a); });
      EXPECT_EQ(a.caught, 1);
      EXPECT_EQ(told_status, NTH_ENOMEM);
      for (const char *word : {"segment", "400", "memory", "down"})
        EXPECT_NE(told.find(word), std::string::npos) << word << " in: " << told;
      // There is memory again, and all works as before.
      nth_set_error_handler(before);
      descent d{};
      long reached = 0;
      run_small(1900, descend, &d, &reached);
      EXPECT_EQ(reached, 400'000);
      expect_no_segments(1);
    }
  }
}

// All stacks that the area has room for lie dead above a thread's own: what it then blocks with is one of these.
TEST(no_memory, but_that_of_segments_that_were_left) {
  const watchdog guard;
  nth_options chosen = options(1);
  chosen.area_size = 1L << 30;
  const runtime up(chosen);
  nth_error_handler before = nth_set_error_handler(jump_out);
  attempt a{};
  run([&] {
    try_deep(&a);
    nth_set_error_handler(before);
    run_blocked_once();
  });
  EXPECT_EQ(a.caught, 1);
  expect_no_segments(1);
}

TEST(no_memory, ends_the_program_when_the_handler_returns) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        nth_options chosen = options(1);
        chosen.area_size = 1L << 30;
        const runtime up(chosen);
        nth_set_error_handler([](nth_status, const char *) {});
        run([] {
          descent d{};
          os::fail_after(os::fail_kind::commit, 1, true);
          down(too_deep, &d);
        });
      },
      testing::KilledBySignal(SIGABRT), "no segment of stack for a call of .*down.*400 bytes");
}

} // namespace
