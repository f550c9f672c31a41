// A child that is proved not to block is called where its creator would make way for it. What is proved is said
// here, in place of src/thread/call_in_place.cpp.
#include "../support/runtime.hpp"

#include "thread/dispatch.hpp"

#include <atomic>
#include <cerrno>

namespace {

std::atomic<bool> proved = false;
std::atomic<long> asked = 0, most_room = 0;

} // namespace

namespace nth::detail {

bool may_call_in_place(const nth_desc *child, std::uintptr_t room) noexcept {
  EXPECT_NE(child, nullptr);
  ++asked;
  most_room = std::max(most_room.load(), static_cast<long>(room));
  return proved;
}

} // namespace nth::detail

using namespace nth::test;

namespace {

constexpr long bound = 64;

class call_child : public testing::TestWithParam<nth_policy> {};

TEST_P(call_child, where_the_creator_would_make_way) {
  for (const auto put : {nth_to_lrq, nth_to_lrq_end}) {
    const watchdog guard;
    nth_options o = options(1, GetParam());
    o.backlog = bound;
    const runtime up(o);
    proved = true;
    asked = 0;
    run([&] {
      constexpr int n = 1000;
      nth_desc *const creator = nth_self();
      const nth_handle_t self = nth_handle(creator);
      int ran = 0;
      auto child = [&] {
        EXPECT_NE(nth_self(), creator);
        errno = ++ran;
      };
      nth_depadd(creator, n + 1);
      errno = -1;
      for (int i = 0; i < n; ++i) {
        put(0, create(child, creator));
        EXPECT_EQ(ran, std::max<long>(0, i + 2 - bound)) << "the " << i << "th put";
        EXPECT_EQ(errno, -1);
        EXPECT_EQ(nth_self(), creator);
      }
      EXPECT_EQ(nth_alive(self), 1);
      nth_block();
      EXPECT_EQ(ran, n);
    });
    EXPECT_EQ(asked, 1000 - bound + 1);
    EXPECT_GT(most_room, 0);
    EXPECT_LT(most_room, counters().stack_bytes);
    EXPECT_LE(counters().descriptors, 2048 + 2 * bound);
  }
}

// It makes way when nothing is proved.
TEST_P(call_child, only_if_it_is_proved) {
  const watchdog guard;
  nth_options o = options(1, GetParam());
  o.backlog = bound;
  const runtime up(o);
  proved = false;
  run([&] {
    int ran = 0;
    auto child = [&] { ++ran; };
    nth_depadd(nth_self(), bound + 1);
    for (int i = 0; i < bound; ++i)
      nth_to_lrq(0, create(child, nth_self()));
    EXPECT_EQ(ran, bound);
    nth_block();
  });
}

INSTANTIATE_TEST_SUITE_P(policies, call_child, testing::ValuesIn(all_policies),
                         [](const auto &test) { return name_of(test.param); });

} // namespace
