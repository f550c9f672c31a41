// The ring of closed blocks under interleavings chosen by seed: one owner that pushes, pops and grows, two or
// three thieves, every atomic operation a place where another one may go on. Sequentially consistent: what
// the processor may reorder is not modelled, only the order of steps.
//
// The model is the list of items that are left. An item leaves it in the same step in which the operation
// that returns it takes effect, for no other virtual thread runs between an operation's last step and its
// return; so pop must give the youngest and steal the oldest that is left at that moment.
//
// The same harness runs over copies of the ring with one fault each (mutants.py), and must find all of them.
#include "interleaving.hpp"
#include "thread/block_ring.hpp"

#include "../support/size.hpp"
#include "block_ring_mutants.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace nth::test {
namespace {

// An atomic word whose every operation is a step. Trivial, as the ring lays it into raw memory.
template <class T>
struct stepping {
  T value;

  T load(std::memory_order) const {
    interleaving::step();
    return value;
  }
  void store(T desired, std::memory_order) {
    interleaving::step();
    value = desired;
  }
  bool compare_exchange_strong(T &expected, T desired, std::memory_order, std::memory_order) {
    interleaving::step();
    if (value == expected) {
      value = desired;
      return true;
    }
    expected = value;
    return false;
  }
};

constexpr int most_items = 64;

struct item {
  int number;
};

template <template <class, template <class> class> class Ring>
class world {
public:
  using ring = Ring<item, stepping>;

  explicit world(std::uint64_t seed) : script(seed * 2 + 1), all(seed) {
    for (int i = 0; i < most_items; ++i)
      items[i].number = i;
  }

  std::string run() {
    const int thieves = 2 + script.below(2);
    const int operations = 8 + script.below(24);
    const int pushes_of_8 = 3 + script.below(4);
    all.add([this, operations, pushes_of_8] { own(operations, pushes_of_8); });
    for (int i = 0; i < thieves; ++i) {
      const int tries = 1 + script.below(operations);
      all.add([this, tries] {
        for (int n = 0; n < tries; ++n)
          steal();
      });
    }
    all.run();
    if (all.failed())
      return all.what();
    all_over();
    return verdict;
  }

private:
  // ---- The owner ----

  void own(int operations, int pushes_of_8) {
    for (int n = 0; n < operations; ++n) {
      if (script.below(8) < pushes_of_8 && made < most_items)
        push();
      else
        pop();
      if (const item *seen = target.peek(); seen != nullptr && (seen < items || seen >= items + made))
        interleaving::fail("peek gives what was never pushed");
    }
    // What the thieves leave: after this the ring is empty, whoever takes the rest.
    while (pop())
      continue;
  }
  void push() {
    item *fresh = &items[made];
    while (!target.push(fresh))
      grow();
    left[end++] = made++; // the step that published it was the operation's last
  }
  void grow() {
    const std::int64_t capacity = target.capacity() == 0 ? 2 : target.capacity() * 2;
    if (capacity > 64)
      interleaving::fail("the ring is full, but fewer items were pushed than it holds");
    void *memory = memories[grown];
    std::memset(memory, 0, sizeof memories[grown]);
    ++grown;
    target.grow(memory, capacity);
  }
  bool pop() {
    popping = true;
    const item *got = target.pop();
    popping = false;
    pop_ended = ++clock;
    if (got == nullptr) {
      if (begin != end)
        interleaving::fail("pop found nothing while " + std::to_string(end - begin) + " items were left");
      return false;
    }
    const int number = number_of(got);
    if (begin == end || left[end - 1] != number)
      interleaving::fail(wrong("pop", number, begin == end ? -1 : left[end - 1]));
    --end;
    return true;
  }

  // ---- A thief ----

  void steal() {
    const long started = ++clock;
    const bool was_empty = begin == end;
    const bool pop_runs = popping;
    const item *got = target.steal();
    if (got == nullptr) {
      // Nothing, only for a reason: nothing there at some time, another one faster, or the owner at it.
      if (!was_empty && begin != end && !pop_runs && !popping && pop_ended < started && stolen_at < started)
        interleaving::fail("steal found nothing, but something was left all the time");
      return;
    }
    const int number = number_of(got);
    if (begin == end || left[begin] != number)
      interleaving::fail(wrong("steal", number, begin == end ? -1 : left[begin]));
    ++begin;
    stolen_at = ++clock;
  }

  // ---- Checks ----

  int number_of(const item *got) {
    if (got < items || got >= items + made)
      interleaving::fail("what was taken was never pushed");
    if (++taken[got->number] > 1)
      interleaving::fail("item " + std::to_string(got->number) + " was taken twice");
    return got->number;
  }
  static std::string wrong(const char *call, int got, int expected) {
    return std::string(call) + " gave item " + std::to_string(got) + " in place of " +
           std::to_string(expected);
  }
  void all_over() {
    for (int i = 0; i < made && verdict.empty(); ++i)
      if (taken[i] != 1)
        verdict = "item " + std::to_string(i) + " was lost";
  }

  random_numbers script; // what is done; `all` decides in which order
  interleaving all;
  ring target;
  alignas(64) char memories[6][ring::array_bytes(64)];
  int grown = 0;
  item items[most_items];
  int made = 0;
  std::array<int, most_items> taken = {};
  // Left: left[begin] … left[end - 1], oldest first.
  std::array<int, most_items> left = {};
  int begin = 0;
  int end = 0;
  long clock = 0;
  long pop_ended = 0;
  bool popping = false;
  long stolen_at = 0;
  std::string verdict;
};

template <template <class, template <class> class> class Ring>
std::string one_interleaving(std::uint64_t seed) {
  static world<Ring> *one = nullptr; // too large for the stack
  delete one;
  one = new world<Ring>(seed);
  std::string text = one->run();
  delete one;
  one = nullptr;
  return text;
}

// NTH_TEST_SEED in the environment: that one alone.
std::uint64_t first_seed() {
  const char *text = std::getenv("NTH_TEST_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

TEST(block_ring, every_item_is_taken_once_and_in_order) {
  const long count = std::getenv("NTH_TEST_SEED") != nullptr ? 1 : pick_size(4000, 60'000, 2'000'000);
  std::string what;
  first_failure(one_interleaving<detail::block_ring>, first_seed(), count, what);
  EXPECT_EQ(what, "") << "again with NTH_TEST_SEED=<seed>";
}

// That the harness can fail.
#define FINDS(fault)                                                                                         \
  TEST(block_ring_with_a_fault, fault) {                                                                     \
    std::string what;                                                                                        \
    const long seeds = first_failure(one_interleaving<mutant::fault::block_ring>, 1, 60'000, what);          \
    EXPECT_NE(seeds, 0) << "a ring with this fault passes";                                                  \
    std::printf("found after %ld seeds: %s\n", seeds, what.c_str());                                         \
  }
NTH_MUTANTS(FINDS)

} // namespace
} // namespace nth::test
