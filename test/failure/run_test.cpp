// Memory refused during a run: calls answer so, what was made goes on, and once there is memory again all is
// as before.
#include "refusals.hpp"

#include <cerrno>
#include <vector>

using namespace nth::test;
namespace os = nth::detail::os;

namespace {

class memory : public refused_memory {};

// Creates threads until there is no memory, and enqueues them.
struct creator {
  std::atomic<long> ran = 0;
  long made = 0;

  static void one(creator *c) { c->ran.fetch_add(1, std::memory_order_relaxed); }

  void create_all() {
    nth_desc *const self = nth_self();
    const reports told;
    ran = made = 0;
    nth_depadd(self, 1);
    for (;; ++made) {
      errno = 0;
      nth_desc *thread = nth_create_ls(one, 0, self, 1, this);
      if (thread == nullptr)
        break;
      nth_depadd(self, 1);
      nth_to_lrq_end(0, thread);
    }
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_NE(std::string(nth_last_error()), "");
    for (int i = 0; i < 100; ++i)
      EXPECT_EQ(nth_create_ls(one, 0, self, 1, this), nullptr);
    EXPECT_EQ(told.count(), 0) << "the error handler is for misuse: " << told.messages();
  }
  void join_all() {
    nth_block();
    EXPECT_EQ(ran, made);
  }
};

TEST_P(memory, creation_answers_null_and_works_again_later) {
  for (long nth = 1; nth <= 2; ++nth) { // the commit for the first block, and the next one
    const runtime up(options(1, GetParam()));
    creator c;
    run([&] {
      os::fail_after(fail_kind::commit, nth, true);
      c.create_all();
      os::fail_never();
      const long before = c.made;
      nth_depadd(nth_self(), 1000);
      for (; c.made < before + 1000; ++c.made)
        nth_to_lrq_end(0, nth_create_ls(creator::one, 0, nth_self(), 1, &c));
      c.join_all();
    });
    expect_right_run(right_run);
    EXPECT_EQ(counters().descriptors, counters().descriptors_free);
  }
}

TEST_P(memory, creation_answers_null_when_the_area_is_full) {
  if (under_tsan && GetParam() != NTH_POLICY_DSR)
    GTEST_SKIP() << "half a million stacks are too many for ThreadSanitizer";
  const runtime up(small(1));
  long first = 0;
  for (int round = 0; round < (under_tsan ? 2 : 3); ++round) {
    creator c;
    run([&c] {
      c.create_all();
      c.join_all();
    });
    EXPECT_GT(c.made, 100);
    if (round == 0)
      first = c.made;
    // What was taken from the other home's part, when the own one was full, has gone home there since.
    constexpr long homes = 2;
    EXPECT_GE(c.made, first / homes);
    EXPECT_LE(c.made, first);
  }
  EXPECT_EQ(counters().descriptors, counters().descriptors_free);
}

// A part of a thread is no thread: with arguments and successors in cells of their own, all or nothing.
TEST_P(memory, creation_is_whole_or_not_at_all) {
  const runtime up(small(1));
  run([&] {
    long words[NTH_MAX_ARGS] = {};
    nth_desc *succ[NTH_MAX_SUCCESSORS];
    for (nth_desc *&s : succ)
      s = nth_self();
    refuse_commits();
    long made = 0;
    std::vector<nth_desc *> all;
    static std::atomic<long> ran;
    ran = 0;
    const auto root = +[](long, long) { ++ran; };
    while (nth_desc *thread = nth_create_v(reinterpret_cast<void (*)()>(root), 0, NTH_MAX_SUCCESSORS, succ,
                                           NTH_MAX_ARGS, words)) {
      ++made;
      all.push_back(thread);
    }
    EXPECT_EQ(errno, ENOMEM);
    // What the failed one had taken is back: smaller ones can still be had, again and again.
    const long live = counters().descriptors - counters().descriptors_free;
    for (int i = 0; i < 1000; ++i)
      if (nth_create_v(reinterpret_cast<void (*)()>(root), 0, NTH_MAX_SUCCESSORS, succ, NTH_MAX_ARGS, words))
        ADD_FAILURE() << "made where there was no memory";
    EXPECT_EQ(counters().descriptors - counters().descriptors_free, live);
    os::fail_never();
    nth_depadd(nth_self(), made * NTH_MAX_SUCCESSORS + 1);
    for (nth_desc *thread : all)
      nth_to_lrq_end(0, thread);
    nth_block();
    EXPECT_EQ(ran, made);
  });
  EXPECT_EQ(counters().descriptors, counters().descriptors_free);
}

// Every commit that a batch needs is refused once: it is got whole or not at all, and what was taken is back.
TEST_P(memory, batch_is_whole_or_not_at_all) {
  if (under_tsan && GetParam() != NTH_POLICY_DSR)
    GTEST_SKIP() << "so many stacks are too many for ThreadSanitizer";
  const long n = GetParam() == NTH_POLICY_DOS ? 3000 : 1'100'000; // more than one commit holds
  int refused = 0;
  for (long nth = 1;; ++nth) {
    const runtime up(options(1, GetParam()));
    creator c;
    bool done = false;
    run([&] {
      nth_desc *last = nullptr;
      const long live = counters().descriptors - counters().descriptors_free;
      os::fail_after(fail_kind::commit, nth, true);
      errno = 0;
      nth_desc *first = nth_batch_get_desc(&last, n);
      done = first != nullptr;
      if (!done) {
        EXPECT_EQ(errno, ENOMEM);
        EXPECT_EQ(last, nullptr);
        EXPECT_EQ(counters().descriptors - counters().descriptors_free, live) << "what was taken is back";
        ++refused;
        os::fail_never();
        first = nth_batch_get_desc(&last, n);
      }
      os::fail_never();
      ASSERT_NE(first, nullptr);
      nth_depadd(nth_self(), n + 1);
      for (nth_desc *t = first; t != nullptr; t = nth_batch_get_next(t))
        nth_batch_create_ls(t, creator::one, 0, nth_self(), 1, &c);
      nth_batch_to_lrq(0, first, last);
      nth_block();
      EXPECT_EQ(c.ran, n);
    });
    expect_right_run(1000);
    EXPECT_EQ(counters().descriptors, counters().descriptors_free);
    if (done)
      break;
    ASSERT_LT(nth, 200);
  }
  EXPECT_GT(refused, 1);
}

// No blocks for the queue: from a worker all run all the same; from outside none is enqueued.
TEST_P(memory, batch_without_blocks) {
  const runtime up(options(1, GetParam()));
  expect_right_run(100);
  struct log {
    std::atomic<long> ran = 0;
    std::atomic<long> out_of_order = 0;
    static void one(log *l, long i) {
      if (l->ran.fetch_add(1) != i)
        ++l->out_of_order;
    }
  };
  const auto make = [](nth_desc *&last, log &l, nth_desc *succ) {
    constexpr long n = 1000;
    nth_desc *const first = nth_batch_get_desc(&last, n);
    long i = 0;
    for (nth_desc *t = first; t != nullptr; t = nth_batch_get_next(t))
      nth_batch_create_ls(t, log::one, 0, succ, 2, &l, i++);
    nth_depadd(succ, n + 1);
    return first;
  };
  for (const bool front : {true, false}) {
    const auto put = front ? nth_batch_to_lrq : nth_batch_to_lrq_end;
    log inside;
    run([&] {
      nth_desc *last = nullptr;
      nth_desc *const first = make(last, inside, nth_self());
      use_up_blocks();
      refuse_commits();
      put(0, first, last);
      nth_block();
      os::fail_never();
    });
    EXPECT_EQ(inside.ran, 1000);
    if (!front) { // what finds no room in front waits behind what did
      EXPECT_EQ(inside.out_of_order, 0);
    }

    log outside;
    nth_desc *const self = nth_attach();
    nth_desc *last = nullptr;
    nth_desc *const first = make(last, outside, self);
    {
      use_up_blocks();
      refuse_commits();
      const reports told;
      put(0, first, last); // there may be blocks in the lists
      if (told.count() != 0) {
        EXPECT_EQ(told.last_status(), NTH_ENOMEM);
        os::fail_never();
        put(0, first, last);
      }
      os::fail_never();
    }
    nth_block();
    EXPECT_EQ(outside.ran, 1000);
    EXPECT_EQ(outside.out_of_order, 0);
    EXPECT_EQ(nth_detach(), NTH_OK);
  }
  expect_right_run(right_run);
  wait_for_ends();
}

// Words and successors that do not fit the member: it stays as it was, and can be initialised later.
TEST_P(memory, member_is_initialised_whole_or_not_at_all) {
  const runtime up(options(1, GetParam()));
  run([] {
    static std::atomic<long> ran;
    ran = 0;
    const auto root = +[](long, long) { ++ran; };
    const long words[NTH_MAX_ARGS] = {};
    nth_desc *last = nullptr;
    nth_desc *const first = nth_batch_get_desc(&last, 3);
    refuse_commits();
    std::vector<nth_desc *> all;
    while (nth_desc *t = nth_create_ls(root, 0, nth_self(), 2, 0, 0))
      all.push_back(t);
    for (nth_desc *t = first; t != nullptr; t = nth_batch_get_next(t)) {
      const reports told;
      nth_batch_create_ls_v(t, reinterpret_cast<void (*)()>(root), 0, nth_self(), NTH_MAX_ARGS, words);
      EXPECT_EQ(told.count(), 1);
      EXPECT_EQ(told.last_status(), NTH_ENOMEM);
    }
    os::fail_never();
    for (nth_desc *t = first; t != nullptr; t = nth_batch_get_next(t))
      nth_batch_create_ls_v(t, reinterpret_cast<void (*)()>(root), 0, nth_self(), NTH_MAX_ARGS, words);
    nth_depadd(nth_self(), static_cast<long>(all.size()) + 4);
    nth_batch_to_lrq(0, first, last);
    for (nth_desc *t : all)
      nth_to_lrq(0, t);
    nth_block();
    EXPECT_EQ(ran, static_cast<long>(all.size()) + 3);
  });
  EXPECT_EQ(counters().descriptors, counters().descriptors_free);
}

// ---- No stack ----------------------------------------------------------------------------------------

nth_options large_stacks(nth_policy policy) {
  nth_options result = options(1, policy);
  result.stack_size = 1L << 20; // 64 of them a commit
  return result;
}

TEST(no_stack, try_block_says_so_and_changes_nothing) {
  const watchdog guard(60);
  os::fail_never();
  const runtime up(large_stacks(NTH_POLICY_DSR));
  long blocked = 0;
  long woken = 0;
  auto waits = [&] {
    ++blocked;
    nth_block();
    ++woken;
  };
  std::vector<nth_handle_t> handles;
  expect_right_run(100); // descriptors and blocks are committed by it, and stacks were at the start
  refuse_commits();
  run([&] {
    nth_desc *const self = nth_self();
    // Each keeps a stack, until there is none: then a yield to a fresh thread comes back at once.
    do {
      nth_desc *thread = create(waits);
      handles.push_back(nth_handle(thread));
      nth_to_lrq_end(0, thread);
      nth_yield();
    } while (blocked == static_cast<long>(handles.size()));
    EXPECT_EQ(blocked + 1, static_cast<long>(handles.size()));
    EXPECT_GT(blocked, 10);

    // Without dependencies: no wait is left behind, and an unblock is remembered as before.
    const nth_handle_t me = nth_handle(self);
    EXPECT_EQ(nth_try_block(), NTH_ENOMEM);
    EXPECT_EQ(nth_alive(me), 1);
    EXPECT_EQ(nth_unblock(me), NTH_OK);
    EXPECT_EQ(nth_try_block(), NTH_OK);
    EXPECT_EQ(nth_try_block(), NTH_ENOMEM);

    // With dependencies: the count stays, the caller's own one too.
    long child_ran = 0;
    auto child = [&child_ran] { ++child_ran; };
    nth_desc *late = create(child, self);
    nth_depadd(self, 2);
    EXPECT_EQ(nth_try_block(), NTH_ENOMEM);
    EXPECT_EQ(nth_try_block(), NTH_ENOMEM);
    {
      const reports heard; // nth_block has no effect either, and tells the handler
      nth_block();
      EXPECT_EQ(heard.count(), 1);
      EXPECT_EQ(heard.last_status(), NTH_ENOMEM);
    }
    EXPECT_EQ(child_ran, 0);

    os::fail_never();
    nth_to_lrq_end(0, late);
    EXPECT_EQ(nth_try_block(), NTH_OK);
    EXPECT_EQ(child_ran, 1);
    for (const nth_handle_t &one : handles)
      EXPECT_EQ(nth_unblock(one), NTH_OK);
    while (woken < static_cast<long>(handles.size()))
      nth_yield();
  });
  expect_right_run(right_run);
}

// Policy lsa: a fresh thread needs a stack when it is dispatched. The worker tries others, says so now and
// then, and goes on when there is one.
TEST(no_stack, under_lsa_is_reported_and_waited_for) {
  const watchdog guard(60);
  os::fail_never();
  const runtime up(large_stacks(NTH_POLICY_LSA));
  expect_right_run(100);
  static std::atomic<long> heard;
  heard = 0;
  const nth_error_handler before = nth_set_error_handler(+[](nth_status status, const char *) {
    EXPECT_EQ(status, NTH_ENOMEM);
    ++heard;
    os::fail_never();
  });
  std::atomic<long> woken = 0;
  std::vector<nth_handle_t> handles;
  auto waits = [&woken] {
    nth_block();
    ++woken;
  };
  run([&] {
    refuse_commits();
    for (long i = 0; i < 100'000 && heard == 0; ++i) {
      nth_desc *thread = create(waits);
      handles.push_back(nth_handle(thread));
      nth_to_lrq(0, thread);
      nth_depadd(nth_self(), 2);
      auto nothing = [] {};
      nth_desc *child = create(nothing, nth_self());
      nth_to_lrq_end(0, child);
      nth_block();
    }
    EXPECT_GT(heard, 0);
    for (const nth_handle_t &one : handles)
      EXPECT_EQ(nth_unblock(one), NTH_OK);
    while (woken < static_cast<long>(handles.size()))
      nth_yield();
  });
  nth_set_error_handler(before);
  expect_right_run(right_run);
}

INSTANTIATE_TEST_SUITE_P(policies, memory, testing::ValuesIn(all_policies),
                         [](const auto &one) { return name_of(one.param); });

} // namespace
