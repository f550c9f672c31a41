// The table of needs: the stack of each thread of a root, where it is proved what the root needs. The table
// lives as long as the process, so this is a program of its own.
#include "../support/runtime.hpp"
#include "stack_class.hpp"

#include <cstring>
#include <vector>

using namespace nth::test;

namespace {

TEST(needs, choose_the_class_of_each_thread_of_a_root) {
  const watchdog guard;
  const nth_stack_need table[] = {{root(small_waits), small_depth + NTH_CALL_STACK, 1},
                                  {root(small_works), 100'000, 1},
                                  {small_plain, 1000, 0}};
  ASSERT_EQ(nth_set_stack_needs(table, 3), NTH_OK) << nth_last_error();
  {
    const runtime up(1);
    long count = 0;
    std::vector<nth_handle_t> handles;
    run([&] {
      nth_desc *thread = nth_create_ls(root(small_waits), 0, nullptr, 1, &count);
      handles.push_back(nth_handle(thread));
      nth_to_lrq(0, thread);
      nth_desc *last = nullptr;
      nth_desc *const batch = nth_batch_get_desc(&last, 2);
      for (thread = batch; thread != nullptr; thread = nth_batch_get_next(thread)) {
        small_init(thread, root(small_waits), &count);
        handles.push_back(nth_handle(thread));
      }
      nth_batch_to_lrq(0, batch, last);
      long words[] = {reinterpret_cast<long>(&count)};
      nth_desc *succ = nth_self();
      nth_depadd(succ, 3);
      nth_to_lrq(0, nth_create_v(root(small_works), 0, 1, &succ, 1, words));
      nth_to_lrq(0, nth_create_ls(small_plain, 0, succ, 0));
      nth_block();
      while (__atomic_load_n(&count, __ATOMIC_RELAXED) < 4)
        nth_yield();
    });
    const nth_stats s = stats();
    EXPECT_EQ(s.stacks[class_of_bytes(smallest)].in_use, 3);
    EXPECT_EQ(s.stacks[class_of_bytes(128 << 10)].most, 1);
    EXPECT_LE(s.stacks[class_of_bytes(64 << 10)].most, 2) << "a root that cannot block needs no stack";
    run([&] {
      for (const nth_handle_t &one : handles)
        ASSERT_EQ(nth_unblock(one), NTH_OK);
      while (__atomic_load_n(&count, __ATOMIC_RELAXED) != 1)
        nth_yield();
    });
    EXPECT_EQ(nth_set_stack_needs(table, 1), NTH_ESTATE) << "the run-time is up";
  }
}

// Arguments beyond four are laid out on the thread's stack, which is larger by that.
TEST(needs, do_not_count_many_arguments) {
  const watchdog guard;
  const nth_stack_need table[] = {{root(small_sums), small_depth + NTH_CALL_STACK, 1}};
  ASSERT_EQ(nth_set_stack_needs(table, 1), NTH_OK) << nth_last_error();
  const runtime up(1);
  long sum = 0;
  run([&] {
    nth_depadd(nth_self(), 2);
    const long words[] = {reinterpret_cast<long>(&sum), 1, 2, 3, 4, 5};
    nth_to_lrq(0, nth_create_ls_v(root(small_sums), 0, nth_self(), 6, words));
    nth_block();
  });
  EXPECT_EQ(sum, 15);
  const nth_stats s = stats();
  EXPECT_EQ(s.stacks[class_of_bytes(256)].most, 0) << "no room for the words";
  EXPECT_GT(s.stacks[class_of_bytes(smallest > 4096 ? smallest : 4096)].most, 0);
}

// A creator above the bound on waiting threads (NTH_BACKLOG) that would have to make way for a child calls it
// instead, where the child is proved not to block.
long counted = 0;
void counts() { ++counted; }

TEST(needs, of_a_child_that_cannot_block_let_its_creator_call_it) {
  const watchdog guard;
  const nth_stack_need table[] = {{counts, 2000, 0}};
  ASSERT_EQ(nth_set_stack_needs(table, 1), NTH_OK) << nth_last_error();
  nth_options chosen = options(1);
  chosen.backlog = 64;
  const runtime up(chosen);
  long calls = 0;
  long others = 0;
  run([&] {
    nth_depadd(nth_self(), 5001);
    for (int i = 0; i < 5000; ++i) {
      const long before = counted;
      nth_to_lrq(0, nth_create_ls(counts, 0, nth_self(), 0));
      calls += counted - before == 1;
      others += counted - before > 1;
    }
    nth_block();
  });
  EXPECT_EQ(counted, 5000);
  EXPECT_GT(calls, 0);
  EXPECT_EQ(others, 0) << "the creator has made way";
}

TEST(needs, that_are_wrong_are_named) {
  const nth_stack_need none = {nullptr, 100, 1};
  EXPECT_EQ(nth_set_stack_needs(&none, 1), NTH_EINVAL);
  EXPECT_NE(std::strstr(nth_last_error(), "entry 0"), nullptr) << nth_last_error();
  const nth_stack_need negative = {small_plain, -1, 1};
  EXPECT_EQ(nth_set_stack_needs(&negative, 1), NTH_EINVAL);
  EXPECT_NE(std::strstr(nth_last_error(), "root "), nullptr) << nth_last_error();
  const nth_stack_need large = {small_plain, 1 << 20, 1};
  EXPECT_EQ(nth_set_stack_needs(&large, 1), NTH_EINVAL);
  EXPECT_NE(std::strstr(nth_last_error(), "1048576"), nullptr) << nth_last_error();
  EXPECT_EQ(nth_set_stack_needs(nullptr, 1), NTH_EINVAL);
  EXPECT_EQ(nth_set_stack_needs(nullptr, -1), NTH_EINVAL);
  EXPECT_EQ(nth_set_stack_needs(nullptr, 0), NTH_OK);
}

} // namespace
