// A hundred thousand blocked threads (a million with NTH_TEST_SIZE=full) on stacks of the default size: what
// they hold of memory and of the kernel's tables, and that all of it is used again.
#include "../support/runtime.hpp"
#include "../support/size.hpp"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <vector>

using namespace nth::test;

namespace {

#if defined(NTH_ASAN) || defined(NTH_TSAN)
constexpr bool memory_is_ours = false; // shadow memory, fibers
#else
constexpr bool memory_is_ours = true;
#endif

long resident_bytes() {
  std::FILE *file = std::fopen("/proc/self/status", "r");
  char line[256];
  long kilobytes = 0;
  while (std::fgets(line, sizeof line, file) != nullptr)
    if (std::strncmp(line, "VmRSS:", 6) == 0)
      std::sscanf(line + 6, "%ld", &kilobytes);
  std::fclose(file);
  return kilobytes * 1024;
}
long mappings() {
  std::FILE *file = std::fopen("/proc/self/maps", "r");
  long lines = 0;
  for (int c = 0; (c = std::fgetc(file)) != EOF;)
    lines += c == '\n';
  std::fclose(file);
  return lines;
}

// A page of stack, a descriptor, its place in a block, and 8 bytes for all else.
constexpr double bytes_allowed = 4096 + 64 + 8 + 8;
// Once for all threads: the first huge page of a part, code that runs for the first time; and each worker has
// blocks and lists of its own, which may lie in a huge page of their own.
double bytes_once(int workers) { return (1 + workers) * double{2 << 20}; }

class million : public testing::TestWithParam<int> {};

TEST_P(million, blocked_threads_hold_a_page_each_and_leave_it_for_the_next) {
  const watchdog guard(300);
  const long count = pick_size(2000, 100'000, 1'000'000);
  nth_options chosen = options(GetParam());
  chosen.stacks_global = chosen.descriptors_global =
      count + 10'000; // what is idle between the rounds is kept
  const runtime up(chosen);
  std::vector<nth_handle_t> handles(static_cast<std::size_t>(count));
  std::atomic<long> blocked = 0;
  std::atomic<long> woken = 0;
  auto waits = [&] {
    blocked.fetch_add(1, std::memory_order_relaxed);
    nth_block();
    woken.fetch_add(1, std::memory_order_relaxed);
  };
  nth_counters after_first = {};
  for (int round = 0; round < 2; ++round) {
    const long resident = resident_bytes();
    const long maps = mappings();
    blocked = woken = 0;
    run([&] {
      for (long i = 0; i < count; ++i) {
        nth_desc *thread = create(waits);
        handles[static_cast<std::size_t>(i)] = nth_handle(thread);
        nth_to_lrq_end(static_cast<int>(i % kthreads), thread);
        if (i % 100 == 99)
          nth_yield();
      }
      while (blocked < count)
        nth_yield();
    });
    const nth_counters full = counters();
    const double each = static_cast<double>(resident_bytes() - resident) / static_cast<double>(count);
    std::printf("%d workers, round %d: %ld threads, %.0f bytes each; %ld stacks, %ld descriptors, %ld "
                "mappings more\n",
                GetParam(), round + 1, count, each, full.stacks, full.descriptors, mappings() - maps);
    EXPECT_GE(full.stacks, count);
    if (memory_is_ours && full.stacks_unguarded == 0) {
      EXPECT_LE(mappings(), 250);
      EXPECT_LE(mappings() - maps, 60);
    }
    if (round == 0) {
      // Beside one each: the workers', the creator's, and what their lists may hold unseen by others.
      EXPECT_LE(full.stacks, count + GetParam() * 66L);
      if (memory_is_ours) {
        EXPECT_LE(each, bytes_allowed + bytes_once(GetParam()) / static_cast<double>(count));
        EXPECT_GE(each, 4096) << "this test measures nothing";
      }
    } else if (memory_is_ours) {
      // But for descriptors, where the creator runs on another worker than before: they are that one's.
      EXPECT_LE(each, GetParam() == 1 ? 64 : 64 + 64 + bytes_once(GetParam()) / static_cast<double>(count))
          << "the second round's memory is the first one's";
    }
    run([&] {
      for (const nth_handle_t &one : handles) {
        if (nth_unblock(one) != NTH_OK)
          ADD_FAILURE();
      }
      while (woken < count)
        nth_yield();
    });
    nth_counters c = counters();
    while (c.descriptors != c.descriptors_free) { // those woken last have said so, and end
      sched_yield();
      c = counters();
    }
    if (round == 0) {
      after_first = c;
    } else {
      // With one worker nothing new; else no more than other workers' lists may hold. Descriptors are those
      // of the worker on which the creator runs, and that may be another one than before.
      const long lists = (GetParam() - 1) * 66L;
      EXPECT_LE(c.stacks, after_first.stacks + lists) << "stacks were not used again";
      if (GetParam() == 1) {
        EXPECT_EQ(c.descriptors, after_first.descriptors);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(workers, million, testing::Values(1, 2),
                         [](const auto &one) { return std::to_string(one.param); });

} // namespace
