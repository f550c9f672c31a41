// Memory that keeps its address while the kernel refuses: each call that a program makes of it refused in turn, once and
// from then on. An allocation answers a block or an error; what was there stays, and afterwards all is as before.
#include "refusals.hpp"

#include "nth/iso.h"

#include <cerrno>
#include <cstdint>
#include <tuple>
#include <vector>

using namespace nth::test;
namespace os = nth::detail::os;

namespace {

struct tally {
  std::atomic<long> got = 0;
  std::atomic<long> refused = 0;
};
struct outcome {
  long got;
  long refused;
};

// A block that was asked for, or the error that says why not.
void *judged(void *block, tally &t) {
  if (block != nullptr) {
    ++t.got;
    return block;
  }
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(std::strncmp(nth_last_error(), "nth_iso", 7), 0) << nth_last_error();
  ++t.refused;
  return nullptr;
}

// Blocks of all sorts, which are written to and freed.
void use_blocks(tally &t, unsigned rounds) {
  constexpr std::size_t sizes[] = {16, 3000, 29'000, 40'000, 300'000};
  for (unsigned round = 0; round < rounds; ++round) {
    std::vector<std::pair<unsigned char *, std::size_t>> all;
    for (const std::size_t size : sizes)
      if (void *block = judged(nth_isomalloc(size), t)) {
        std::memset(block, 0x5a, size);
        all.emplace_back(static_cast<unsigned char *>(block), size);
      }
    for (auto &[block, size] : all) {
      if (void *larger = judged(nth_isorealloc(block, size * 3), t)) {
        block = static_cast<unsigned char *>(larger);
        size *= 3;
      }
      EXPECT_EQ(block[0], 0x5a);
      EXPECT_EQ(block[size / 3 - 1], 0x5a);
      std::memset(block, 0x5a, size);
    }
    if (void *aligned = judged(nth_isoaligned_alloc(1 << 20, 100), t)) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned) % (1 << 20), 0U);
      nth_isofree(aligned);
    }
    for (const auto &[block, size] : all) {
      EXPECT_EQ(block[size - 1], 0x5a);
      nth_isofree(block);
    }
  }
}

// Threads, and a kernel thread outside. The first have what they need to begin.
outcome run_program() {
  tally t;
  run([&] {
    auto one = [&t] {
      use_blocks(t, 1);
      nth_yield();
      use_blocks(t, 1);
    };
    // Their descriptors may be refused too.
    using body = decltype(one);
    std::vector<nth_desc *> threads;
    for (int i = 0; i < 4; ++i)
      if (nth_desc *thread = nth_create_ls(&call<body>, 0, nth_self(), 1, &one))
        threads.push_back(thread);
    nth_depadd(nth_self(), static_cast<long>(threads.size()) + 1);
    for (nth_desc *thread : threads)
      nth_to_lrq_end(0, thread);
    nth_block();
  });
  use_blocks(t, 1);
  return {t.got.load(), t.refused.load()};
}

// The rank's own heap keeps some, for whoever comes next.
constexpr long most_of_rank = 4;

class iso_memory : public testing::TestWithParam<std::tuple<kind_of_call, nth_policy>> {
protected:
  void SetUp() override { os::fail_never(); }
  void TearDown() override { os::fail_never(); }
  const watchdog guard{120};
};

TEST_P(iso_memory, every_refusal_is_an_error_and_leaves_all_as_it_was) {
  const auto [kind, policy] = GetParam();
  nth_options o = options(2, policy);
  o.iso_size = 1L << 34;
  long calls = 0;
  {
    const runtime up(o);
    expect_right_run(100);
    const long before = os::calls_made(kind.kind);
    const outcome t = run_program();
    calls = os::calls_made(kind.kind) - before;
    EXPECT_EQ(t.refused, 0);
    EXPECT_GT(t.got, 0);
  }
  long refused = 0;
  for (long call = 1; call <= calls; ++call)
    for (const bool sticky : {false, true}) {
      SCOPED_TRACE(std::string(kind.name) + ", call " + std::to_string(call) +
                   (sticky ? " and all after it" : ""));
      const runtime up(o);
      expect_right_run(100);
      {
        const reports told;
        const refusal plan(kind.kind, call, sticky);
        refused += run_program().refused;
        EXPECT_EQ(told.count(), 0) << "the error handler is for misuse: " << told.messages();
      }
      const outcome after = run_program();
      EXPECT_EQ(after.refused, 0) << nth_last_error();
      nth_iso_stats s = {};
      spin_until([&] { return nth_get_iso_stats(&s) == NTH_OK && s.slots_taken <= most_of_rank; });
      wait_for_ends();
    }
  std::printf("%s: %ld calls, %ld allocations refused\n", kind.name, calls, refused);
  if (calls > 0) {
    EXPECT_GT(refused, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(calls, iso_memory,
                         testing::Combine(testing::Values(all_kinds[0], all_kinds[1], all_kinds[4]),
                                          testing::ValuesIn(all_policies)),
                         [](const auto &one) {
                           return std::string(std::get<0>(one.param).name) + "_" +
                                  name_of(std::get<1>(one.param));
                         });

// A heap is kept in descriptors' memory: none of it, no heap, and the slot goes back.
class iso_descriptors : public refused_memory {};

TEST_P(iso_descriptors, that_are_missing_refuse_the_first_block) {
  const runtime up(small(1));
  run([] {
    EXPECT_NE(nth_isomalloc(10), nullptr); // the slots are open, and have memory for more
    auto body = [] {
      nth_iso_stats before = {};
      EXPECT_EQ(nth_get_iso_stats(&before), NTH_OK);
      refuse_commits();
      std::vector<nth_desc *> held;
      std::atomic<long> ran = 0;
      const auto count = +[](std::atomic<long> *sum) { ++*sum; };
      while (nth_desc *thread = nth_create_ls(count, 0, nth_self(), 1, &ran))
        held.push_back(thread);
      for (int i = 0; i < 100; ++i) {
        errno = 0;
        EXPECT_EQ(nth_isomalloc(10), nullptr);
        EXPECT_EQ(errno, ENOMEM);
      }
      nth_iso_stats after = {};
      EXPECT_EQ(nth_get_iso_stats(&after), NTH_OK);
      EXPECT_EQ(after.slots_taken, before.slots_taken);
      os::fail_never();
      nth_depadd(nth_self(), static_cast<long>(held.size()) + 1);
      for (nth_desc *thread : held)
        nth_to_lrq(0, thread);
      nth_block();
      EXPECT_EQ(ran, static_cast<long>(held.size()));
      EXPECT_NE(nth_isomalloc(10), nullptr) << nth_last_error();
    };
    nth_depadd(nth_self(), 2);
    nth_to_lrq(0, create(body, nth_self()));
    nth_block();
  });
  wait_for_ends();
}

INSTANTIATE_TEST_SUITE_P(policies, iso_descriptors, testing::ValuesIn(all_policies),
                         [](const auto &one) { return name_of(one.param); });

} // namespace
