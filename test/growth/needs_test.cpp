// What the run-time makes of the table of needs: classes, roots without a bound, NTH_STACK_STRICT, the default class.
#include "support.hpp"

#include "../support/message.hpp"
#include "../support/reports.hpp"

#include "nth/loop.h"

#include <cerrno>
#include <cstdlib>
#include <string>

using namespace nth::test;
using nth::detail::stack_size_of;
using nth::detail::top_of;

namespace {

void tell_size(long to) { *reinterpret_cast<std::size_t *>(to) = stack_size_of(top_of(here())); }

TEST(the_table, gives_threads_their_classes) {
  const watchdog guard;
  const runtime up(1);
  std::size_t size = 0;
  run([&] {
    nth_depadd(nth_self(), 2);
    nth_to_lrq(0,
               nth_create_ls(reinterpret_cast<void (*)()>(small_root), 0, nth_self(), 2, tell_size, &size));
    nth_block();
  });
  EXPECT_EQ(static_cast<long>(size), size_for(1700)) << "small_root needs 1700 bytes";
  EXPECT_EQ(stats_now().threads_unbounded, 0);
  run([&] {
    nth_depadd(nth_self(), 4);
    for (int i = 0; i < 3; ++i)
      nth_to_lrq(0, nth_create_ls(loose_root, 0, nth_self(), 0));
    nth_block();
  });
  const nth_stats s = stats_now();
  EXPECT_EQ(s.roots_unbounded, 1);
  EXPECT_EQ(s.threads_unbounded, 3);
}

class strict : public testing::Test {
protected:
  static nth_options chosen() {
    nth_options result = options(1);
    result.stack_strict = 1;
    return result;
  }
  const watchdog guard;
  const runtime up{chosen()};
};

TEST_F(strict, refuses_roots_without_a_proved_need) {
  EXPECT_EQ(nth_run(loose_root, 0), NTH_EINVAL);
  EXPECT_THAT_NAMES(nth_last_error(), "loose_root");
  EXPECT_THAT_NAMES(nth_last_error(), "it calls what nobody knows");
  EXPECT_THAT_NAMES(nth_last_error(), "NTH_STACK_STRICT");
  EXPECT_EQ(nth_run(guarded_root, 0), NTH_EINVAL);
  EXPECT_THAT_NAMES(nth_last_error(), "guarded_root");
  const auto absent = [] {};
  EXPECT_EQ(nth_run(+absent, 0), NTH_EINVAL);
  EXPECT_THAT_NAMES(nth_last_error(), "not in the table");
}

TEST(stricter, refuses_roots_whose_need_is_assumed) {
  const watchdog guard;
  for (const long how : {1L, 2L}) {
    nth_options chosen = options(1);
    chosen.stack_strict = how;
    const runtime up(chosen);
    EXPECT_EQ(nth_run(assumed_root, 0), how == 2 ? NTH_EINVAL : NTH_OK) << how;
    if (how == 2) {
      EXPECT_THAT_NAMES(nth_last_error(), "assumed_root");
      EXPECT_THAT_NAMES(nth_last_error(), "is assumed: it calls what nobody knows");
    }
    EXPECT_EQ(nth_run(
                  large_root, 1, +[] {}),
              NTH_OK)
        << nth_last_error();
  }
}

void create_refused() {
  const reports told;
  errno = 0;
  EXPECT_EQ(nth_create_ls(loose_root, 0, nullptr, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(nth_create_ls(loose_root, 0, nullptr, 3, 1L, 2L, 3L), nullptr);
  EXPECT_EQ(nth_create(guarded_root, 0, 0, 0), nullptr);
  EXPECT_EQ(reports::count(), 3);
  EXPECT_THAT_NAMES(reports::messages(), "loose_root");
  EXPECT_THAT_NAMES(reports::messages(), "guarded_root");
  nth_desc *last = nullptr;
  nth_desc *one = nth_batch_get_desc(&last, 1);
  nth_batch_create_ls(one, loose_root, 0, nullptr, 0);
  EXPECT_EQ(reports::count(), 4) << "of a batch";
  std::size_t size = 0;
  nth_depadd(nth_self(), 2);
  nth_batch_create_ls(one, reinterpret_cast<void (*)()>(small_root), 0, nth_self(), 2, tell_size, &size);
  nth_batch_to_lrq(0, one, last);
  nth_block();
  EXPECT_EQ(static_cast<long>(size), size_for(1700));
}

TEST_F(strict, refuses_their_creation) {
  EXPECT_EQ(nth_run(large_root, 1, create_refused), NTH_OK) << nth_last_error();
}

TEST_F(strict, lets_loops_of_the_library_run) {
  long sum = 0;
  EXPECT_EQ(nth_parallel_for(
                0, 10, [](long begin, long end, void *to) { *static_cast<long *>(to) += end - begin; }, &sum,
                NTH_SCHEDULE_AUTO, 10),
            NTH_OK)
      << nth_last_error();
  EXPECT_EQ(sum, 10);
}

// ---- The default class ----

TEST(the_default_class, has_room_for_each_callee_or_is_refused) {
  const watchdog guard;
  nth_options chosen = options(1);
  chosen.stack_size = 16 << 10; // stub_walk needs 19000 bytes
  EXPECT_EQ(nth_init(&chosen), NTH_EINVAL);
  EXPECT_THAT_NAMES(nth_last_error(), "walk");
  EXPECT_THAT_NAMES(nth_last_error(), "19000");
  EXPECT_THAT_NAMES(nth_last_error(), "NTH_STACK_SIZE");
  EXPECT_THAT_NAMES(nth_last_error(), "32768");
  chosen.stack_size = 32 << 10;
  const runtime up(chosen);
  EXPECT_EQ(stats_now().counters.stack_bytes, 32 << 10);
}

TEST(statistics, name_the_segments) {
  const watchdog guard;
  const runtime up(1);
  descent d{};
  run([&] { down(100'000, &d); });
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  nth_write_stats(ends[1]);
  close(ends[1]);
  std::string text(8192, ' ');
  const ssize_t got = read(ends[0], text.data(), text.size());
  close(ends[0]);
  ASSERT_GT(got, 0);
  const nth_stats s = stats_now();
  EXPECT_GT(s.segments_switched, 10);
  EXPECT_THAT_NAMES(text, ("\"segments_switched\": " + std::to_string(s.segments_switched)));
  EXPECT_THAT_NAMES(text, ("\"segments_most\": " + std::to_string(s.segments_most)));
}

} // namespace
