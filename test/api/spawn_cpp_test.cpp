// Fork-join and loops as C++ has them: results of all kinds, exceptions, destructors.
#include "nth/loop.hpp"
#include "nth/spawn.hpp"

#include "../support/runtime.hpp"
#include "../support/size.hpp"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace nth::test {
namespace {

using param = std::tuple<nth_policy, int>;

class spawned_calls : public ::testing::TestWithParam<param> {
protected:
  [[nodiscard]] static nth_options chosen() {
    return options(std::get<1>(GetParam()), std::get<0>(GetParam()));
  }
  const watchdog guard{120};
};

INSTANTIATE_TEST_SUITE_P(all, spawned_calls,
                         ::testing::Combine(::testing::Values(NTH_POLICY_DSR, NTH_POLICY_LSA, NTH_POLICY_DOS),
                                            ::testing::Values(1, 2, 4)));

long serial_fib(long n) { return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2); }

long fib(long n) {
  if (n < 2)
    return n;
  spawned left([=] { return fib(n - 1); });
  const long right = fib(n - 2);
  return left.sync() + right;
}

TEST_P(spawned_calls, fib) {
  const runtime up(chosen());
  const long n = pick_size(15, 25, 32);
  for (int i = 0; i < 3; ++i) {
    long result = 0;
    run([&] { result = fib(n); });
    EXPECT_EQ(result, serial_fib(n));
  }
}

// Each way in which a call may be made: at the sync, as a thread (its parent yields first), by a thief (perhaps).
void let_it(int way) {
  if (way == 1)
    nth_yield();
  if (way == 2) {
    for (int i = 0; i < 3000; ++i)
      static_cast<void>(nth_worker());
  }
}

TEST_P(spawned_calls, return_what_they_return) {
  const runtime up(chosen());
  run([] {
    for (int i = 0; i < 300; ++i) {
      const int way = i % 3;
      int touched = 0;
      spawned nothing([&] { ++touched; });
      let_it(way);
      nothing.sync();
      EXPECT_EQ(touched, 1);

      spawned text([&] { return std::string(100, static_cast<char>('a' + way)); });
      let_it(way);
      EXPECT_EQ(text.sync(), std::string(100, static_cast<char>('a' + way)));

      spawned owner([] { return std::make_unique<int>(7); });
      let_it(way);
      EXPECT_EQ(*owner.sync(), 7);

      spawned place([&]() -> int & { return touched; });
      let_it(way);
      EXPECT_EQ(&place.sync(), &touched);
    }
  });
}

struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST_P(spawned_calls, throw_at_the_sync) {
  const runtime up(chosen());
  run([] {
    for (int i = 0; i < 300; ++i) {
      spawned call([]() -> std::string { throw failure("no result"); });
      let_it(i % 3);
      bool caught = false;
      try {
        static_cast<void>(call.sync());
      } catch (const failure &f) {
        caught = std::string(f.what()) == "no result";
      }
      EXPECT_TRUE(caught);
    }
  });
}

TEST_P(spawned_calls, are_waited_for_when_their_frame_is_left) {
  const runtime up(chosen());
  run([] {
    for (int i = 0; i < 300; ++i) {
      std::atomic<int> ended = 0;
      try {
        spawned call([&] {
          nth_yield();
          ++ended;
          return std::string("dropped");
        });
        spawned other([&] {
          ++ended;
          throw failure("dropped");
        });
        let_it(i % 3);
        if (i % 2 == 0)
          throw failure("of the parent");
      } catch (const failure &f) {
        EXPECT_STREQ(f.what(), "of the parent");
      }
      EXPECT_EQ(ended, 2);
    }
  });
}

// An exception on its way through several levels, each with an open child.
long descend(long n, std::atomic<long> &open) {
  if (n == 0)
    throw failure("from below");
  ++open;
  spawned sibling([&] {
    nth_yield();
    --open;
  });
  spawned deeper([&, n] { return descend(n - 1, open); });
  return deeper.sync();
}

TEST_P(spawned_calls, unwind_through_levels) {
  const runtime up(chosen());
  run([] {
    for (int i = 0; i < 30; ++i) {
      std::atomic<long> open = 0;
      EXPECT_THROW(static_cast<void>(descend(40, open)), failure);
      EXPECT_EQ(open, 0);
    }
  });
}

TEST_P(spawned_calls, loops) {
  const runtime up(chosen());
  run([] {
    std::vector<int> met(10'000);
    parallel_for(0, 10'000, [&](long i) { ++met[static_cast<std::size_t>(i)]; });
    parallel_for(
        0, 10'000,
        [&](long first, long last) {
          for (long i = first; i < last; ++i)
            ++met[static_cast<std::size_t>(i)];
        },
        NTH_SCHEDULE_GUIDED, 16);
    for (const int one : met)
      EXPECT_EQ(one, 2);
    EXPECT_THROW(parallel_for(0, 1000,
                              [](long i) {
                                if (i == 500)
                                  throw failure("in a loop");
                              }),
                 failure);
    EXPECT_THROW(parallel_for(1, 0, [](long) {}), std::invalid_argument);
  });
}

} // namespace
} // namespace nth::test
