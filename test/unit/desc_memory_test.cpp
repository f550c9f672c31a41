// Descriptors: what a worker keeps of them, what it gives away, and that a handle outlives their pages.
#include "../support/resident.hpp"
#include "../support/rest.hpp"
#include "../support/size.hpp"

#include "os/os.hpp"
#include "os/os_failing.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <vector>

using namespace nth::test;
using namespace nth::detail;

namespace {

using nth::test::runtime;

nth_options with(long workers, thresholds bounds, nth_policy policy = NTH_POLICY_DSR) {
  nth_options result = options(workers, policy);
  result.stack_size = 16 << 10;
  result.spin_us = 1;
  result.descriptors_local = bounds.local;
  result.descriptors_node = bounds.node;
  result.descriptors_global = bounds.global;
  result.stacks_local = policy == NTH_POLICY_DOS ? block_size : 2;
  result.stacks_node = 0;
  result.stacks_global = 0;
  return result;
}

// Calls with(descriptors) while `count` threads exist that have not started; then they end.
template <class With>
void while_alive(long count, With with_them) {
  auto nothing = [] {};
  run([&] {
    std::vector<nth_desc *> made;
    nth_depadd(nth_self(), count + 1);
    for (long i = 0; i < count; ++i)
      made.push_back(create(nothing, nth_self()));
    with_them(made);
    for (nth_desc *d : made)
      nth_to_lrq_end(nth_worker(), d);
    nth_block();
  });
  wait_for_rest();
}

class descriptors : public testing::TestWithParam<nth_policy> {
protected:
  void SetUp() override { os::fail_never(); }
  void TearDown() override { os::fail_never(); }
  // So many that most of their pages go to the kernel.
  static long many() { return GetParam() == NTH_POLICY_DOS ? 500 : pick_size(2000, 5000, 50'000); }
};

INSTANTIATE_TEST_SUITE_P(of, descriptors, testing::ValuesIn(all_policies),
                         [](const auto &one) { return name_of(one.param); });

// ---- Handles ------------------------------------------------------------------------------------------------

// A descriptor's page is given to the kernel, and the descriptor is used again: a handle of before is stale.
TEST_P(descriptors, leave_their_handles_stale_when_their_pages_go) {
  const watchdog guard;
  const runtime up(with(1, {256, 0, 0}, GetParam()));
  std::vector<nth_handle_t> old;
  std::set<nth_desc *> before;
  for (int round = 0; round < 4; ++round) {
    long again = 0;
    while_alive(many(), [&](const std::vector<nth_desc *> &made) {
      for (nth_desc *d : made) {
        again += before.count(d) != 0;
        before.insert(d);
        EXPECT_EQ(nth_alive(nth_handle(d)), 1);
      }
      for (const nth_handle_t &one : old) {
        ASSERT_EQ(nth_alive(one), 0) << "round " << round;
        ASSERT_EQ(nth_unblock(one), NTH_ESTALE);
      }
      for (nth_desc *d : made)
        old.push_back(nth_handle(d));
    });
    EXPECT_GE(again, round == 0 ? 0 : many() / 2) << "this test shows nothing";
    EXPECT_LT(descs_allocated(), many() / 2) << "this test shows nothing";
    for (const nth_handle_t &one : old) {
      ASSERT_EQ(nth_alive(one), 0) << "also where there is no page";
      ASSERT_EQ(nth_unblock(one), NTH_ESTALE);
    }
  }
}

// Generations have 16 bits: at their end they begin anew, for those that pages have taken with them too.
TEST_P(descriptors, leave_their_handles_stale_when_generations_begin_anew) {
  const watchdog guard;
  const runtime up(with(1, {256, 0, 0}, GetParam()));
  std::vector<nth_handle_t> old;
  std::uint16_t first = 0x3ffd; // as if each had been used so often
  for (int round = 0; round < 24; ++round) {
    while_alive(many(), [&](const std::vector<nth_desc *> &made) {
      for (const nth_handle_t &one : old)
        ASSERT_EQ(nth_alive(one), 0) << "round " << round;
      old.clear();
      for (nth_desc *d : made) {
        // In rounds of a quarter of all generations, up to each quarter's end, and over it one by one.
        if (round % 6 == 0)
          d->generation = first;
        old.push_back(nth_handle(d));
      }
    });
    if (round % 6 == 0)
      first = static_cast<std::uint16_t>(first + 0x4000);
    if (HasFatalFailure())
      return;
  }
}

// ---- Free lists ---------------------------------------------------------------------------------------------

TEST_P(descriptors, that_are_given_to_the_kernel_hold_no_memory) {
  if (!residency_is_known())
    GTEST_SKIP() << "this kernel does not tell which pages are in memory";
  const watchdog guard;
  const runtime up(with(1, {256, 0, 0}, GetParam()));
  const unsigned r =
      GetParam() == NTH_POLICY_DOS ? the_stacks.region() : static_cast<unsigned>(region::descriptors);
  const auto resident = [&] {
    long sum = 0;
    for (int h = 0; h < the_area.homes; ++h) {
      part &p = the_area.at(r, h);
      if (p.prefix() != 0)
        sum += resident_pages(p.begin(), p.prefix());
    }
    return sum;
  };
  long full = 0;
  while_alive(many(), [&](const auto &) { full = resident(); });
  const long least = GetParam() == NTH_POLICY_DOS ? many() : many() / 64;
  EXPECT_GE(full, least);
  EXPECT_LT(resident(), full / 2);
}

TEST_P(descriptors, of_a_burst_are_kept_up_to_the_bounds) {
  const watchdog guard;
  if (GetParam() == NTH_POLICY_DOS)
    GTEST_SKIP() << "descriptors are stacks there, and their bounds are those of stacks";
  const runtime up(with(1, {1024, 2048, 4096}, GetParam()));
  while_alive(5000, [](const auto &) {});
  const idle_objects d = descs_at_rest();
  EXPECT_EQ(d.allocated, d.idle());
  EXPECT_LE(d.at_workers, 2 * 1024);
  EXPECT_LE(d.at_nodes, 2048);
  EXPECT_LE(d.in_global, 4096);
  EXPECT_GE(d.at_workers, 256) << "they are kept for the next threads";
  EXPECT_GE(d.at_nodes, 512);
  EXPECT_GE(d.in_global, 1);
  // What is kept is used again.
  const long most = descs_most();
  while_alive(500, [](const auto &) {});
  EXPECT_EQ(descs_most(), most);
}

TEST_P(descriptors, of_large_bounds_are_never_given_back) {
  const watchdog guard;
  nth_options wanted = with(2, {1 << 20, 1 << 20, 1 << 20}, GetParam());
  wanted.stacks_local = wanted.stacks_node = wanted.stacks_global = 1 << 20;
  const runtime up(wanted);
  while_alive(many(), [](const auto &) {});
  EXPECT_EQ(descs_allocated(), descs_most());
  EXPECT_GE(descs_allocated(), many());
  const idle_objects d = descs_at_rest();
  EXPECT_EQ(d.allocated, d.idle());
}

// ---- No memory ----------------------------------------------------------------------------------------------

// The n-th call that needs memory is refused: what was given back before is still there, once.
TEST_P(descriptors, are_all_there_after_a_refusal) {
  const watchdog guard(120);
  const long rounds = pick_size(4, 12, 30);
  for (long n = 1; n <= rounds; ++n) {
    const runtime up(with(2, {256, 100, 200}, GetParam()));
    while_alive(many() / 4, [](const auto &) {});
    os::fail_after(os::fail_kind::commit, n, true);
    auto nothing = [] {};
    std::atomic<long> refused = 0;
    run([&] {
      std::vector<nth_desc *> made;
      for (long i = 0; i < many(); ++i) {
        nth_desc *d = nth_create_ls(&call<decltype(nothing)>, 0, nullptr, 1, &nothing);
        if (d == nullptr)
          ++refused;
        else
          made.push_back(d);
      }
      std::set<nth_desc *> once(made.begin(), made.end());
      EXPECT_EQ(once.size(), made.size());
      os::fail_never();
      for (std::size_t i = 0; i < made.size(); ++i)
        nth_to_lrq_end(static_cast<int>(i) % kthreads, made[i]);
    });
    wait_for_rest();
    const idle_objects d = descs_at_rest();
    EXPECT_EQ(d.allocated, d.idle()) << "refusal " << n << ": " << d;
    EXPECT_EQ(d.under_way, 0);
  }
}

} // namespace
