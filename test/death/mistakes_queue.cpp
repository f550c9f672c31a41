// Wrong calls that act on threads: queues, dependencies, blocking.
#include "mistakes.hpp"

namespace nth::test {
namespace {

// body(make) of a thread that waits for what make(dependencies) makes: one thread, which must run once.
template <class F>
void with_thread(F body) {
  expect_runs(1, [&](long *runs) {
    auto count = [runs] { ++*runs; };
    nth_depadd(nth_self(), 2);
    body([&](int dependencies) { return create(count, nth_self(), dependencies); });
    nth_block();
  });
}

// Calls mistake(thread) on a thread that was made and not enqueued, then runs it.
template <class F>
void on_made_thread(F mistake) {
  with_thread([&](auto make) {
    nth_desc *thread = make(0);
    mistake(thread);
    nth_to_lrq(0, thread);
  });
}

// The same on a thread that is in the ready queue of the only worker.
template <class F>
void on_enqueued_thread(F mistake) {
  with_thread([&](auto make) {
    nth_desc *thread = make(0);
    nth_to_lrq(0, thread);
    mistake(thread);
  });
}

// The same on a thread that waits for one dependency.
template <class F>
void on_waiting_thread(F mistake) {
  with_thread([&](auto make) {
    nth_desc *thread = make(1);
    static auto nothing = [] {};
    nth_desc *first = create(nothing, thread);
    mistake(thread);
    nth_to_lrq(0, first);
  });
}

void worker_below_zero() {
  on_made_thread([](nth_desc *thread) { nth_to_lrq(-1, thread); });
}
void worker_out_of_range() {
  on_made_thread([](nth_desc *thread) { nth_to_lrq(kthreads, thread); });
}
void worker_below_zero_end() {
  on_made_thread([](nth_desc *thread) { nth_to_lrq_end(-1, thread); });
}
void worker_out_of_range_end() {
  on_made_thread([](nth_desc *thread) { nth_to_lrq_end(kthreads, thread); });
}
void enqueue_null() {
  on_made_thread([](nth_desc *) { nth_to_lrq(0, nullptr); });
}
void enqueue_null_end() {
  on_made_thread([](nth_desc *) { nth_to_lrq_end(0, nullptr); });
}
void enqueue_twice() {
  on_enqueued_thread([](nth_desc *thread) { nth_to_lrq(0, thread); });
}
void enqueue_twice_end() {
  on_enqueued_thread([](nth_desc *thread) { nth_to_lrq_end(0, thread); });
}
void enqueue_itself() {
  const watchdog guard;
  const runtime up(1);
  int steps = 0;
  run([&] {
    ++steps;
    nth_to_lrq(0, nth_self());
    nth_yield();
    ++steps;
  });
  EXPECT_EQ(steps, 2);
}
void enqueue_with_dependencies() {
  on_waiting_thread([](nth_desc *thread) { nth_to_lrq(0, thread); });
}
void enqueue_with_dependencies_end() {
  on_waiting_thread([](nth_desc *thread) { nth_to_lrq_end(0, thread); });
}

void add_to_null() {
  on_made_thread([](nth_desc *) { nth_depadd(nullptr, 1); });
}
void add_negative() {
  on_waiting_thread([](nth_desc *thread) { nth_depadd(thread, -1); });
}
void add_too_many() {
  on_waiting_thread([](nth_desc *thread) { nth_depadd(thread, NTH_MAX_DEPENDENCIES + 1L); });
}
void add_too_many_in_two_steps() {
  on_waiting_thread([](nth_desc *thread) { nth_depadd(thread, NTH_MAX_DEPENDENCIES); });
}
void add_too_many_by_far() {
  on_waiting_thread([](nth_desc *thread) { nth_depadd(thread, 1L << 40); });
}
void add_to_enqueued() {
  on_enqueued_thread([](nth_desc *thread) { nth_depadd(thread, 1); });
}

// A predecessor ends whose successor has no dependency left: it was made with ndep 0 …
void dependency_below_zero() {
  on_made_thread([](nth_desc *thread) {
    auto before = [] {};
    nth_desc *first = create(before, thread);
    const nth_handle_t handle = nth_handle(first);
    nth_to_lrq(0, first);
    while (nth_alive(handle) != 0)
      nth_yield();
  });
}

// … or with fewer than it has predecessors, and runs already when the last of them ends.
void dependency_below_zero_of_a_running_thread() {
  const watchdog guard;
  const runtime up(1);
  int ends = 0;
  run([&] {
    bool over = false;
    auto body = [&] {
      while (!over)
        nth_yield();
      ++ends;
    };
    auto before = [] {};
    nth_depadd(nth_self(), 2);
    nth_desc *thread = create(body, nth_self(), 1);
    for (int i = 0; i < 2; ++i) {
      nth_desc *one = create(before, thread);
      const nth_handle_t end = nth_handle(one);
      nth_to_lrq_end(0, one);
      while (nth_alive(end) != 0)
        nth_yield();
      nth_yield(); // after the first round `thread` runs
    }
    over = true;
    nth_block();
  });
  EXPECT_EQ(ends, 1);
}

void block_outside() {
  const watchdog guard;
  const runtime up(1);
  nth_block();
  int runs = 0;
  run([&] { ++runs; });
  EXPECT_EQ(runs, 1);
}
void block_after_detach() {
  const watchdog guard;
  const runtime up(1);
  ASSERT_NE(nth_attach(), nullptr);
  ASSERT_EQ(nth_detach(), NTH_OK);
  nth_block();
}

void scope_ends_without_begin() {
  const watchdog guard;
  const runtime up(1);
  run([] {
    nth_no_suspend_begin();
    nth_no_suspend_end();
    nth_no_suspend_end();
  });
}
void scope_of_another_thread_ends() {
  const watchdog guard;
  const runtime up(1);
  run([] {
    auto child = [] { nth_no_suspend_end(); };
    const nth::no_suspend_scope scope;
    nth_depadd(nth_self(), 2);
    nth_to_lrq(0, create(child, nth_self()));
    nth_block();
  });
}
void scopes_without_end() {
  const watchdog guard;
  const runtime up(1);
  run([] {
    for (int i = 0; i < 0x10000; ++i)
      nth_no_suspend_begin();
  });
}

} // namespace

const std::vector<mistake> queue_mistakes = {
    {"worker_below_zero", worker_below_zero, NTH_EINVAL, {"nth_to_lrq", "worker", "-1"}},
    {"worker_out_of_range", worker_out_of_range, NTH_EINVAL, {"nth_to_lrq", "worker", "1"}},
    {"worker_below_zero_end", worker_below_zero_end, NTH_EINVAL, {"nth_to_lrq_end", "worker", "-1"}},
    {"worker_out_of_range_end", worker_out_of_range_end, NTH_EINVAL, {"nth_to_lrq_end", "worker", "1"}},
    {"enqueue_null", enqueue_null, NTH_EINVAL, {"nth_to_lrq", "null"}},
    {"enqueue_null_end", enqueue_null_end, NTH_EINVAL, {"nth_to_lrq_end", "null"}},
    {"enqueue_twice", enqueue_twice, NTH_ESTATE, {"nth_to_lrq", "enqueued"}},
    {"enqueue_twice_end", enqueue_twice_end, NTH_ESTATE, {"nth_to_lrq_end", "enqueued"}},
    {"enqueue_itself", enqueue_itself, NTH_ESTATE, {"nth_to_lrq"}},
    {"enqueue_with_dependencies", enqueue_with_dependencies, NTH_ESTATE, {"nth_to_lrq", "dependenc"}},
    {"enqueue_with_dependencies_end",
     enqueue_with_dependencies_end,
     NTH_ESTATE,
     {"nth_to_lrq_end", "dependenc"}},
    {"add_to_null", add_to_null, NTH_EINVAL, {"nth_depadd", "null"}},
    {"add_negative", add_negative, NTH_EINVAL, {"nth_depadd", "negative"}},
    {"add_too_many", add_too_many, NTH_EINVAL, {"nth_depadd", "dependenc"}},
    {"add_too_many_in_two_steps", add_too_many_in_two_steps, NTH_EINVAL, {"nth_depadd", "dependenc"}},
    {"add_too_many_by_far", add_too_many_by_far, NTH_EINVAL, {"nth_depadd", "dependenc"}},
    {"add_to_enqueued", add_to_enqueued, NTH_ESTATE, {"nth_depadd", "enqueued"}},
    {"dependency_below_zero", dependency_below_zero, NTH_ESTATE, {"dependenc"}},
    {"dependency_below_zero_of_a_running_thread",
     dependency_below_zero_of_a_running_thread,
     NTH_ESTATE,
     {"dependenc"}},
    {"scope_ends_without_begin", scope_ends_without_begin, NTH_ESTATE, {"nth_no_suspend_end", "begin"}},
    {"scope_of_another_thread_ends",
     scope_of_another_thread_ends,
     NTH_ESTATE,
     {"nth_no_suspend_end", "begin"}},
    {"scopes_without_end", scopes_without_end, NTH_ESTATE, {"nth_no_suspend_begin", "65535"}},
    {"block_outside", block_outside, NTH_ESTATE, {"nth_block", "nth_attach"}},
    {"block_after_detach", block_after_detach, NTH_ESTATE, {"nth_block", "nth_attach"}},
};

} // namespace nth::test
