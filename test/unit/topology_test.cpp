// Cores and their order: this machine's, and invented ones, each in a process of its own.
#include "os/os.hpp"
#include "os/os_failing.hpp"
#include "topology/topology.hpp"

#include "../support/this_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <set>
#include <thread>
#include <vector>

namespace nth::detail::topology {
namespace {

cpu_set_t affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

using test::this_machine;

TEST_F(this_machine, places_are_what_the_affinity_allows) {
  ASSERT_TRUE(load(nullptr).machine_known);
  const cpu_set_t allowed = affinity();
  const int threads = CPU_COUNT(&allowed);
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), threads);
  std::set<int> seen;
  for (int i = 0; i < threads; ++i) {
    EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(os_index(i)), &allowed));
    EXPECT_TRUE(seen.insert(os_index(i)).second) << "given twice: " << os_index(i);
  }
  EXPECT_EQ(os_index(threads), os_index(0)) << "positions wrap around";
}

TEST_F(this_machine, a_thread_is_bound) {
  ASSERT_TRUE(load(nullptr).machine_known);
  std::thread([] {
    for (int i = 0; i < 2 * usable_cores(); ++i) {
      ASSERT_TRUE(bind_current_thread(i));
      const cpu_set_t now = affinity();
      EXPECT_EQ(CPU_COUNT(&now), 1);
      EXPECT_EQ(sched_getcpu(), os_index(i));
    }
    EXPECT_FALSE(bind_current_thread(-1));
  }).join();
}

TEST_F(this_machine, loading_twice_is_loading_once) {
  ASSERT_TRUE(load(nullptr).machine_known);
  const int cores = usable_cores();
  ASSERT_TRUE(load(nullptr).machine_known);
  EXPECT_EQ(usable_cores(), cores);
}

void expect_one_core() {
  EXPECT_EQ(usable_cores(), 1);
  EXPECT_EQ(os_index(0), 0);
  EXPECT_FALSE(bind_current_thread(0));
}

TEST_F(this_machine, not_loaded_is_one_core) {
  expect_one_core();
  ASSERT_TRUE(load(nullptr).machine_known);
  unload();
  expect_one_core();
}

TEST_F(this_machine, no_memory_is_one_core) {
  os::fail_after(os::fail_kind::map_pages, 1, false);
  EXPECT_FALSE(load(nullptr).machine_known);
  os::fail_never();
  expect_one_core();
}

// ---- Invented machines -----------------------------------------------------------------------------

[[noreturn]] void expect_places(const char *machine, int cores, std::vector<int> places) {
  setenv("HWLOC_SYNTHETIC", machine, 1);
  bool right = load(nullptr).machine_known && usable_cores() == cores;
  for (std::size_t i = 0; i < places.size(); ++i)
    right = right && os_index(static_cast<int>(i)) == places[i];
  right = right && os_index(static_cast<int>(places.size())) == places[0];
  right = right && !bind_current_thread(0);
  if (!right) {
    std::fprintf(stderr, "cores %d, places", usable_cores());
    for (std::size_t i = 0; i <= places.size(); ++i)
      std::fprintf(stderr, " %d", os_index(static_cast<int>(i)));
  }
  std::_Exit(right ? 0 : 1);
}

TEST(invented_machine_death, cores_come_before_second_hardware_threads) {
  const auto passes = testing::ExitedWithCode(0);
  EXPECT_EXIT(expect_places("core:4 pu:1", 4, {0, 1, 2, 3}), passes, "");
  EXPECT_EXIT(expect_places("node:2 core:2 pu:2", 4, {0, 2, 4, 6, 1, 3, 5, 7}), passes, "");
  EXPECT_EXIT(expect_places("package:1 core:2 pu:3", 2, {0, 3, 1, 4, 2, 5}), passes, "");
  EXPECT_EXIT(expect_places("pu:3", 3, {0, 1, 2}), passes, "") << "a machine without cores";
  // Numbered as the kernel often does it: the second hardware threads last.
  EXPECT_EXIT(expect_places("core:2 pu:2(indexes=0,2,1,3)", 2, {0, 1, 2, 3}), passes, "");
}

TEST(invented_machine_death, of_a_thousand_cores) {
  std::vector<int> places;
  for (int i = 0; i < 1024; ++i)
    places.push_back(2 * i);
  for (int i = 0; i < 1024; ++i)
    places.push_back(2 * i + 1);
  EXPECT_EXIT(expect_places("node:8 package:1 core:128 pu:2", 1024, places), testing::ExitedWithCode(0), "");
}

[[noreturn]] void expect_only(std::size_t processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  const bool right = sched_setaffinity(0, sizeof one, &one) == 0 && load(nullptr).machine_known &&
                     usable_cores() == 1 && os_index(0) == static_cast<int>(processor) &&
                     os_index(1) == static_cast<int>(processor) && bind_current_thread(5);
  std::_Exit(right ? 0 : 1);
}

TEST(affinity_death, leaves_what_it_names) {
  const cpu_set_t allowed = affinity();
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &allowed)) {
      EXPECT_EXIT(expect_only(i), testing::ExitedWithCode(0), "") << i;
    }
}

} // namespace
} // namespace nth::detail::topology
