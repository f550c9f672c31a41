// A walk over a thread's stack ends at nth's entry: when it starts, after it has been suspended, and from
// below other frames of nth. The program exports its symbols, so that dladdr names its functions.
#include "../support/runtime.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <string>
#include <vector>

using namespace nth::test;

extern "C" [[gnu::noinline]] void backtrace_test_leaf(std::vector<void *> *frames) {
  frames->resize(256);
  frames->resize(static_cast<size_t>(backtrace(frames->data(), 256)));
  asm volatile("" ::: "memory");
}

extern "C" [[gnu::noinline]] void backtrace_test_level(int depth, std::vector<void *> *frames) {
  if (depth == 0)
    backtrace_test_leaf(frames);
  else
    backtrace_test_level(depth - 1, frames);
  asm volatile("" ::: "memory");
}

extern "C" [[gnu::noinline]] void backtrace_test_root(int depth, int how, std::vector<void *> *frames) {
  if (how == 1) {
    nth_yield();
  } else if (how == 2) {
    nth_depadd(nth_self(), 2);
    nth_to_lrq_end(kthreads - 1, nth_create_ls(
                                     +[] {}, 0, nth_self(), 0));
    nth_block();
  }
  backtrace_test_level(depth, frames);
  asm volatile("" ::: "memory");
}

namespace {

std::string symbol_at(void *address) {
  Dl_info found = {};
  return dladdr(address, &found) != 0 && found.dli_sname != nullptr ? found.dli_sname : "";
}
std::string object_at(void *address) {
  Dl_info found = {};
  return dladdr(address, &found) != 0 && found.dli_fname != nullptr ? found.dli_fname : "";
}

class walk : public testing::TestWithParam<nth_policy> {};

// The frames of nth below a root: a handful.
constexpr size_t most_frames_of_nth = 6;

void check(const std::vector<void *> &frames, int depth) {
  ASSERT_LT(frames.size(), 256u) << "the walk does not end";
  ASSERT_GE(frames.size(), static_cast<size_t>(depth) + 3);
  EXPECT_EQ(symbol_at(frames[0]), "backtrace_test_leaf");
  for (size_t i = 1; i <= static_cast<size_t>(depth) + 1; ++i)
    EXPECT_EQ(symbol_at(frames[i]), "backtrace_test_level") << "frame " << i;
  const size_t root = static_cast<size_t>(depth) + 2;
  EXPECT_EQ(symbol_at(frames[root]), "backtrace_test_root");
  EXPECT_LE(frames.size() - root - 1, most_frames_of_nth);
  for (size_t i = root + 1; i < frames.size(); ++i) {
    const std::string object = object_at(frames[i]);
    EXPECT_NE(object, "") << "frame " << i << " lies in no object";
    EXPECT_EQ(object.find("libc.so"), std::string::npos) << "frame " << i << " is below nth's entry";
  }
}

TEST_P(walk, ends_cleanly) {
  const watchdog guard;
  std::vector<void *> warm;
  backtrace_test_leaf(&warm); // loads what backtrace() needs, outside of small stacks
  for (const int workers : {1, 2}) {
    const runtime up(workers, GetParam());
    for (const int how : {0, 1, 2})
      for (const int depth : {0, 1, 50}) {
        SCOPED_TRACE(testing::Message() << workers << " workers, suspension " << how << ", depth " << depth);
        std::vector<void *> frames;
        EXPECT_EQ(nth_run(backtrace_test_root, 3, depth, how, &frames), NTH_OK);
        check(frames, depth);
      }
  }
}

// A thread that runs on the stack on which others ran and blocked before.
TEST_P(walk, ends_cleanly_among_many) {
  const watchdog guard;
  std::vector<void *> warm;
  backtrace_test_leaf(&warm);
  const runtime up(2, GetParam());
  constexpr int width = 100;
  std::vector<std::vector<void *>> frames(width);
  run([&] {
    nth_depadd(nth_self(), width + 1);
    for (int i = 0; i < width; ++i)
      nth_to_lrq_end(i % 2, nth_create_ls(backtrace_test_root, 0, nth_self(), 3, i % 7, i % 3,
                                          &frames[static_cast<size_t>(i)]));
    nth_block();
  });
  for (int i = 0; i < width; ++i)
    check(frames[static_cast<size_t>(i)], i % 7);
}

INSTANTIATE_TEST_SUITE_P(policies, walk, testing::ValuesIn(all_policies),
                         [](const auto &test) { return name_of(test.param); });

} // namespace
