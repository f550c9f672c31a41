// Each system call of nth_init refused in turn, once and from then on: an error code or a run without what
// was refused, nothing left behind, and a run afterwards as if nothing had been.
#include "refusals.hpp"

#include <malloc.h>
#include <tuple>

using namespace nth::test;
namespace os = nth::detail::os;

namespace {

#if defined(NTH_ASAN) || defined(NTH_TSAN)
constexpr bool memory_is_ours = false; // the sanitizer's own memory comes and goes
#else
constexpr bool memory_is_ours = true;
#endif

// One arena, so that a kernel thread's first malloc maps no further one.
[[maybe_unused]] const int one_arena = mallopt(M_ARENA_MAX, 1);

class init : public testing::TestWithParam<std::tuple<kind_of_call, nth_policy, long>> {
protected:
  void SetUp() override { os::fail_never(); }
  void TearDown() override { os::fail_never(); }
  static kind_of_call kind() { return std::get<0>(GetParam()); }
  static nth_options chosen() {
    nth_options result = options(2, std::get<1>(GetParam()));
    result.guard = std::get<2>(GetParam());
    return result;
  }

  // nth_init with a refusal; what it answers is right, and what it leaves is nothing.
  void refuse(long call, bool sticky) {
    const std::string which =
        std::string(kind().name) + ", call " + std::to_string(call) + (sticky ? " and all after it" : "");
    SCOPED_TRACE(which);
    const nth_options o = chosen();
    nth_status status = NTH_OK;
    {
      const refusal plan(kind().kind, call, sticky);
      status = nth_init(&o);
    }
    if (status == NTH_OK) {
      expect_right_run(100);
      EXPECT_EQ(nth_finalize(), NTH_OK) << nth_last_error();
      ++works;
      return;
    }
    ++refused;
    EXPECT_EQ(status, kind().kind == fail_kind::thread_start ? NTH_ESYS : NTH_ENOMEM) << nth_last_error();
    EXPECT_EQ(std::string(nth_last_error()).rfind("nth_init: ", 0), 0U) << nth_last_error();
    EXPECT_EQ(kthreads, 0);
    EXPECT_EQ(nth_workers(), 0);
    EXPECT_EQ(nth_self(), nullptr);
    EXPECT_EQ(nth_finalize(), NTH_ESTATE);
    EXPECT_EQ(status_line("Threads"), threads_before);
  }
  const long threads_before = status_line("Threads"); // a sanitizer has one of its own
  long works = 0;
  long refused = 0;
};

TEST_P(init, refused_calls_are_reported_and_leave_nothing) {
  const watchdog guard(60);
  const nth_options o = chosen();
  const long before = os::calls_made(kind().kind);
  ASSERT_EQ(nth_init(&o), NTH_OK) << nth_last_error();
  const long calls = os::calls_made(kind().kind) - before;
  expect_right_run(100);
  ASSERT_EQ(nth_finalize(), NTH_OK);

  const auto round = [&] {
    for (long call = 1; call <= calls; ++call) {
      refuse(call, false);
      refuse(call, true);
    }
  };
  round(); // what stays for good comes now: stacks of kernel threads that the C library keeps
  const long size = status_line("VmSize");
  for (int i = 0; i < 3; ++i)
    round();
  if (memory_is_ours) {
    EXPECT_LE(status_line("VmSize"), size) << "kB of address space grow with each refusal";
  }
  std::printf("%s: %ld calls; %ld runs worked without, %ld were refused\n", kind().name, calls, works,
              refused);
  if (calls == 0) {
    EXPECT_TRUE(kind().kind == fail_kind::guard && o.guard == 0) << "no call of this kind";
  } else if (kind().kind == fail_kind::guard) {
    EXPECT_EQ(refused, 0) << "a run without guard pages is a run";
  } else {
    EXPECT_GT(refused, 0);
  }

  const runtime up(o);
  expect_right_run(right_run);
}

std::string name_of_case(const testing::TestParamInfo<std::tuple<kind_of_call, nth_policy, long>> &one) {
  return std::string(std::get<0>(one.param).name) + "_" + name_of(std::get<1>(one.param)) +
         (std::get<2>(one.param) != 0 ? "" : "_unguarded");
}
INSTANTIATE_TEST_SUITE_P(calls, init,
                         testing::Combine(testing::ValuesIn(all_kinds), testing::ValuesIn(all_policies),
                                          testing::Values(1, 0)),
                         name_of_case);

// ---- Guard pages -----------------------------------------------------------------------------------

TEST(guard_pages, are_made_by_mprotect_where_advice_is_not_taken) {
  const watchdog guard;
  os::fails.advice_ignored = true; // as an emulator does: the proof must find it out
  {
    const runtime up(2);
    expect_right_run(right_run);
    const nth_counters c = counters();
    EXPECT_EQ(c.stacks_unguarded, 0);
  }
  os::fail_never();
}

TEST(guard_pages, that_are_refused_are_counted) {
  const watchdog guard;
  for (const bool protect : {false, true}) {
    os::fail_never();
    os::fails.advice_ignored = protect;
    const long before = os::calls_made(fail_kind::guard);
    { const runtime up(1); }
    const long at_start = os::calls_made(fail_kind::guard) - before;
    const runtime up(1);
    os::fail_after(fail_kind::guard, 1, true);
    const long blocked = 100;
    std::atomic<long> woken = 0;
    auto waits = [&] {
      nth_block();
      ++woken;
    };
    nth_handle_t handles[blocked];
    run([&] {
      for (nth_handle_t &one : handles) {
        nth_desc *thread = create(waits);
        one = nth_handle(thread);
        nth_to_lrq(nth_worker(), thread);
        nth_yield();
      }
    });
    const nth_counters c = counters();
    EXPECT_GE(c.stacks_unguarded, blocked / 2) << (protect ? "mprotect" : "advice") << ", " << at_start;
    EXPECT_LT(c.stacks_unguarded, c.stacks) << "those of the start have theirs";
    for (const nth_handle_t &one : handles)
      EXPECT_EQ(nth_unblock(one), NTH_OK);
    spin_until([&] { return woken == blocked; });
    wait_for_ends();
    os::fail_never();
  }
}

} // namespace
