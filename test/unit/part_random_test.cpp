// The memory of one home, by chance against a model, and with calls to the kernel refused.
#include "../support/size.hpp"
#include "part_objects.hpp"

#include <algorithm>
#include <random>
#include <set>

namespace {

using namespace nth::test;

// What each object of a part must be.
enum class use : unsigned char { never, used, kept, lost };

class models : public parts {
protected:
  void begin(std::size_t size, std::size_t bytes) {
    make(size, bytes);
    state.clear();
    times.clear();
    released.clear();
  }

  void take(std::size_t count) {
    std::size_t got = 0;
    content holds{};
    const char *first = carve(count, got, holds);
    if (first == nullptr) {
      ASSERT_TRUE(released.empty());
      return;
    }
    const std::size_t from = index(first);
    ASSERT_GE(got, 1U);
    ASSERT_LE(got, count);
    ASSERT_EQ(from, released.empty() ? state.size() : *released.begin());
    for (std::size_t i = from; i < from + got; ++i)
      take_one(i, holds);
  }

  void give_one(std::size_t i) {
    ASSERT_EQ(state[i], use::used);
    ASSERT_TRUE(holds_pattern(i, times[i])) << "in use, and changed by others";
    give(i);
    state[i] = use::kept;
    released.insert(i);
    const std::size_t first = i / mates() * mates();
    const auto begins = state.begin() + static_cast<std::ptrdiff_t>(first);
    if (first + mates() <= state.size() && std::none_of(begins, begins + static_cast<std::ptrdiff_t>(mates()),
                                                        [](use u) { return u == use::used; }))
      std::fill_n(begins, mates(), use::lost);
  }

  void check() {
    std::set<std::size_t> seen;
    own->for_each([&](std::uintptr_t address) { seen.insert(index(reinterpret_cast<void *>(address))); });
    ASSERT_EQ(seen.size() + released.size(), state.size());
    for (const std::size_t i : seen) {
      ASSERT_EQ(state[i], use::used);
      ASSERT_TRUE(holds_pattern(i, times[i]));
    }
    ASSERT_EQ(own->carved(), seen.size() * object);
    ASSERT_EQ(own->prefix(), state.size() * object);
  }

  std::vector<use> state;
  std::vector<int> times; // how often each was carved
  std::set<std::size_t> released;

private:
  void take_one(std::size_t i, content holds) {
    if (i == state.size()) {
      ASSERT_EQ(holds, content::fresh) << i;
      ASSERT_TRUE(holds_zeros(i));
      state.push_back(use::used);
      times.push_back(1);
    } else {
      ASSERT_EQ(released.erase(i), 1U) << "given twice";
      ASSERT_EQ(holds, state[i] == use::lost ? content::cleared : content::kept) << i;
      ASSERT_TRUE(holds == content::cleared ? holds_zeros(i) : holds_pattern(i, times[i]));
      state[i] = use::used;
      ++times[i];
    }
    fill(i, times[i]);
  }
};

TEST_F(models, say_the_same_as_a_part) {
  const long steps = pick_size(1'000, 4'000, 40'000);
  for (const std::size_t size : sizes) {
    const std::size_t most = size >= 4096 ? 100 : 400;
    for (std::uint32_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(testing::Message() << size << " bytes, seed " << seed);
      begin(size, std::size_t{64} << 20);
      std::mt19937 random(seed);
      std::vector<std::size_t> in_use;
      auto favour = std::uint_fast32_t{50};
      for (long step = 0; step < steps; ++step) {
        if (step % 200 == 0)
          favour = random() % 101;
        if (random() % 100 < favour && in_use.size() < most) {
          take(1 + random() % (random() % 4 == 0 ? 70 : 3));
        } else if (!in_use.empty()) {
          std::swap(in_use[random() % in_use.size()], in_use.back());
          give_one(in_use.back());
        }
        if (HasFatalFailure())
          return;
        in_use.clear();
        for (std::size_t i = 0; i < state.size(); ++i) {
          if (state[i] == use::used)
            in_use.push_back(i);
        }
        if (step % 50 == 0)
          check();
        if (HasFatalFailure())
          return;
      }
    }
  }
}

// ---- No memory -----------------------------------------------------------------------------------------------

// The n-th call that needs memory is refused, alone or with all after it, for each n: what was carved stays,
// nothing is given twice or skipped, and what is asked for again is there when the kernel agrees.
TEST_F(models, stay_right_whichever_call_is_refused) {
  const auto grow = [&](std::size_t size, std::size_t count, std::size_t step, long &refused) {
    std::size_t next = own->prefix() / size;
    while (next < count) {
      std::size_t got = 0;
      content holds{};
      const char *first = carve(std::min(step, count - next), got, holds);
      if (first == nullptr) {
        ++refused;
        EXPECT_EQ(own->prefix(), next * size) << "nothing has changed";
        EXPECT_FALSE(own->full(size)) << "refused is not full";
        EXPECT_LE(refused, 3) << "one call was to be refused";
        os::fail_never();
        if (refused > 3)
          return;
        continue;
      }
      EXPECT_EQ(first, at(next));
      EXPECT_EQ(holds, content::fresh);
      EXPECT_GE(got, 1U);
      *at(next) = 1; // it can be written
      *(at(next + got) - 1) = 1;
      next += got;
      if (got == 1)
        os::fail_never(); // singly: near a limit on memory
    }
  };
  for (const std::size_t size : {std::size_t{64}, std::size_t{65536}}) {
    const std::size_t count = size == 64 ? 48'000 : 3000; // several commits, of the map or of the objects
    const std::size_t step = size == 64 ? 4000 : 500;
    make(size, std::size_t{512} << 20);
    long none = 0;
    const long before = os::calls_made(os::fail_kind::commit);
    grow(size, count, step, none);
    const long calls = os::calls_made(os::fail_kind::commit) - before;
    EXPECT_EQ(none, 0);
    ASSERT_GE(calls, 2) << "this test shows nothing";
    for (long n = 1; n <= calls; ++n) {
      for (const bool sticky : {false, true}) {
        SCOPED_TRACE(testing::Message() << size << " bytes, call " << n << (sticky ? " and all later" : ""));
        make(size, std::size_t{512} << 20);
        os::fail_after(os::fail_kind::commit, n, sticky);
        long refused = 0;
        grow(size, count, step, refused);
        os::fail_never();
        EXPECT_LE(refused, 1);
        EXPECT_EQ(own->carved(), count * size);
        // Each can be given back: that needs no memory.
        os::fail_after(os::fail_kind::commit, 1, true);
        const long tries = os::calls_made(os::fail_kind::commit);
        for (std::size_t i = 0; i < count; ++i)
          give(i);
        EXPECT_EQ(own->carved(), 0U);
        EXPECT_EQ(carve_one(), 0U) << "nor does what was carved before";
        EXPECT_EQ(os::calls_made(os::fail_kind::commit), tries);
        os::fail_never();
      }
    }
  }
}

} // namespace
