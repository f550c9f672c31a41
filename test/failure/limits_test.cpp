// Under limits on memory that the kernel enforces (setrlimit), in a process of its own each: nth_init works
// with a smaller area or says why not, and creating threads without end ends in NULL.
#include "refusals.hpp"

#include <cerrno>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nth::test;

namespace {

constexpr long mib = 1L << 20;

enum result {
  works = 0,
  refused = 1,
  wrong_status = 2,
  no_message = 3,
  wrong_count = 4,
  not_null = 5,
  no_limit = 6
};

struct limit {
  const char *name;
  decltype(RLIMIT_AS) which; // glibc: an enumeration in C++
};
constexpr limit limits[] = {{"address_space", RLIMIT_AS}, {"data", RLIMIT_DATA}};

constexpr long most_threads = 3'000'000; // more than any of the limits leaves room for, where one must be met
nth_desc *threads[most_threads];
std::atomic<long> ran;

// Makes threads until there is no memory, or `most`; then runs them.
void create_many(long most, long *made) {
  nth_desc *const self = nth_self();
  const auto root = +[] { ran.fetch_add(1, std::memory_order_relaxed); };
  long n = 0;
  while (n < most && (threads[n] = nth_create_ls(root, 0, self, 0)) != nullptr)
    ++n;
  nth_depadd(self, n + 1);
  for (long i = 0; i < n; ++i)
    nth_to_lrq_end(static_cast<int>(i % kthreads), threads[i]);
  *made = n;
  nth_block();
}

int live_under(limit what, long bytes, nth_policy policy, bool must_end, long *area) {
  const nth_options o = options(2, policy);
  const rlimit wanted{static_cast<rlim_t>(bytes), static_cast<rlim_t>(bytes)};
  if (setrlimit(what.which, &wanted) != 0)
    return no_limit;
  const nth_status status = nth_init(&o);
  if (status != NTH_OK) {
    if (status != NTH_ENOMEM && status != NTH_ESYS)
      return wrong_status;
    return std::strncmp(nth_last_error(), "nth_init: ", 10) == 0 ? refused : no_message;
  }
  nth_counters c;
  if (nth_get_counters(&c) != NTH_OK)
    return wrong_status;
  *area = c.reserved_bytes / mib;
  long made = 0;
  const nth_status run = nth_run(create_many, 2, must_end ? most_threads : 100'000, &made);
  if (run == NTH_ENOMEM) // not even one thread
    return nth_finalize() == NTH_OK ? works : wrong_status;
  if (run != NTH_OK || ran != made)
    return wrong_count;
  if (must_end && made == most_threads)
    return not_null;
  return nth_finalize() == NTH_OK ? works : wrong_status;
}

// In a child: -1 when it did not end by itself.
int in_child(limit what, long bytes, nth_policy policy, bool must_end, long *area) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    long size = 0;
    const int code = live_under(what, bytes, policy, must_end, &size);
    if (write(ends[1], &size, sizeof size) != sizeof size)
      _exit(99);
    _exit(code);
  }
  close(ends[1]);
  if (read(ends[0], area, sizeof *area) != sizeof *area)
    *area = -1;
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class limited : public testing::TestWithParam<nth_policy> {
protected:
  void SetUp() override {
#if defined(NTH_ASAN) || defined(NTH_TSAN)
    GTEST_SKIP() << "a sanitizer needs more address space than any such limit leaves";
#endif
  }
};

TEST_P(limited, address_space) {
  const long used = status_line("VmSize") / 1024;
  for (const long size : {128L, 512L, 1023L}) {
    long area = 0;
    EXPECT_EQ(in_child(limits[0], (used + size) * mib, GetParam(), false, &area), refused) << size << " MiB";
  }
  // Around the smallest area, where little is left for all else.
  long worked = 0;
  for (long size = 1024; size < 1024 + 64; size += 3) {
    long area = 0;
    const int found = in_child(limits[0], (used + size) * mib, GetParam(), false, &area);
    EXPECT_TRUE(found == works || found == refused) << size << " MiB: " << found;
    worked += found == works;
  }
  EXPECT_GT(worked, 0);
  for (const long size : {1200L, 5000L, 100'000L}) {
    long area = 0;
    EXPECT_EQ(in_child(limits[0], (used + size) * mib, GetParam(), size == 1200, &area), works)
        << size << " MiB";
    EXPECT_LE(area, size);
    EXPECT_GT(area, size / 4) << "a smaller area than would have done";
  }
}

TEST_P(limited, data) {
  const long used = status_line("VmData") / 1024;
  long worked = 0;
  for (const long size : {1L, 2L, 3L, 4L, 6L, 8L, 12L, 16L, 24L, 32L, 64L, 128L, 256L}) {
    long area = 0;
    const int found = in_child(limits[1], (used + size) * mib, GetParam(), size <= 64, &area);
    EXPECT_TRUE(found == works || found == refused) << size << " MiB: " << found;
    worked += found == works;
    if (size >= 64) {
      EXPECT_EQ(found, works) << size << " MiB";
    }
  }
  std::printf("%s: %ld of 13 limits on data leave room for a run\n", name_of(GetParam()), worked);
}

INSTANTIATE_TEST_SUITE_P(policies, limited, testing::ValuesIn(all_policies),
                         [](const auto &one) { return name_of(one.param); });

} // namespace
