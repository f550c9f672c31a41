// Threads made, enqueued in every way, yielding, blocking and woken while memory is refused from one moment on
// or another: whatever could be made runs once, and nothing is lost.
#include "refusals.hpp"
#include "thread/ready.hpp"

#include <thread>
#include <tuple>
#include <vector>

using namespace nth::test;
namespace os = nth::detail::os;

namespace {

struct tally {
  std::atomic<long> made = 0;
  std::atomic<long> ran = 0;
  std::atomic<long> refused = 0;
};

void leaf(tally *all, long yields) {
  for (; yields > 0; --yields)
    nth_yield();
  all->ran.fetch_add(1, std::memory_order_relaxed);
}

// Makes `width` threads at all ends of all queues, and waits for them.
void branch(tally *all, long width, long depth) {
  nth_desc *const self = nth_self();
  nth_depadd(self, 1);
  for (long i = 0; i < width; ++i) {
    nth_desc *thread = depth > 0 ? nth_create_ls(branch, 0, self, 3, all, width, depth - 1)
                                 : nth_create_ls(leaf, 0, self, 2, all, i % 3);
    if (thread == nullptr) {
      all->refused.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    nth_depadd(self, 1);
    all->made.fetch_add(1, std::memory_order_relaxed);
    const int to = static_cast<int>((i / 2 + depth) % kthreads);
    if (i % 2 == 0)
      nth_to_lrq(to, thread);
    else
      nth_to_lrq_end(to, thread);
  }
  nth_block();
  all->ran.fetch_add(1, std::memory_order_relaxed);
}

// One run with what `refuse` does to it before storm number `when`; exact counts, whatever was refused.
struct outcome {
  long refused = 0;
  long runs_refused = 0;
};
template <class F>
outcome storms(const nth_options &o, F refuse) {
  constexpr int count = 6;
  const runtime up(o);
  outcome result;
  for (int n = 0; n < count; ++n) {
    tally all;
    refuse(n);
    // Broad ones fill many blocks; deep ones have many threads that wait.
    const bool broad = n % 2 == 0;
    const nth_status status = broad ? nth_run(branch, 3, &all, right_run, 0) : nth_run(branch, 3, &all, 6, 2);
    if (status == NTH_OK) {
      EXPECT_EQ(all.ran, all.made + 1) << "storm " << n;
    } else {
      EXPECT_EQ(status, NTH_ENOMEM);
      ++result.runs_refused;
    }
    result.refused += all.refused;
  }
  os::fail_never();
  expect_right_run(right_run);
  const nth_counters c = counters();
  EXPECT_EQ(c.descriptors, c.descriptors_free);
  // What one storm needs, at each home where its creator may have been.
  EXPECT_LE(c.descriptors, (10'001 + 4096) * o.workers + 4096) << "descriptors were lost";
  return result;
}

class storm : public testing::TestWithParam<std::tuple<nth_policy, int>> {
protected:
  void SetUp() override { os::fail_never(); }
  void TearDown() override { os::fail_never(); }
  static nth_options chosen() {
    nth_options result = options(std::get<1>(GetParam()), std::get<0>(GetParam()));
    result.stack_size = 16 << 10; // 4096 stacks a commit: stacks are not what is short here
    return result;
  }
  const watchdog guard{60};
};

TEST_P(storm, commits_refused_from_the_nth_on) {
  // Blocks, descriptors and arrays of each home; a few more, for the case in which none is refused.
  long refused = 0;
  long whole = 0;
  for (long nth = 1; nth <= 20; nth += under_tsan ? 19 : 1) {
    SCOPED_TRACE("commit " + std::to_string(nth));
    const outcome found = storms(chosen(), [nth](int n) {
      if (n == 0)
        os::fail_after(fail_kind::commit, nth, true);
    });
    refused += found.refused + found.runs_refused;
    whole += found.refused + found.runs_refused == 0;
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(whole, 0);
}

TEST_P(storm, one_commit_refused) {
  for (long nth = 1; nth <= 8; ++nth) {
    SCOPED_TRACE("commit " + std::to_string(nth));
    storms(chosen(), [nth](int n) {
      if (n == 0)
        os::fail_after(fail_kind::commit, nth, false);
    });
  }
}

// Descriptors are there, blocks are not: threads are linked one by one instead.
TEST_P(storm, no_blocks) {
  for (int when = 0; when < 6; when += under_tsan ? 5 : 1) {
    SCOPED_TRACE("before storm " + std::to_string(when));
    storms(chosen(), [when](int n) {
      if (n == when) {
        use_up_blocks();
        refuse_commits();
      }
    });
  }
}

TEST_P(storm, no_arrays_for_the_rings) {
  storms(chosen(), [](int n) {
    if (n == 0) {
      expect_right_run(1000); // too few to close a block of each worker and end; the rest is committed
      refuse_commits();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(runs, storm,
                         testing::Combine(testing::ValuesIn(all_policies), testing::Values(1, 2)),
                         [](const auto &one) {
                           return std::string(name_of(std::get<0>(one.param))) +
                                  std::to_string(std::get<1>(one.param));
                         });

// ---- Without a block ----------------------------------------------------------------------------------

class no_block : public testing::Test {
protected:
  void SetUp() override { os::fail_never(); }
  void TearDown() override { os::fail_never(); }
  const watchdog guard{60};
};

// Threads that yield until one that waits behind them has run.
TEST_F(no_block, yield_lets_every_other_one_run) {
  nth_options o = options(1);
  o.stack_size = 16 << 10; // each that yields keeps one; so many are committed at once
  const runtime up(o);
  constexpr int patient = 2000; // more than the worker's own blocks hold
  std::atomic<bool> flag = false;
  std::atomic<long> gave_up = 0;
  auto waits = [&] {
    for (long n = 0; !flag; ++n) {
      if (n == 1000) {
        ++gave_up;
        return;
      }
      nth_yield();
    }
  };
  auto sets = [&flag] { flag = true; };
  run([&] {
    nth_desc *const self = nth_self();
    nth_depadd(self, patient + 2);
    nth_desc *last = create(sets, self);
    std::vector<nth_desc *> all;
    for (int i = 0; i < patient; ++i)
      all.push_back(create(waits, self));
    use_up_blocks();
    refuse_commits();
    for (nth_desc *one : all)
      nth_to_lrq_end(0, one);
    nth_to_lrq_end(0, last);
    nth_block();
    os::fail_never();
  });
  EXPECT_EQ(gave_up, 0) << "threads yielded to one another while another one was ready";
}

// Dead descriptors that no block can take are linked, and used again.
TEST_F(no_block, dead_descriptors_are_kept) {
  const runtime up(1);
  constexpr int many = 5000;
  std::atomic<long> ran = 0;
  auto one = [&ran] { ++ran; };
  long before = 0;
  for (int round = 0; round < 3; ++round) {
    ran = 0;
    run([&] {
      nth_desc *const self = nth_self();
      nth_depadd(self, many + 1);
      std::vector<nth_desc *> threads;
      for (int i = 0; i < many; ++i)
        threads.push_back(create(one, self));
      use_up_blocks();
      refuse_commits();
      std::vector<nth::detail::block *> taken; // those of the worker's list too
      while (nth::detail::block *b = nth::detail::take_block(nth::detail::current_worker()))
        taken.push_back(b);
      for (nth_desc *thread : threads)
        nth_to_lrq_end(0, thread);
      nth_block();
      os::fail_never();
      for (nth::detail::block *b : taken)
        nth::detail::give_block(nth::detail::current_worker(), b);
    });
    EXPECT_EQ(ran, many);
    if (round == 0)
      before = counters().descriptors;
    EXPECT_EQ(counters().descriptors, before) << "descriptors were lost";
  }
}

TEST_F(no_block, from_outside_is_told_and_can_be_tried_again) {
  const runtime up(1);
  constexpr int many = 2000;
  std::atomic<long> ran = 0;
  auto one = [&ran] { ++ran; };
  std::vector<nth_desc *> threads;
  expect_right_run(100);
  nth_desc *const self = nth_attach();
  ASSERT_NE(self, nullptr);
  for (int i = 0; i < many; ++i)
    threads.push_back(create(one, self));
  nth_depadd(self, many + 1);
  use_up_blocks();
  refuse_commits();
  std::vector<nth_desc *> again;
  {
    const reports heard;
    int before = 0;
    for (nth_desc *thread : threads) {
      nth_to_lrq_end(0, thread);
      if (heard.count() != before) {
        before = heard.count();
        again.push_back(thread);
      }
    }
    EXPECT_GT(again.size(), 0U);
    EXPECT_EQ(heard.last_status(), NTH_ENOMEM);
  }
  spin_until([&] { return ran == many - static_cast<long>(again.size()); });
  os::fail_never();
  for (nth_desc *thread : again)
    nth_to_lrq_end(0, thread);
  nth_block();
  EXPECT_EQ(ran, many);
  EXPECT_EQ(nth_detach(), NTH_OK);
}

TEST_F(no_block, unblock_from_outside_leaves_the_thread_waiting) {
  const runtime up(1);
  constexpr int many = 200;
  std::atomic<long> woken = 0;
  auto waits = [&woken] {
    nth_block();
    ++woken;
  };
  std::vector<nth_handle_t> handles;
  run([&] {
    for (int i = 0; i < many; ++i) {
      nth_desc *thread = create(waits);
      handles.push_back(nth_handle(thread));
      nth_to_lrq(0, thread);
      nth_yield();
    }
  });
  use_up_blocks();
  refuse_commits();
  long refused = 0;
  for (nth_handle_t &one : handles) {
    const nth_status status = nth_unblock(one);
    if (status == NTH_ENOMEM) {
      ++refused;
      continue;
    }
    EXPECT_EQ(status, NTH_OK);
    one = {};
  }
  EXPECT_GT(refused, 0);
  spin_until([&] { return woken == many - refused; });
  os::fail_never();
  for (const nth_handle_t &one : handles)
    if (one.thread != nullptr) {
      EXPECT_EQ(nth_unblock(one), NTH_OK);
    }
  spin_until([&] { return woken == many; });
  wait_for_ends();
}

} // namespace
