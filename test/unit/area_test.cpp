// The area: which region and home an address belongs to, and how parts grow, fill and give way to others.
#include "memory/area.hpp"
#include "memory/stack.hpp"
#include "os/os.hpp"
#include "os/os_failing.hpp"
#include "thread/descriptor.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <set>

namespace nth::detail {
namespace {

constexpr std::size_t gib = std::size_t{1} << 30;

class an_area : public testing::Test {
protected:
  void SetUp() override { os::fail_never(); }
  void TearDown() override {
    os::fail_never();
    the_area.close();
  }
};

long mappings() {
  std::FILE *file = std::fopen("/proc/self/maps", "r");
  long lines = 0;
  for (int c = 0; (c = std::fgetc(file)) != EOF;)
    lines += c == '\n';
  std::fclose(file);
  return lines;
}

TEST_F(an_area, is_reserved_as_wished_or_smaller) {
  for (const std::size_t wanted : {gib, 4 * gib, 64 * gib}) {
    ASSERT_TRUE(the_area.open(wanted, 3));
    EXPECT_LE(the_area.size, wanted);
    EXPECT_GE(the_area.size, gib);
    EXPECT_EQ(the_area.size & (the_area.size - 1), 0U);
    EXPECT_EQ(the_area.base % (std::size_t{2} << 20), 0U) << "a huge page, and any stack";
    EXPECT_EQ(the_area.committed(), 0U);
    the_area.close();
    EXPECT_EQ(the_area.size, 0U);
    EXPECT_FALSE(the_area.holds(1));
  }
  the_area.close(); // twice is once
}

TEST_F(an_area, halves_while_the_kernel_refuses) {
  // At the preferred address and elsewhere; under tools that choose the address, elsewhere alone.
  const int places = os::address_is_ours_to_choose() ? 2 : 1;
  if (places == 2)
    os::fail_after(os::fail_kind::reserve, 1, false);
  ASSERT_TRUE(the_area.open(4 * gib, 2));
  EXPECT_EQ(the_area.size, 4 * gib);
  the_area.close();
  os::fail_after(os::fail_kind::reserve, places, false);
  ASSERT_TRUE(the_area.open(4 * gib, 2));
  EXPECT_GE(the_area.size, 2 * gib);
  the_area.close();
  os::fail_after(os::fail_kind::reserve, 1, true);
  const long before = os::calls_made(os::fail_kind::reserve);
  EXPECT_FALSE(the_area.open(8 * gib, 2));
  EXPECT_EQ(os::calls_made(os::fail_kind::reserve) - before, 4 * places) << "8, 4, 2 and 1 GiB";
  EXPECT_EQ(the_area.size, 0U);
}

TEST_F(an_area, address_bits_tell_region_and_home) {
  for (const int homes : {1, 2, 3, 5, 17, 64}) {
    ASSERT_TRUE(the_area.open(64 * gib, homes));
    std::uintptr_t last_end = the_area.base;
    for (unsigned r = 0; r < region_count; ++r) {
      for (int h = 0; h < homes; ++h) {
        const part &p = the_area.at(r, h);
        EXPECT_GE(p.begin(), last_end) << "parts do not overlap";
        last_end = p.begin() + (std::uintptr_t{1} << the_area.home_shift);
        for (const std::uintptr_t at : {p.begin(), p.begin() + 12345, last_end - 1}) {
          EXPECT_TRUE(the_area.holds(at));
          EXPECT_EQ(the_area.region_of(at), r);
          EXPECT_EQ(the_area.home_of(reinterpret_cast<void *>(at)), h);
        }
      }
    }
    EXPECT_LE(last_end, the_area.base + the_area.size);
    EXPECT_FALSE(the_area.holds(the_area.base - 1));
    EXPECT_FALSE(the_area.holds(the_area.base + the_area.size));
    EXPECT_FALSE(the_area.holds(0));
    the_area.close();
  }
}

TEST_F(an_area, objects_lie_one_after_the_other_and_read_as_zero) {
  ASSERT_TRUE(the_area.open(gib, 2));
  std::size_t count = 10;
  auto *first = static_cast<char *>(the_area.carve(region::descriptors, 1, 64, count));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(count, 10U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first), the_area.at(region::descriptors, 1).begin());
  static const char zeros[640] = {};
  EXPECT_EQ(std::memcmp(first, zeros, sizeof zeros), 0);
  std::memset(first, 0x55, 640);
  count = 3;
  EXPECT_EQ(the_area.carve(region::descriptors, 1, 64, count), first + 640);
  EXPECT_EQ(the_area.at(region::descriptors, 1).carved(), 13U * 64);
  EXPECT_EQ(the_area.at(region::descriptors, 0).carved(), 0U) << "the other home's";
}

TEST_F(an_area, a_full_part_sends_its_home_to_the_others) {
  constexpr int homes = 3; // of which four would fit
  ASSERT_TRUE(the_area.open(gib, homes));
  const std::size_t per_home = (std::size_t{1} << the_area.home_shift) / (std::size_t{1} << 20);
  const unsigned r = stack_region(20);
  std::set<void *> all;
  for (std::size_t i = 0; i < homes * per_home; ++i) {
    std::size_t count = 1;
    void *stack = the_area.carve(r, 1, std::size_t{1} << 20, count);
    ASSERT_NE(stack, nullptr) << i;
    EXPECT_EQ(count, 1U);
    EXPECT_TRUE(all.insert(stack).second) << "given twice";
    if (i < per_home) {
      EXPECT_EQ(the_area.home_of(stack), 1) << "its own part first";
    } else {
      EXPECT_NE(the_area.home_of(stack), 1);
    }
    *static_cast<char *>(stack) = 1;
  }
  std::size_t count = 1;
  EXPECT_EQ(the_area.carve(r, 1, std::size_t{1} << 20, count), nullptr);
  EXPECT_TRUE(the_area.at(r, 1).full(std::size_t{1} << 20));
}

TEST_F(an_area, what_is_left_of_a_part_comes_although_it_is_less) {
  ASSERT_TRUE(the_area.open(gib, 1));
  const std::size_t room = (std::size_t{1} << the_area.home_shift) / 64;
  std::size_t count = room - 3;
  ASSERT_NE(the_area.carve(region::descriptors, 0, 64, count), nullptr);
  EXPECT_EQ(count, room - 3);
  count = 64;
  ASSERT_NE(the_area.carve(region::descriptors, 0, 64, count), nullptr);
  EXPECT_EQ(count, 3U);
  count = 64;
  EXPECT_EQ(the_area.carve(region::descriptors, 0, 64, count), nullptr);
}

// No memory is not the same as full: the neighbours' memory comes from the same kernel.
TEST_F(an_area, a_refused_part_does_not_go_to_the_others) {
  ASSERT_TRUE(the_area.open(gib, 2));
  os::fail_after(os::fail_kind::commit, 1, true);
  const long before = os::calls_made(os::fail_kind::commit);
  std::size_t count = 1;
  EXPECT_EQ(the_area.carve(region::descriptors, 0, 64, count), nullptr);
  EXPECT_EQ(the_area.at(region::descriptors, 1).committed(), 0U);
  const long tries = os::calls_made(os::fail_kind::commit) - before;
  EXPECT_LE(tries, 40) << "halving, down to a page, twice";
  os::fail_never();
  count = 1;
  EXPECT_NE(the_area.carve(region::descriptors, 0, 64, count), nullptr);
}

TEST_F(an_area, smaller_commits_are_tried_where_large_ones_are_refused) {
  ASSERT_TRUE(the_area.open(64 * gib, 1));
  os::fail_after(os::fail_kind::commit, 1, false);
  std::size_t count = 64;
  ASSERT_NE(the_area.carve(region::descriptors, 0, 64, count), nullptr);
  EXPECT_EQ(count, 64U);
  EXPECT_EQ(the_area.committed(), std::size_t{32} << 20) << "half of the first step";
}

TEST_F(an_area, a_million_objects_are_tens_of_mappings) {
  ASSERT_TRUE(the_area.open(64 * gib, 2));
  const long before = mappings();
  const long commits = os::calls_made(os::fail_kind::commit);
  for (long made = 0; made < 4'000'000;) {
    std::size_t count = 64;
    auto *d = static_cast<nth_desc *>(
        the_area.carve(region::descriptors, static_cast<int>(made / 64 % 2), 64, count));
    ASSERT_NE(d, nullptr);
    made += static_cast<long>(count);
  }
  EXPECT_GE(the_area.committed(), std::size_t{4'000'000} * 64);
  EXPECT_LE(the_area.committed(), 3 * std::size_t{4'000'000} * 64) << "doubling";
  EXPECT_LE(os::calls_made(os::fail_kind::commit) - commits, 24) << "of objects and of their maps";
  EXPECT_LE(mappings() - before, 20);
}

// ---- Nodes -------------------------------------------------------------------------------------------------

TEST_F(an_area, address_bits_tell_the_node) {
  const struct {
    int nodes;
    int homes_each;
  } shapes[] = {{1, 1}, {1, 5}, {2, 1}, {2, 2}, {2, 5}, {3, 3}, {4, 8}, {8, 3}, {5, 1}};
  for (const auto &s : shapes) {
    SCOPED_TRACE(testing::Message() << s.nodes << " nodes of " << s.homes_each << " homes");
    ASSERT_TRUE(the_area.open(64 * gib, s.nodes, s.homes_each));
    EXPECT_EQ(the_area.nodes, s.nodes);
    ASSERT_GE(the_area.homes, s.nodes * s.homes_each);
    const std::size_t home_bytes = std::size_t{1} << the_area.home_shift;
    for (unsigned r = 0; r < region_count; ++r) {
      std::uintptr_t last_end = the_area.base + (std::uintptr_t{r} << the_area.region_shift);
      for (int h = 0; h < the_area.homes; ++h) {
        const std::uintptr_t begin = the_area.at(r, h).begin();
        EXPECT_EQ(begin, last_end) << "homes lie side by side";
        last_end = begin + home_bytes;
        const int node = h >> the_area.node_shift;
        ASSERT_LT(node, s.nodes);
        for (const std::uintptr_t at : {begin, begin + 4321, last_end - 1}) {
          EXPECT_EQ(the_area.region_of(at), r);
          EXPECT_EQ(the_area.home_of(reinterpret_cast<void *>(at)), h);
          EXPECT_EQ(the_area.node_of(reinterpret_cast<void *>(at)), node);
          EXPECT_GE(at, the_area.node_begin(r, node)) << "a node's homes are one range";
          EXPECT_LT(at, the_area.node_begin(r, node) + the_area.node_bytes());
        }
      }
      for (int n = 0; n < s.nodes; ++n) {
        EXPECT_GE(the_area.node_bytes(), home_bytes * static_cast<std::size_t>(s.homes_each));
        EXPECT_EQ(the_area.node_begin(r, n), the_area.at(r, n << the_area.node_shift).begin());
        if (n > 0) {
          EXPECT_EQ(the_area.node_begin(r, n), the_area.node_begin(r, n - 1) + the_area.node_bytes());
        }
        EXPECT_EQ(the_area.node_begin(r, n) % os::page_size(), 0U) << "a policy is for whole pages";
      }
      EXPECT_LE(the_area.node_begin(r, s.nodes - 1) + the_area.node_bytes(),
                the_area.base + (std::uintptr_t{r + 1} << the_area.region_shift))
          << "inside its region";
    }
    the_area.close();
  }
}

TEST_F(an_area, a_full_part_sends_its_home_to_the_neighbours_of_its_node_first) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  ASSERT_TRUE(the_area.open(gib, 2, 3)); // of which four fit on each node
  ASSERT_EQ(the_area.homes, 8);
  const std::size_t per_home = (std::size_t{1} << the_area.home_shift) / mib;
  ASSERT_GT(per_home, 0U);
  const unsigned r = stack_region(20);
  const int home = (1 << the_area.node_shift) + 2; // of node 1
  for (std::size_t i = 0; i < 8 * per_home; ++i) {
    std::size_t count = 1;
    void *stack = the_area.carve(r, home, mib, count);
    ASSERT_NE(stack, nullptr) << i;
    if (i < per_home) {
      EXPECT_EQ(the_area.home_of(stack), home) << "its own part first";
    }
    EXPECT_EQ(the_area.node_of(stack), i < 4 * per_home ? 1 : 0) << i;
  }
  std::size_t count = 1;
  EXPECT_EQ(the_area.carve(r, home, mib, count), nullptr);
  // What comes back to any of them is there for all.
  void *const last = reinterpret_cast<void *>(the_area.at(r, 1).begin());
  the_area.give_back(last, 0, nullptr);
  EXPECT_EQ(the_area.carve(r, home, mib, count), last);
}

TEST_F(an_area, counts_what_is_in_use_of_a_region) {
  ASSERT_TRUE(the_area.open(gib, 2, 2));
  const auto r = static_cast<unsigned>(region::descriptors);
  void *objects[4];
  for (int h = 0; h < 4; ++h) {
    std::size_t count = 10;
    objects[h] = the_area.carve(r, h, 64, count);
    ASSERT_EQ(count, 10U);
  }
  EXPECT_EQ(the_area.carved(r), 40U * 64);
  for (void *one : objects)
    the_area.give_back(one, 0, nullptr);
  EXPECT_EQ(the_area.carved(r), 36U * 64);
  EXPECT_EQ(the_area.carved(static_cast<unsigned>(region::blocks)), 0U);
  content holds{};
  for (int h = 0; h < 4; ++h) {
    std::size_t count = 10;
    EXPECT_EQ(the_area.carve(r, h, 64, count, holds), objects[h]) << "each home's own";
    EXPECT_EQ(holds, content::kept);
  }
}

// ---- Descriptors ------------------------------------------------------------------------------------------

TEST_F(an_area, a_descriptor_is_one_line_and_knows_its_home) {
  static_assert(sizeof(nth_desc) == 64 && alignof(nth_desc) == 64);
  static_assert(offsetof(nth_desc, next) == 0);
  static_assert(offsetof(nth_desc, root) == 8);
  static_assert(offsetof(nth_desc, succ) == 16);
  static_assert(offsetof(nth_desc, ndep) == 24);
  static_assert(offsetof(nth_desc, generation) == 28);
  static_assert(offsetof(nth_desc, state) == 30);
  static_assert(offsetof(nth_desc, flags) == 31);
  static_assert(offsetof(nth_desc, args) == 32);
  ASSERT_TRUE(the_area.open(64 * gib, 5));
  for (int h = 0; h < 5; ++h) {
    std::size_t count = 1000;
    auto *d = static_cast<nth_desc *>(the_area.carve(region::descriptors, h, sizeof(nth_desc), count));
    ASSERT_NE(d, nullptr);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(d + i) % 64, 0U);
      EXPECT_EQ(the_area.home_of(d + i), h);
      EXPECT_EQ(state_of(d + i), thread_state::free) << "fresh memory reads so";
    }
  }
}

TEST(a_descriptor, ends_its_use_by_one_store) {
  nth_desc d = {};
  d.generation = 0xffff; // which wraps, and touches no other field
  d.ndep = 0x1234'5678;
  set_state(&d, thread_state::ready_again);
  d.flags = flag_keep_fp | flag_token;
  retire(&d);
  EXPECT_EQ(d.generation, 0);
  EXPECT_EQ(state_of(&d), thread_state::free);
  EXPECT_EQ(d.flags, 0);
  EXPECT_EQ(d.ndep, 0x1234'5678U);
}

TEST(a_descriptor, reads_as_one_word_for_calls_by_handle) {
  nth_desc d = {};
  prepare_desc(&d, nullptr, nullptr, 77, flag_spilled);
  d.generation = 0xabcd;
  const dep_word w = *word_of(&d);
  EXPECT_EQ(ndep_in(w), 77U);
  EXPECT_EQ(generation_in(w), 0xabcd);
  EXPECT_EQ(state_in(w), thread_state::created);
  EXPECT_FALSE(is_plain_fresh(&d));
  __atomic_fetch_or(word_of(&d), token_in_word, __ATOMIC_RELAXED);
  EXPECT_EQ(d.flags, flag_spilled | flag_token);
  d.flags = 0;
  set_state(&d, thread_state::ready_fresh);
  EXPECT_TRUE(is_plain_fresh(&d));
  static_assert((dep_count & dep_waiting) == 0 && NTH_MAX_DEPENDENCIES < dep_count);
}

} // namespace
} // namespace nth::detail
