// Batches and NTH_BACKLOG: the bound holds for them too, and who must not be suspended is not.
#include "../support/rest.hpp"

#include <atomic>
#include <tuple>

using namespace nth::test;

namespace {

constexpr long block = 64; // threads that queues handle as one

using put_call = void (*)(int, nth_desc *, nth_desc *);
class bounded : public testing::TestWithParam<std::tuple<nth_policy, int, long, bool>> {
protected:
  const watchdog guard{60};
};

struct tally {
  std::atomic<long> made = 0;
  std::atomic<long> ran = 0;
  std::atomic<long> most = 0; // waited at one time, as seen by those that ran
  static void one(tally *t) {
    const long waiting =
        t->made.load(std::memory_order_relaxed) - t->ran.fetch_add(1, std::memory_order_relaxed);
    long most = t->most.load(std::memory_order_relaxed);
    while (waiting > most && !t->most.compare_exchange_weak(most, waiting, std::memory_order_relaxed)) {
    }
  }
};

void create(tally *t, long n, long size, bool front) {
  nth_depadd(nth_self(), n + 1);
  const put_call put = front ? nth_batch_to_lrq : nth_batch_to_lrq_end;
  for (long done = 0; done < n; done += size) {
    const long now = n - done < size ? n - done : size;
    nth_desc *last = nullptr;
    nth_desc *const first = nth_batch_get_desc(&last, now);
    for (nth_desc *m = first; m != nullptr; m = nth_batch_get_next(m))
      nth_batch_create_ls(m, tally::one, 0, nth_self(), 1, t);
    t->made.fetch_add(now, std::memory_order_relaxed);
    put(static_cast<int>(done / size % kthreads), first, last);
  }
  nth_block();
}

TEST_P(bounded, waiting_threads) {
  const auto &[policy, workers, batch_size, at_front] = GetParam();
  const auto size = batch_size; // clang 14 captures no binding
  const auto front = at_front;
  constexpr long backlog = 512;
  nth_options o = options(workers, policy);
  o.stack_size = 16 << 10;
  o.backlog = backlog;
  const runtime up(o);
  const long n = under_tsan ? 4000 : pick_size(20'000, 200'000, 1'000'000);
  tally t;
  run([&] { create(&t, n, size, front); });
  EXPECT_EQ(t.ran, n);
  // A batch comes whole, also to another worker at which nothing waits; what else there may be above the bound is
  // said in backlog_test.cpp.
  EXPECT_LE(t.most, backlog + workers * size + block * (workers * workers + 5)) << "batches of " << size;
  if (workers == 1 && n / size > 4 * backlog / block) { // two may run as fast as one creates
    EXPECT_GT(t.most, backlog / 4);
  }
}

INSTANTIATE_TEST_SUITE_P(policies, bounded,
                         testing::Combine(testing::ValuesIn(all_policies), testing::Values(1, 2),
                                          testing::Values(1L, 8L, 24L, 63L, 64L, 65L, 100L, 1000L),
                                          testing::Bool()),
                         [](const auto &test) {
                           return name_of(std::get<0>(test.param)) + std::to_string(std::get<1>(test.param)) +
                                  "_" + std::to_string(std::get<2>(test.param)) +
                                  (std::get<3>(test.param) ? "_front" : "_end");
                         });

// Inside of nth_no_suspend the creator runs on.
TEST(batch_bound, no_suspend) {
  const watchdog guard;
  nth_options o = options(1);
  o.backlog = 64;
  const runtime up(o);
  tally t;
  run([&t] {
    nth_depadd(nth_self(), 1001);
    const nth::no_suspend_scope scope;
    for (int i = 0; i < 125; ++i) {
      nth_desc *last = nullptr;
      nth_desc *const first = nth_batch_get_desc(&last, 8);
      for (nth_desc *m = first; m != nullptr; m = nth_batch_get_next(m))
        nth_batch_create_ls(m, tally::one, 0, nth_self(), 1, &t);
      nth_batch_to_lrq(0, first, last);
    }
    EXPECT_EQ(t.ran, 0);
    nth_block();
  });
  EXPECT_EQ(t.ran, 1000);
}

} // namespace
