// Placements of workers and NUMA nodes, mostly on invented machines; distances from a file that hwloc wrote.
#include "nth/nth.h"
#include "os/os.hpp"
#include "os/os_failing.hpp"
#include "topology/topology.hpp"

#include "../support/invented_machine.hpp"
#include "../support/this_machine.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

namespace nth::detail::topology {
namespace {

using test::invented;
using test::ring_file;
using numbers = std::vector<int>;

numbers places(int count) {
  numbers result;
  for (int i = 0; i < count; ++i)
    result.push_back(os_index(i));
  return result;
}

numbers nodes_of_places(int count) {
  numbers result;
  for (int i = 0; i < count; ++i)
    result.push_back(node_at(i));
  return result;
}

std::string wrong(const char *placement) {
  const load_report report = load(placement);
  if (report.wrong[0] != '\0') {
    EXPECT_EQ(default_workers(), 1) << placement << ": nothing is loaded";
  }
  return report.wrong;
}

// ---- Words -----------------------------------------------------------------------------------------------

TEST(placement, of_two_packages_with_two_hardware_threads_a_core) {
  const invented machine("package:2 core:2 pu:2");
  for (const char *standard : {static_cast<const char *>(nullptr), "", "cores"}) {
    EXPECT_EQ(wrong(standard), "");
    EXPECT_EQ(places(9), (numbers{0, 2, 4, 6, 1, 3, 5, 7, 0}));
  }
  EXPECT_EQ(wrong("compact"), "");
  EXPECT_EQ(places(9), (numbers{0, 1, 2, 3, 4, 5, 6, 7, 0}));
  EXPECT_EQ(wrong("scatter"), "");
  EXPECT_EQ(places(9), (numbers{0, 4, 2, 6, 1, 5, 3, 7, 0}));
  EXPECT_EQ(usable_cores(), 4);
  EXPECT_EQ(default_workers(), 4) << "one a core, whatever the word";
  EXPECT_EQ(nodes(), 1);
}

TEST(placement, of_two_packages_with_two_nodes_each) {
  const invented machine("package:2 numa:2 core:2 pu:1");
  EXPECT_EQ(wrong("scatter"), "");
  EXPECT_EQ(places(8), (numbers{0, 4, 2, 6, 1, 5, 3, 7}));
  EXPECT_EQ(nodes_of_places(8), (numbers{0, 2, 1, 3, 0, 2, 1, 3}));
  EXPECT_EQ(wrong("cores"), "");
  EXPECT_EQ(nodes_of_places(9), (numbers{0, 0, 1, 1, 2, 2, 3, 3, 0}));
}

TEST(placement, scatter_over_nodes_without_packages) {
  const invented machine("numa:3 core:2 pu:2");
  EXPECT_EQ(wrong("scatter"), "");
  EXPECT_EQ(places(12), (numbers{0, 4, 8, 2, 6, 10, 1, 5, 9, 3, 7, 11}));
}

// CPUs dealt out to the nodes like cards, as some firmware numbers them.
TEST(placement, neighbours_are_what_lies_together_not_what_has_close_numbers) {
  const invented machine("numa:2 core:3 pu:1(indexes=0,2,4,1,3,5)");
  EXPECT_EQ(wrong("compact"), "");
  EXPECT_EQ(places(6), (numbers{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(nodes_of_places(6), (numbers{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(wrong("scatter"), "");
  EXPECT_EQ(places(6), (numbers{0, 1, 2, 3, 4, 5}));
}

// ---- Lists -----------------------------------------------------------------------------------------------

TEST(placement, by_list) {
  const invented machine("numa:2 core:2 pu:2");
  struct list {
    const char *text;
    numbers expected;
    int workers;
  };
  for (const list &one : {list{"3", {3}, 1},
                          {"7,0", {7, 0}, 2},
                          {"0-3", {0, 1, 2, 3}, 4},
                          {"0-6:2", {0, 2, 4, 6}, 4},
                          {"1-6:2147483646", {1}, 1},
                          {"5-5", {5}, 1},
                          {"007,0", {7, 0}, 2},
                          {"node:1", {4, 6, 5, 7}, 4},
                          {"node:1,0,node:0", {4, 6, 5, 7, 0, 0, 2, 1, 3}, 8},
                          {"2,2,2,3", {2, 2, 2, 3}, 2}}) {
    EXPECT_EQ(wrong(one.text), "");
    const auto length = static_cast<int>(one.expected.size());
    EXPECT_EQ(places(length), one.expected) << one.text;
    EXPECT_EQ(os_index(length), one.expected[0]) << "from the first again";
    EXPECT_EQ(default_workers(), one.workers) << one.text;
    EXPECT_EQ(usable_cores(), 4);
  }
  EXPECT_EQ(wrong("7,0"), "");
  EXPECT_EQ(nodes_of_places(3), (numbers{1, 0, 1}));
  EXPECT_EQ(nodes(), 2) << "of the machine, not of the list";
}

TEST(placement, a_list_may_be_longer_than_there_can_be_workers) {
  const invented machine("core:4 pu:1");
  std::string list = "0-3";
  for (int i = 0; i < 1000; ++i)
    list += ",0-3";
  EXPECT_EQ(wrong(list.c_str()), "");
  EXPECT_EQ(default_workers(), 4);
  EXPECT_EQ(os_index(1023), 3);
}

TEST(placement, what_is_wrong_with_a_list_is_named) {
  const invented machine("numa:4 core:2 pu:1");
  const auto malformed = [](const char *entry) {
    return '"' + std::string(entry) +
           "\" is none of cores, compact, scatter, a CPU (3), a range of CPUs (0-3, or 0-6:2 for every "
           "second one), the CPUs of a NUMA node (node:1)";
  };
  for (const char *text : {"Cores", "x", " 1", "1 ", "-1", "1-", "1-2-3", "1:2", "0-6:", "0-6:x",
                           "node:", "node:1-2", "node", "0x1", "3;4", "+1"}) {
    EXPECT_EQ(wrong(text), malformed(text));
    EXPECT_EQ(wrong(("0," + std::string(text) + ",1").c_str()), malformed(text));
  }
  EXPECT_EQ(wrong("0,compact"), "\"compact\" stands alone: it is no entry of a list");
  EXPECT_EQ(wrong(","), "entry 1 of the list is empty; leave out the comma");
  EXPECT_EQ(wrong("0,,1"), "entry 2 of the list is empty; leave out the comma");
  EXPECT_EQ(wrong("0,1,"), "entry 3 of the list is empty; leave out the comma");
  EXPECT_EQ(wrong("3-1"), "\"3-1\" ends before it begins; write the smaller CPU first");
  EXPECT_EQ(wrong("0-6:0"), "\"0-6:0\" goes on by 0; the number behind the colon is at least 1");
  EXPECT_EQ(wrong("6-9"), "CPU 8 of \"6-9\" does not exist; this machine has CPUs 0 to 7");
  EXPECT_EQ(wrong("0,99999999999999999999"),
            "CPU 2147483647 of \"99999999999999999999\" does not exist; this machine has CPUs 0 to 7");
  EXPECT_EQ(wrong("0,node:9"), "NUMA node 9 does not exist; this machine has nodes 0 to 3");
  EXPECT_EQ(wrong("node:99999999999999999999"),
            "NUMA node 2147483647 does not exist; this machine has nodes 0 to 3");
  const std::string much(500, 'x');
  EXPECT_EQ(wrong(much.c_str()), malformed(much.substr(0, 40).c_str()));
}

TEST(placement, messages_list_what_there_is) {
  {
    const invented machine("numa:2(indexes=0,2) core:1 pu:2(indexes=0,1,4,5)");
    EXPECT_EQ(wrong("3"), "CPU 3 of \"3\" does not exist; this machine has CPUs 0-1,4-5");
    EXPECT_EQ(wrong("node:1"), "NUMA node 1 does not exist; this machine has nodes 0,2");
    EXPECT_EQ(wrong("node:2"), "");
    EXPECT_EQ(places(2), (numbers{4, 5}));
    EXPECT_EQ(node_at(0), 1) << "logical numbers leave no gaps";
    EXPECT_EQ(node_os_index(1), 2);
  }
  const invented machine("pu:1");
  EXPECT_EQ(wrong("node:1"), "NUMA node 1 does not exist; this machine has node 0");
  EXPECT_EQ(wrong("1"), "CPU 1 of \"1\" does not exist; this machine has CPU 0");
}

TEST(placement, no_more_workers_than_there_may_be) {
  const invented machine("numa:8 core:256 pu:1");
  EXPECT_EQ(wrong("scatter"), "");
  EXPECT_EQ(usable_cores(), 2048);
  EXPECT_EQ(default_workers(), NTH_MAX_WORKERS);
  EXPECT_EQ(wrong("0-2047"), "");
  EXPECT_EQ(default_workers(), NTH_MAX_WORKERS);
}

// ---- Nodes -----------------------------------------------------------------------------------------------

TEST(nodes, of_an_invented_machine) {
  const invented machine("numa:8 core:2 pu:1");
  ASSERT_TRUE(load(nullptr).machine_known);
  EXPECT_EQ(nodes(), 8);
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(node_at(i), i / 2);
  for (int a = 0; a < 8; ++a) {
    EXPECT_EQ(node_os_index(a), a);
    for (int b = 0; b < 8; ++b)
      EXPECT_EQ(distance(a, b), a == b ? 10 : 20);
  }
  EXPECT_EQ(node_os_index(8), -1);
  EXPECT_EQ(node_os_index(-1), -1);
  void *page = os::map_pages(os::page_size());
  EXPECT_FALSE(bind_memory(page, os::page_size(), 0)) << "there is no such node here";
  os::unmap_pages(page, os::page_size());
}

TEST(nodes, not_loaded_is_one) {
  unload();
  EXPECT_EQ(nodes(), 1);
  EXPECT_EQ(node_at(3), 0);
  EXPECT_EQ(node_os_index(0), -1);
  EXPECT_EQ(distance(0, 0), 10);
  EXPECT_FALSE(bind_memory(nullptr, 0, 0));
}

TEST(nodes, have_the_distances_that_hwloc_knows) {
  const ring_file file;
  const invented machine(file.path, "HWLOC_XMLFILE");
  ASSERT_TRUE(load(nullptr).machine_known);
  ASSERT_EQ(nodes(), 4);
  EXPECT_EQ(distance(0, 0), 10);
  EXPECT_EQ(distance(0, 1), 16);
  EXPECT_EQ(distance(0, 2), 22);
  EXPECT_EQ(distance(0, 3), 16);
  EXPECT_EQ(distance(3, 1), 22);
}

// ---- This machine ----------------------------------------------------------------------------------------

using test::this_machine;

TEST_F(this_machine, each_place_has_a_node) {
  ASSERT_TRUE(load("scatter").machine_known);
  for (int i = 0; i < 2 * usable_cores(); ++i) {
    EXPECT_GE(node_at(i), 0);
    EXPECT_LT(node_at(i), nodes());
  }
  for (int a = 0; a < nodes(); ++a)
    EXPECT_GT(distance(a, a), 0);
}

TEST_F(this_machine, a_thread_is_bound_as_listed) {
  ASSERT_TRUE(load(nullptr).machine_known);
  const int last = os_index(usable_cores() - 1);
  ASSERT_EQ(wrong(std::to_string(last).c_str()), "");
  EXPECT_EQ(default_workers(), 1);
  std::thread([last] {
    EXPECT_TRUE(bind_current_thread(7));
    EXPECT_EQ(sched_getcpu(), last);
  }).join();
}

TEST_F(this_machine, what_the_affinity_withholds_is_named) {
  ASSERT_TRUE(load(nullptr).machine_known);
  if (usable_cores() < 2)
    GTEST_SKIP() << "one core";
  const int first = os_index(0);
  const int second = os_index(1);
  std::thread([=] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(first), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const std::string cpu = std::to_string(second);
    EXPECT_EQ(wrong(cpu.c_str()), "CPU " + cpu + " of \"" + cpu +
                                      "\" is kept from this process by its affinity mask or its cgroup, or "
                                      "is offline; it may use CPU " +
                                      std::to_string(first));
    EXPECT_EQ(wrong(std::to_string(first).c_str()), "");
  }).join();
}

TEST_F(this_machine, memory_is_bound_or_refused) {
  ASSERT_TRUE(load(nullptr).machine_known);
  const std::size_t size = 4 * os::page_size();
  auto *pages = static_cast<char *>(os::map_pages(size));
  RecordProperty("bound", bind_memory(pages, size, 0) ? "yes" : "no"); // containers may refuse
  pages[0] = 1;
  EXPECT_FALSE(bind_memory(pages, size, nodes()));
  EXPECT_FALSE(bind_memory(pages, size, -1));
  for (int node = 0; node < nodes(); ++node) {
    std::ifstream file("/sys/devices/system/node/node" + std::to_string(node_os_index(node)) + "/meminfo");
    std::string word;
    while (file >> word && word != "MemTotal:")
      continue;
    long kilobytes = -1;
    if (file >> kilobytes && kilobytes == 0) {
      EXPECT_FALSE(bind_memory(pages, size, node)) << "a node without memory";
    }
  }
  if (node_os_index(0) >= 0) {
    EXPECT_FALSE(bind_memory(pages + 1, size, 0)) << "no page begins there";
  }
  os::unmap_pages(pages, size);
}

TEST_F(this_machine, without_memory_for_the_tables_a_list_cannot_be_followed) {
  for (const char *placement : {"0", "scatter"}) {
    os::fail_after(os::fail_kind::map_pages, 1, false);
    const load_report report = load(placement);
    os::fail_never();
    EXPECT_FALSE(report.machine_known);
    EXPECT_STREQ(report.wrong, placement[0] == '0'
                                   ? "\"0\" cannot be followed, for the machine's CPUs cannot be "
                                     "read (by hwloc); unset it"
                                   : "");
    EXPECT_EQ(default_workers(), 1);
  }
}

} // namespace
} // namespace nth::detail::topology
