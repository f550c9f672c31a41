// Tables that are not as nth/growth.h has them end the program, which says what is wrong.
#include "nth/growth.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace {

// Header and tables as one object: places are bytes from its beginning.
struct alignas(NTH_STUB_SIZE) tables {
  nth_growth_header h;
  nth_growth_stub stub[2];
  nth_growth_need need[2];
  nth_growth_site site[2];
  char text[16];

  tables() {
    std::memset(this, 0, sizeof *this);
    std::memcpy(h.magic, NTH_GROWTH_MAGIC, sizeof h.magic);
    h.filled = 1;
    h.limits = 2;
    h.thresholds[0] = 256;
    h.thresholds[1] = 1024;
    h.stubs = h.stub_room = h.needs = h.need_room = h.sites = h.site_room = 2;
    h.text_room = sizeof text;
    h.pool = 4096;
    h.stub_at = offsetof(tables, stub);
    h.need_at = offsetof(tables, need);
    h.site_at = offsetof(tables, site);
    h.text_at = offsetof(tables, text);
    stub[0] = {200, 200, 0, 8192, 0};
    stub[1] = {1000, 2000, 64, 8256, NTH_STUB_ENTRY};
    need[0] = {8192, 500, NTH_NEED_BLOCKS, 0};
    need[1] = {8256, 0, NTH_NEED_UNBOUNDED, 1};
    site[0] = {9000, 16};
    site[1] = {9100, 24};
  }
};

// A thread-local word of this program: where limits could lie.
__thread std::uintptr_t somewhere[NTH_STUB_LIMITS];

long place_of_limits() {
  char *thread_pointer = nullptr;
  asm("movq %%fs:0, %0" : "=r"(thread_pointer));
  return reinterpret_cast<char *>(somewhere) - thread_pointer;
}

void expect_refused(const std::function<void(tables &)> &spoil, const char *message) {
  tables t;
  spoil(t);
  EXPECT_EXIT(nth_growth_register(&t.h, place_of_limits()), testing::KilledBySignal(SIGABRT), message);
}

TEST(tables, that_are_right_are_taken_once) {
  EXPECT_EXIT(
      {
        const tables t;
        nth_growth_register(&t.h, place_of_limits());
        std::exit(3);
      },
      testing::ExitedWithCode(3), "");
  EXPECT_EXIT(
      {
        const tables t;
        nth_growth_register(&t.h, place_of_limits());
        nth_growth_register(&t.h, place_of_limits());
      },
      testing::KilledBySignal(SIGABRT), "there are two of them");
}

TEST(tables, that_are_wrong_are_named) {
  expect_refused([](tables &t) { t.h.magic[7] = '9'; }, "mark is not nthgrow1");
  expect_refused([](tables &t) { t.h.filled = 0; }, "not filled");
  expect_refused([](tables &t) { t.h.limits = 0; }, "0 thresholds");
  expect_refused([](tables &t) { t.h.limits = 5; }, "5 thresholds");
  expect_refused([](tables &t) { t.h.thresholds[1] = 256; }, "threshold 1 is 256");
  expect_refused([](tables &t) { t.h.thresholds[0] = 7; }, "threshold 0 is 7");
  expect_refused([](tables &t) { t.h.stubs = 3; }, "3 of 2 stubs");
  expect_refused([](tables &t) { t.h.needs = 3; }, "3 of 2 needs");
  expect_refused([](tables &t) { t.h.sites = 3; }, "3 of 2 sites");
  expect_refused([](tables &t) { t.h.stub_at += 1; }, "odd place");
  expect_refused([](tables &t) { t.stub[1].flags = 128; }, "stub 1 has unknown flags, 128");
  expect_refused([](tables &t) { t.h.pool += 8; }, "not at a multiple of 32");
  expect_refused([](tables &t) { t.stub[1].flags = NTH_STUB_SWAPCONTEXT; }, "stub 1 is of setcontext");
  expect_refused([](tables &t) { t.stub[0].need = 0; }, "stub 0 has a need of 0");
  expect_refused([](tables &t) { t.stub[1].take = 999; },
                 "stub 1 takes 999 bytes, less than its need of 1000");
  expect_refused([](tables &t) { t.need[1].function = 8192; }, "need 1 is not in order");
  expect_refused([](tables &t) { t.need[1].reason = 16; }, "need 1 has its reason at 16 of 16");
  expect_refused([](tables &t) { t.site[1].return_to = 8000; }, "site 1 is not in order");
}

TEST(tables, come_before_the_run) {
  EXPECT_EXIT(
      {
        nth_options options;
        if (nth_options_init(&options) != NTH_OK || nth_init(&options) != NTH_OK)
          std::exit(1);
        const tables t;
        nth_growth_register(&t.h, place_of_limits());
      },
      testing::KilledBySignal(SIGABRT), "nth_init was called before");
}

TEST(tables, with_needs_that_no_stack_has_are_refused_at_the_start) {
  EXPECT_EXIT(
      {
        tables t;
        t.stub[0].need = t.stub[0].take = 2 << 20;
        nth_growth_register(&t.h, place_of_limits());
        nth_options options;
        if (nth_options_init(&options) != NTH_OK)
          std::exit(1);
        const bool refused = nth_init(&options) == NTH_EINVAL &&
                             std::strstr(nth_last_error(), "more than the largest stack") != nullptr;
        std::exit(refused ? 4 : 5);
      },
      testing::ExitedWithCode(4), "");
}

// Nobody has chosen a size: it is made large enough. Somebody has, with the environment: it stands.
TEST(tables, with_large_needs_raise_the_default_class) {
  EXPECT_EXIT(
      {
        unsetenv("NTH_STACK_SIZE");
        tables t;
        t.stub[0].need = t.stub[0].take = 100'000;
        nth_growth_register(&t.h, place_of_limits());
        nth_counters c;
        if (nth_init(nullptr) != NTH_OK || nth_get_counters(&c) != NTH_OK)
          std::exit(1);
        std::exit(c.stack_bytes == 128 << 10 ? 6 : 7);
      },
      testing::ExitedWithCode(6), "");
  EXPECT_EXIT(
      {
        setenv("NTH_STACK_SIZE", "64K", 1);
        tables t;
        t.stub[0].need = t.stub[0].take = 100'000;
        nth_growth_register(&t.h, place_of_limits());
        std::exit(nth_init(nullptr) == NTH_EINVAL ? 8 : 9);
      },
      testing::ExitedWithCode(8), "");
}

} // namespace
