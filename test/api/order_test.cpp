// Where nth_to_lrq and nth_to_lrq_end put a thread, seen from the order in which threads run.
#include "../support/runtime.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

using namespace nth::test;

namespace {

// "In front of the ready queue" means in front of what was put there before: newest first.
constexpr bool front_is_newest_first = true;

class order : public testing::TestWithParam<nth_policy> {
protected:
  std::vector<int> ran;
  struct member {
    order *test;
    int number;
    void operator()() const { test->ran.push_back(number); }
  };
  std::vector<member> make(int count) {
    std::vector<member> members;
    for (int i = 0; i < count; ++i)
      members.push_back({this, i});
    return members;
  }
  static std::vector<int> rising(int count) {
    std::vector<int> numbers(static_cast<size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
  static std::vector<int> in_front(int count) {
    std::vector<int> numbers = rising(count);
    if (front_is_newest_first)
      std::reverse(numbers.begin(), numbers.end());
    return numbers;
  }
  // Puts `count` threads into the own queue of the only worker and waits for them.
  void enqueue_own(int count, void (*put)(int, nth_desc *)) {
    const runtime up(1, GetParam());
    std::vector<member> members = make(count);
    run([&] {
      nth_depadd(nth_self(), count + 1);
      for (member &one : members)
        put(0, create(one, nth_self()));
      nth_block();
    });
  }
  void enqueue_remote(int count, void (*put)(int, nth_desc *));
};

// With two workers, of which the sender's runs a long thread until all is done, only the destination takes
// threads. That long thread runs after the sender has blocked, when all that it sent is on its way.
void order::enqueue_remote(int count, void (*put)(int, nth_desc *)) {
  const runtime up(2, GetParam());
  std::vector<member> members = make(count);
  run([&] {
    const int here = nth_worker(), other = 1 - here;
    std::atomic<bool> occupied = false, release = false, done = false;
    auto occupant = [&] {
      occupied = true;
      spin_until([&] { return release.load(); });
    };
    auto last = [&] { done = true; }; // runs when all members have ended
    auto holder = [&] {
      EXPECT_EQ(nth_worker(), here);
      release = true;
      spin_until([&] { return done.load(); });
    };
    nth_depadd(nth_self(), 4);
    nth_desc *after = create(last, nth_self(), count);
    nth_to_lrq_end(other, create(occupant, nth_self()));
    spin_until([&] { return occupied.load(); });
    for (member &one : members)
      put(other, create(one, after));
    nth_to_lrq(here, create(holder, nth_self()));
    nth_block();
  });
}

TEST_P(order, at_the_end_of_the_own_queue) {
  for (const int count : {2, 63, 64, 65, 1000}) {
    const watchdog guard;
    ran.clear();
    enqueue_own(count, nth_to_lrq_end);
    EXPECT_EQ(ran, rising(count));
  }
}

TEST_P(order, in_front_of_the_own_queue) {
  for (const int count : {2, 63, 64, 65, 1000}) {
    const watchdog guard;
    ran.clear();
    enqueue_own(count, nth_to_lrq);
    EXPECT_EQ(ran, in_front(count));
  }
}

TEST_P(order, front_goes_before_end) {
  for (const int half : {1, 2, 64, 500}) {
    const watchdog guard;
    ran.clear();
    const runtime up(1, GetParam());
    std::vector<member> members = make(2 * half);
    run([&] {
      nth_depadd(nth_self(), 2 * half + 1);
      for (int i = 0; i < half; ++i) { // those of the end have the high numbers
        nth_to_lrq_end(0, create(members[static_cast<size_t>(half + i)], nth_self()));
        nth_to_lrq(0, create(members[static_cast<size_t>(i)], nth_self()));
      }
      nth_block();
    });
    std::vector<int> expected = in_front(half);
    for (int i = 0; i < half; ++i)
      expected.push_back(half + i);
    EXPECT_EQ(ran, expected);
  }
}

TEST_P(order, kept_at_the_end_of_another_workers_queue) {
  for (const int count : {2, 63, 64, 65, 1000}) {
    const watchdog guard;
    ran.clear();
    enqueue_remote(count, nth_to_lrq_end);
    EXPECT_EQ(ran, rising(count));
  }
}

// What arrives later goes in front of what has arrived: so as many as travel together.
TEST_P(order, kept_in_front_of_another_workers_queue) {
  for (const int count : {2, 63, 64}) {
    const watchdog guard;
    ran.clear();
    enqueue_remote(count, nth_to_lrq);
    EXPECT_EQ(ran, in_front(count));
  }
}

// A kernel thread outside keeps its order as well.
TEST_P(order, kept_from_outside) {
  const watchdog guard;
  const runtime up(1, GetParam());
  constexpr int count = 300;
  std::vector<member> members = make(count);
  std::atomic<bool> occupied = false, release = false;
  auto occupant = [&] {
    occupied = true;
    spin_until([&] { return release.load(); });
  };
  nth_desc *self = nth_attach();
  ASSERT_NE(self, nullptr);
  nth_depadd(self, count + 2);
  nth_to_lrq_end(0, create(occupant, self));
  spin_until([&] { return occupied.load(); });
  for (member &one : members)
    nth_to_lrq_end(0, create(one, self));
  release = true;
  nth_block();
  EXPECT_EQ(nth_detach(), NTH_OK);
  EXPECT_EQ(ran, rising(count));
}

INSTANTIATE_TEST_SUITE_P(policies, order, testing::ValuesIn(all_policies),
                         [](const auto &test) { return name_of(test.param); });

} // namespace
