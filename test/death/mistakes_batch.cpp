// Wrong calls of nth_batch_…
#include "mistakes.hpp"

#include <cerrno>

namespace nth::test {
namespace {

struct batch {
  nth_desc *first;
  nth_desc *last;
};
using counted = void (*)(long *);
const counted count_up = [](long *count) { __atomic_fetch_add(count, 1, __ATOMIC_RELAXED); };

void initialise(nth_desc *member, long *count) {
  nth_batch_create_ls(member, count_up, 0, nth_self(), 1, count);
}

batch get_batch(long size) {
  batch b = {};
  b.first = nth_batch_get_desc(&b.last, size);
  return b;
}

void initialise_all(batch b, long *count, nth_desc *but = nullptr) {
  for (nth_desc *t = b.first; t != nullptr; t = nth_batch_get_next(t))
    if (t != but)
      initialise(t, count);
}

// body(batch, runs) on a batch of five, each of which must run once: the caller waits for them.
template <class F>
void with_batch(F body) {
  expect_runs(5, [&](long *runs) {
    nth_depadd(nth_self(), 6);
    body(get_batch(5), runs);
    nth_block();
  });
}

// Calls mistake(batch) on a batch that is initialised, which is then enqueued.
template <class F>
void on_batch(F mistake) {
  with_batch([&](batch b, long *runs) {
    initialise_all(b, runs);
    mistake(b);
    nth_batch_to_lrq(0, b.first, b.last);
  });
}

// The same before the middle member is initialised.
template <class F>
void on_batch_in_part(F mistake) {
  with_batch([&](batch b, long *runs) {
    nth_desc *const middle = nth_batch_get_next(nth_batch_get_next(b.first));
    initialise_all(b, runs, middle);
    mistake(b, middle);
    initialise(middle, runs);
    nth_batch_to_lrq_end(0, b.first, b.last);
  });
}

void negative_size() {
  on_batch([](batch) {
    nth_desc *last = nullptr;
    errno = 0;
    EXPECT_EQ(nth_batch_get_desc(&last, -1), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(last, nullptr);
  });
}
void null_last() {
  on_batch([](batch) {
    errno = 0;
    EXPECT_EQ(nth_batch_get_desc(nullptr, 4), nullptr);
    EXPECT_EQ(errno, EINVAL);
  });
}
void null_last_of_none() {
  on_batch([](batch) { EXPECT_EQ(nth_batch_get_desc(nullptr, 0), nullptr); });
}
void get_while_down() {
  nth_desc *last = nullptr;
  EXPECT_EQ(nth_batch_get_desc(&last, 4), nullptr);
}

void initialised_twice() {
  on_batch([](batch b) {
    static long other = 0;
    initialise(b.first, &other);
  });
}
void initialised_twice_many() {
  on_batch([](batch b) { nth_batch_create(b.first, count_up, 0, 1, 1, nth_self(), nullptr); });
}
void initialises_null() {
  on_batch([](batch) { initialise(nullptr, nullptr); });
}
void initialises_itself() {
  on_batch([](batch) { initialise(nth_self(), nullptr); });
}
void null_root() {
  on_batch_in_part(
      [](batch, nth_desc *middle) { nth_batch_create_ls_v(middle, nullptr, 0, nullptr, 0, nullptr); });
}
void negative_dependencies() {
  on_batch_in_part(
      [](batch, nth_desc *middle) { nth_batch_create_ls(middle, count_up, -1, nth_self(), 1, nullptr); });
}
void many_arguments() {
  on_batch_in_part([](batch, nth_desc *middle) {
    const long words[NTH_MAX_ARGS + 1] = {};
    nth_batch_create_ls_v(middle, reinterpret_cast<void (*)()>(count_up), 0, nullptr, NTH_MAX_ARGS + 1,
                          words);
  });
}
void wrong_count_in_overload() {
  on_batch_in_part(
      [](batch, nth_desc *middle) { nth_batch_create_ls(middle, count_up, 0, nth_self(), 2, nullptr); });
}
void null_successor() {
  on_batch_in_part([](batch, nth_desc *middle) {
    nth_batch_create(middle, count_up, 0, 2, 1, nth_self(), nullptr, nullptr);
  });
}

void worker_below_zero() {
  on_batch([](batch b) { nth_batch_to_lrq(-1, b.first, b.last); });
}
void worker_out_of_range() {
  on_batch([](batch b) { nth_batch_to_lrq_end(kthreads, b.first, b.last); });
}
void null_first() {
  on_batch([](batch b) { nth_batch_to_lrq(0, nullptr, b.last); });
}
void null_last_member() {
  on_batch([](batch b) { nth_batch_to_lrq(0, b.first, nullptr); });
}
void enqueued_in_part() {
  on_batch_in_part([](batch b, nth_desc *) { nth_batch_to_lrq(0, b.first, b.last); });
}
void enqueued_in_part_end() {
  on_batch_in_part([](batch b, nth_desc *) { nth_batch_to_lrq_end(0, b.first, b.last); });
}
void single_member_that_is_not_initialised() {
  on_batch_in_part([](batch, nth_desc *middle) { nth_to_lrq(0, middle); });
}
void depadd_to_member() {
  on_batch_in_part([](batch, nth_desc *middle) { nth_depadd(middle, 1); });
}
void last_is_not_the_last() {
  on_batch([](batch b) { nth_batch_to_lrq(0, b.first, nth_batch_get_next(nth_batch_get_next(b.first))); });
}
void last_is_not_reachable() {
  on_batch([](batch b) { nth_batch_to_lrq(0, nth_batch_get_next(b.first), b.first); });
}
void last_of_another_batch() {
  on_batch([](batch b) {
    static long runs;
    const batch other = get_batch(1);
    initialise(other.first, &runs);
    nth_depadd(nth_self(), 1);
    nth_batch_to_lrq(0, b.first, other.last);
    nth_batch_to_lrq(0, other.first, other.last);
  });
}

template <class F>
void twice(F put) {
  with_batch([&](batch b, long *runs) {
    initialise_all(b, runs);
    put(0, b.first, b.last);
    put(0, b.first, b.last);
  });
}
void enqueued_twice() { twice(nth_batch_to_lrq); }
void enqueued_twice_end() { twice(nth_batch_to_lrq_end); }

void member_with_dependencies() {
  expect_runs(2, [](long *runs) {
    const batch b = get_batch(2);
    nth_depadd(nth_self(), 3);
    nth_batch_create_ls(b.last, count_up, 1, nth_self(), 1, runs);
    nth_batch_create(b.first, count_up, 0, 2, 1, nth_self(), b.last, runs);
    nth_batch_to_lrq(0, b.first, b.last);
    EXPECT_EQ(*runs, 0);
    nth_to_lrq(0, b.first);
    nth_block();
  });
}

// A predecessor ends before its successor is initialised.
void member_is_too_late() {
  expect_runs(2, [](long *runs) {
    const batch b = get_batch(1);
    nth_desc *const before = nth_create_ls(count_up, 0, b.first, 1, runs);
    const nth_handle_t handle = nth_handle(before);
    nth_to_lrq(0, before);
    while (nth_alive(handle) != 0)
      nth_yield();
    nth_yield();
    nth_depadd(nth_self(), 2);
    initialise(b.first, runs);
    nth_batch_to_lrq(0, b.first, b.last);
    nth_block();
  });
}

} // namespace

const std::vector<mistake> batch_mistakes = {
    {"negative_size", negative_size, NTH_EINVAL, {"nth_batch_get_desc", "negative", "-1"}},
    {"null_last", null_last, NTH_EINVAL, {"nth_batch_get_desc", "last", "null"}},
    {"null_last_of_none", null_last_of_none, NTH_EINVAL, {"nth_batch_get_desc", "last", "null"}},
    {"get_while_down", get_while_down, NTH_ESTATE, {"nth_batch_get_desc", "nth_init"}},
    {"initialised_twice", initialised_twice, NTH_ESTATE, {"nth_batch_create_ls", "initialised already"}},
    {"initialised_twice_many",
     initialised_twice_many,
     NTH_ESTATE,
     {"nth_batch_create", "initialised already"}},
    {"initialises_null", initialises_null, NTH_EINVAL, {"nth_batch_create_ls", "null"}},
    {"initialises_itself", initialises_itself, NTH_ESTATE, {"nth_batch_create_ls", "started"}},
    {"null_root", null_root, NTH_EINVAL, {"nth_batch_create_ls", "root"}},
    {"negative_dependencies", negative_dependencies, NTH_EINVAL, {"nth_batch_create_ls", "ndep"}},
    {"many_arguments", many_arguments, NTH_EINVAL, {"nth_batch_create_ls", "narg"}},
    {"wrong_count_in_overload", wrong_count_in_overload, NTH_EINVAL, {"nth_batch_create_ls", "narg"}},
    {"null_successor", null_successor, NTH_EINVAL, {"nth_batch_create", "successor"}},
    {"worker_below_zero", worker_below_zero, NTH_EINVAL, {"nth_batch_to_lrq", "worker", "-1"}},
    {"worker_out_of_range", worker_out_of_range, NTH_EINVAL, {"nth_batch_to_lrq_end", "worker", "1"}},
    {"null_first", null_first, NTH_EINVAL, {"nth_batch_to_lrq", "first", "null"}},
    {"null_last_member", null_last_member, NTH_EINVAL, {"nth_batch_to_lrq", "last", "null"}},
    {"enqueued_in_part", enqueued_in_part, NTH_ESTATE, {"nth_batch_to_lrq", "not initialised"}},
    {"enqueued_in_part_end", enqueued_in_part_end, NTH_ESTATE, {"nth_batch_to_lrq_end", "not initialised"}},
    {"single_member_that_is_not_initialised",
     single_member_that_is_not_initialised,
     NTH_ESTATE,
     {"nth_to_lrq", "not initialised"}},
    {"depadd_to_member", depadd_to_member, NTH_ESTATE, {"nth_depadd", "not initialised"}},
    {"last_is_not_the_last", last_is_not_the_last, NTH_EINVAL, {"nth_batch_to_lrq", "behind"}},
    {"last_is_not_reachable", last_is_not_reachable, NTH_EINVAL, {"nth_batch_to_lrq", "reachable"}},
    {"last_of_another_batch", last_of_another_batch, NTH_EINVAL, {"nth_batch_to_lrq", "reachable"}},
    {"enqueued_twice", enqueued_twice, NTH_ESTATE, {"nth_batch_to_lrq", "enqueued"}},
    {"enqueued_twice_end", enqueued_twice_end, NTH_ESTATE, {"nth_batch_to_lrq_end", "enqueued"}},
    {"member_with_dependencies", member_with_dependencies, NTH_ESTATE, {"nth_batch_to_lrq", "dependenc"}},
    {"member_is_too_late", member_is_too_late, NTH_ESTATE, {"dependency below zero"}},
};

} // namespace nth::test
