// Where memory lies on a machine of several NUMA nodes. Each worker makes threads that touch their stacks and
// block; then the kernel is asked, by move_pages(2), for the node of each page.
//
//   placement_check          workers are where the placement says; pages lie on the node of the worker that
//                            took them, as far as nobody else has touched them first
//   placement_check bound    and the library has told the kernel so: each page has a policy that prefers a
//                            node, lies there, and would have whoever had touched it first
//
// Ends with 77 on a machine of one node. scripts/numa-vm.sh runs it on one that has four.
#include "nth/nth.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr int workers = 8;
constexpr long threads_each = 128; // two lots of descriptors
constexpr long stack_size = 64 << 10;
constexpr long touched = 12 << 10;    // bytes of its stack that each thread touches
constexpr long distant = 40 << 10;    // so far below nobody goes
constexpr double strays_first = 0.05; // part of the pages that others may have touched first
constexpr double strays_bound = 0.05; // part of the stacks that may come from a pool of all nodes

int failures = 0;

template <class... Values>
void fail(const char *format, Values... values) {
  ++failures;
  std::printf("FAILED: ");
  std::printf(format, values...);
  std::printf("\n");
}

// ---- What the kernel says ----------------------------------------------------------------------------------

const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));

void *page_of(const volatile void *address) {
  return reinterpret_cast<void *>(reinterpret_cast<std::uintptr_t>(address) & ~(page_bytes - 1));
}

// The node that a page lies on, or a negative errno: -EFAULT where nobody has touched it, -ENOENT where the
// kernel watches for accesses (sysctl kernel.numa_balancing), which it does not where memory has a policy.
int node_of_page(const volatile void *address) {
  void *page = page_of(address);
  int status = 0;
  if (syscall(SYS_move_pages, 0, 1UL, &page, nullptr, &status, 0) != 0)
    return -errno;
  return status;
}

// The node that the policy at an address prefers; -1: there is no such policy.
int preferred_node(const volatile void *address) {
  constexpr std::size_t bits = 8 * sizeof(unsigned long);
  unsigned long nodes[1024 / bits] = {};
  int mode = 0;
  if (syscall(SYS_get_mempolicy, &mode, nodes, 1024UL, page_of(address), MPOL_F_ADDR) != 0 ||
      mode != MPOL_PREFERRED)
    return -1;
  for (std::size_t i = 0; i < 1024; ++i)
    if ((nodes[i / bits] >> i % bits & 1) != 0)
      return static_cast<int>(i);
  return -1;
}

struct here {
  unsigned cpu = 0, node = 0;
  here() { syscall(SYS_getcpu, &cpu, &node, nullptr); }
};

// The processors that this program may use.
std::vector<here> list_places() {
  std::vector<here> result;
  std::thread([&result] {
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      if (CPU_ISSET(cpu, &all) && sched_setaffinity(0, sizeof one, &one) == 0)
        result.emplace_back();
    }
  }).join();
  return result;
}
const std::vector<here> all_places = list_places();

std::string line_of(const std::string &path) {
  char text[256] = "";
  if (std::FILE *file = std::fopen(path.c_str(), "r")) {
    if (std::fgets(text, sizeof text, file) != nullptr)
      text[std::strcspn(text, "\n")] = '\0';
    std::fclose(file);
  }
  return text;
}

const std::string node_folder = "/sys/devices/system/node/";

// Memory of others serves a node that has none.
bool has_memory(int node) {
  long kilobytes = -1;
  std::sscanf(line_of(node_folder + "node" + std::to_string(node) + "/meminfo").c_str(),
              "Node %*d MemTotal: %ld", &kilobytes);
  return kilobytes != 0;
}

// Four nodes of two processors, numbered as scripts/numa-vm.sh has them.
bool is_the_usual_machine() {
  for (int node = 0; node < 4; ++node)
    if (line_of(node_folder + "node" + std::to_string(node) + "/cpulist") !=
        std::to_string(2 * node) + '-' + std::to_string(2 * node + 1))
      return false;
  return line_of(node_folder + "online") == "0-3";
}

// ---- The threads -------------------------------------------------------------------------------------------

struct record {
  nth_handle_t handle{};
  volatile char *stack = nullptr; // the lowest byte that it has touched
  int made_on = -1, run_on = -1;  // nodes
};
std::vector<record> records;
here worker_place[workers];
std::atomic<int> held, made;
std::atomic<long> running;

void block_here(long index) {
  volatile char room[touched];
  for (long i = 0; i < touched; i += 512)
    room[i] = 1;
  record &own = records[static_cast<std::size_t>(index)];
  own.stack = room;
  own.run_on = static_cast<int>(here().node);
  running.fetch_add(1);
  nth_block();
  room[0] = 0;
}

// One on each worker: none ends before all run.
void make_threads() {
  const int which = nth_worker();
  held.fetch_add(1);
  while (held.load() < workers)
    usleep(500); // an emulated machine has better to do than to spin
  worker_place[which] = here();
  for (long i = which * threads_each; i < (which + 1) * threads_each; ++i) {
    record &own = records[static_cast<std::size_t>(i)];
    own.made_on = static_cast<int>(here().node);
    nth_desc *thread = nth_create(block_here, 0, 0, 1, i);
    own.handle = nth_handle(thread);
    nth_to_lrq(which, thread);
  }
  made.fetch_add(1);
  while (made.load() < workers)
    usleep(500); // an emulated machine has better to do than to spin
}

void start_makers() {
  nth_desc *self = nth_self();
  nth_depadd(self, workers + 1);
  for (int i = 0; i < workers; ++i)
    nth_to_lrq(i, nth_create_ls(make_threads, 0, self, 0));
  nth_block();
}

// ---- Checks ------------------------------------------------------------------------------------------------

struct share {
  long right = 0, wrong = 0;
  void count(bool yes) { ++(yes ? right : wrong); }
  void count_page(const volatile void *address, int node) { // that was touched
    const int lies = node_of_page(address);
    if (lies != -ENOENT && has_memory(node))
      count(lies == node);
  }
  // At most this part of all may be wrong.
  void expect(const char *what, double strays) const {
    std::printf("  %-58s %6ld of %ld\n", what, right, right + wrong);
    if (right + wrong == 0 || static_cast<double>(wrong) > strays * static_cast<double>(right + wrong))
      fail("%s: %ld of %ld are not", what, wrong, right + wrong);
  }
};

// The node of the worker that takes the stack: with the policy dos it comes with the descriptor.
int taker_of_stack(const record &one) {
  return nth_stack_policy() == NTH_POLICY_DOS ? one.made_on : one.run_on;
}

void check_first_touch() {
  share stacks, descriptors;
  for (const record &one : records) {
    // With dos all but the top page is first touched by whoever runs the thread.
    if (nth_stack_policy() != NTH_POLICY_DOS)
      for (long at = 0; at < touched; at += static_cast<long>(page_bytes))
        stacks.count_page(one.stack + at, one.run_on);
    descriptors.count_page(one.handle.thread, one.made_on);
  }
  if (nth_stack_policy() != NTH_POLICY_DOS)
    stacks.expect("pages of stacks on the node of their worker", strays_first);
  descriptors.expect("descriptors on the node of their worker", strays_first);
}

// ---- What holds only where the library binds memory to nodes -------------------------------------------------

// Touches a page from a processor of another node.
void touch_from_afar(volatile char *address, int node) {
  std::thread([=] {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const here &place : all_places)
      if (static_cast<int>(place.node) != node)
        CPU_SET(place.cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) == 0 && static_cast<int>(here().node) != node)
      *address = 1;
  }).join();
}

void check_bound() {
  share lies_there, of_stacks, of_descriptors, from_afar;
  for (const record &one : records) {
    const volatile char *stack = one.stack + touched - 1;
    const int stack_node = preferred_node(stack);
    const int descriptor_node = preferred_node(one.handle.thread);
    // The memory of kernel threads outside belongs to no node: one stack is from there.
    if (stack_node >= 0)
      lies_there.count(node_of_page(stack) == stack_node);
    if (descriptor_node >= 0)
      lies_there.count(node_of_page(one.handle.thread) == descriptor_node);
    if (has_memory(taker_of_stack(one)))
      of_stacks.count(stack_node == taker_of_stack(one));
    if (has_memory(one.made_on))
      of_descriptors.count(descriptor_node == one.made_on);
  }
  if (lies_there.right + lies_there.wrong == 0)
    return fail("no page has a policy: memory is not bound to nodes (%s)",
                "nth_init did not, or was refused");
  lies_there.expect("touched pages lie on the node that is preferred there", 0);
  of_stacks.expect("stacks prefer the node of the worker that took them", strays_bound);
  of_descriptors.expect("descriptors prefer the node of the worker that made them", strays_bound);

  for (std::size_t i = 0; i < records.size() && from_afar.right + from_afar.wrong < 100; i += 7) {
    volatile char *deep = records[i].stack + touched - distant;
    const int node = preferred_node(deep);
    if (node < 0 || node_of_page(deep) >= 0)
      continue; // another thread was there before
    touch_from_afar(deep, node);
    const int lies = node_of_page(deep);
    if (lies >= 0)
      from_afar.count(lies == node);
  }
  from_afar.expect("pages touched from another node lie on their own", 0);
}

// What of the workers' nodes is known before: on the usual machine all of it.
void check_places(const char *placement) {
  std::string nodes;
  for (const here &place : worker_place)
    nodes += std::to_string(place.node);
  std::printf("  nodes of workers 0 to %d: %s\n", workers - 1, nodes.c_str());
  struct expectation {
    const char *placement;
    const char *nodes;
  };
  for (const expectation &one : {expectation{"cores", "00112233"},
                                 {"compact", "00112233"},
                                 {"scatter", "01230123"},
                                 {"node:2", "22222222"},
                                 {"7,node:1,0-4:2", "31101231"}})
    if (std::strcmp(placement, one.placement) == 0 && is_the_usual_machine() && nodes != one.nodes)
      fail("placement %s: workers should be on the nodes %s", placement, one.nodes);
}

bool check(nth_policy policy, const char *placement, bool bound) {
  static constexpr const char *names[] = {"dsr", "lsa", "dos"};
  std::printf("%s, %s\n", names[policy], placement);
  nth_options options;
  if (nth_options_init(&options) != NTH_OK)
    return fail("%s", nth_last_error()), false;
  options.workers = workers;
  options.stack_policy = policy;
  options.stack_size = stack_size;
  options.placement = placement;
  if (nth_init(&options) != NTH_OK)
    return fail("%s", nth_last_error()), false;
  records.assign(static_cast<std::size_t>(workers * threads_each), record{});
  held = made = 0;
  running = 0;
  if (nth_run(start_makers, 0) != NTH_OK)
    return fail("%s", nth_last_error()), false;
  while (running.load() < workers * threads_each)
    usleep(1000);
  usleep(20'000); // the last ones leave their stacks

  check_places(placement);
  check_first_touch();
  if (bound)
    check_bound();

  for (const record &one : records)
    if (nth_unblock(one.handle) != NTH_OK)
      fail("nth_unblock: %s", nth_last_error());
  nth_status end;
  while ((end = nth_finalize()) == NTH_EBUSY)
    usleep(1000);
  if (end != NTH_OK)
    fail("%s", nth_last_error());
  return true;
}

} // namespace

int main(int argc, char **argv) {
  const bool bound = argc == 2 && std::strcmp(argv[1], "bound") == 0;
  if (argc > 1 && !bound) {
    std::fprintf(stderr, "usage: %s [bound]\n", argv[0]);
    return 2;
  }
  setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string online = line_of(node_folder + "online");
  if (online.empty() || online == "0") {
    std::printf("skipped: this machine has one NUMA node; scripts/numa-vm.sh runs it on one that has four\n");
    return 77;
  }
  for (const nth_policy policy : {NTH_POLICY_DSR, NTH_POLICY_LSA, NTH_POLICY_DOS})
    for (const char *placement : {"cores", "scatter"})
      check(policy, placement, bound);
  for (const char *placement : {"compact", "node:2", "7,node:1,0-4:2"})
    check(NTH_POLICY_DSR, placement, bound);
  std::printf(failures == 0 ? "all as it should be\n" : "%d failed\n", failures);
  return failures == 0 ? 0 : 1;
}
