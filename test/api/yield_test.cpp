// nth_yield lets others of its worker run, in turn.
#include "../support/runtime.hpp"

#include <atomic>
#include <vector>

using namespace nth::test;

namespace {

class yield : public testing::TestWithParam<nth_policy> {};

TEST_P(yield, alternates_strictly) {
  const watchdog guard;
  const runtime up(1, GetParam());
  for (const int width : {2, 3, 64, 100}) {
    std::vector<int> turns;
    constexpr int rounds = 50;
    struct member {
      std::vector<int> *turns;
      int number;
      void operator()() const {
        for (int i = 0; i < rounds; ++i) {
          turns->push_back(number);
          nth_yield();
        }
      }
    };
    std::vector<member> members;
    for (int i = 0; i < width; ++i)
      members.push_back({&turns, i});
    run([&] {
      nth_depadd(nth_self(), width + 1);
      for (member &one : members)
        nth_to_lrq_end(0, create(one, nth_self()));
      nth_block();
    });
    ASSERT_EQ(turns.size(), static_cast<size_t>(width * rounds));
    for (size_t i = 0; i < turns.size(); ++i)
      ASSERT_EQ(turns[i], static_cast<int>(i % static_cast<size_t>(width)))
          << "turn " << i << " of " << width;
  }
}

TEST_P(yield, goes_behind_those_that_wait) {
  const watchdog guard;
  const runtime up(1, GetParam());
  run([] {
    int ended = 0;
    auto body = [&] { ++ended; };
    nth_depadd(nth_self(), 101);
    for (int i = 0; i < 50; ++i) {
      nth_to_lrq_end(0, create(body, nth_self()));
      nth_to_lrq(0, create(body, nth_self()));
    }
    EXPECT_EQ(ended, 0);
    nth_yield();
    EXPECT_EQ(ended, 100);
    nth_block();
  });
}

TEST_P(yield, alone_goes_on) {
  const watchdog guard;
  const runtime up(2, GetParam());
  run([] {
    const nth_desc *self = nth_self();
    for (int i = 0; i < 10000; ++i)
      nth_yield();
    EXPECT_EQ(nth_self(), self);
  });
}

TEST(yield_outside, does_nothing) {
  nth_yield();
  const runtime up(1);
  nth_yield();
  ASSERT_NE(nth_attach(), nullptr);
  nth_yield();
  EXPECT_EQ(nth_detach(), NTH_OK);
}

TEST_P(yield, at_several_workers_loses_nothing) {
  const watchdog guard;
  const runtime up(4, GetParam());
  std::atomic<long> turns = 0;
  const long rounds = pick_size(20, 500, 20000);
  auto body = [&] {
    const nth_desc *self = nth_self();
    for (long i = 0; i < rounds; ++i) {
      ++turns;
      nth_yield();
      if (nth_self() != self)
        turns = -1000000000;
    }
  };
  run([&] {
    nth_depadd(nth_self(), 101);
    for (int i = 0; i < 100; ++i)
      nth_to_lrq(i % 4, create(body, nth_self()));
    nth_block();
  });
  EXPECT_EQ(turns, 100 * rounds);
}

INSTANTIATE_TEST_SUITE_P(policies, yield, testing::ValuesIn(all_policies),
                         [](const auto &test) { return name_of(test.param); });

} // namespace
