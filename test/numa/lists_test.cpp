// Eight nodes: after a run every idle object lies in a list of the node that its memory belongs to.
#include "../support/invented_machine.hpp"
#include "../support/rest.hpp"
#include "../support/size.hpp"
#include "../support/watchdog.hpp"

#include <atomic>
#include <vector>

using namespace nth::test;
using namespace nth::detail;

namespace {

struct purity {
  long seen = 0;
  long strange = 0;
  void look(const void *object, int node) {
    ++seen;
    strange += the_area.node_of(object) != node;
  }
};

template <class T>
void walk(const T *first, int node, purity &found) {
  for (; first != nullptr; first = first->next)
    found.look(first, node);
}

template <class T>
void walk_chains(const T *first, int node, purity &found) {
  for (; first != nullptr; first = first->next_chain)
    walk(first, node, found);
}

template <class T>
void walk_pools(free_pools<T, most_nodes> &pools, purity &found) {
  int node = 0;
  pools.visit_chains([&](const T *at_node, const T *in_global) {
    walk_chains(at_node, node, found);
    walk_chains(in_global, node, found);
    ++node;
  });
}

void look_at_members(const block *first, int node, purity &found) {
  for (; first != nullptr; first = first->next) {
    for (std::uint32_t i = 0; i < first->hi; ++i)
      found.look(first->slot[i], node);
  }
}

purity descriptors() {
  purity found;
  for (int i = 0; i <= the_runtime.workers; ++i) {
    const worker *w = the_runtime.at(i);
    for (std::uint32_t n = 0; n < w->free_count; ++n)
      found.look(w->free_descs->slot[n], w->node);
    look_at_members(w->free_first, w->node, found);
    look_at_members(w->returned.load(std::memory_order_acquire), w->node, found);
    EXPECT_EQ(w->loose, nullptr);
  }
  int node = 0;
  the_descs.visit_chains([&](const block *at_node, const block *in_global) {
    for (const block *first : {at_node, in_global}) {
      for (; first != nullptr; first = first->next_chain)
        look_at_members(first, node, found);
    }
    ++node;
  });
  return found;
}

purity stacks() {
  purity found;
  for (unsigned r = 0; r < stack_regions; ++r) {
    for (int i = 0; i <= the_runtime.workers; ++i) {
      const worker *w = the_runtime.at(i);
      w->stacks[r].for_each([&](const stack_top *top) { found.look(top, w->node); });
    }
    walk_pools(the_stacks.pools(r), found);
  }
  return found;
}

purity blocks() {
  purity found;
  for (int i = 0; i <= the_runtime.workers; ++i) {
    const worker *w = the_runtime.at(i);
    w->empties.for_each([&](const block *b) { found.look(b, w->node); });
  }
  walk_pools(the_blocks.pools, found);
  return found;
}

class lists : public testing::TestWithParam<nth_policy> {};

TEST_P(lists, hold_objects_of_their_own_node) {
  const watchdog guard(120);
  const invented here("numa:8 core:2 pu:1");
  nth_options wanted = options(16, GetParam());
  wanted.descriptors_local = 256; // so that much goes up and comes down again
  wanted.descriptors_node = 256;
  wanted.descriptors_global = 2048;
  wanted.stacks_local = 4;
  wanted.stacks_node = 8;
  wanted.stacks_global = 64;
  wanted.placement = "scatter";
  const nth::test::runtime up(wanted);
  ASSERT_EQ(the_area.nodes, 8);
  const long count = pick_size(300, 3000, 30'000);
  std::vector<nth_handle_t> handles(static_cast<std::size_t>(count));
  for (int round = 0; round < 4; ++round) {
    std::atomic<long> blocked = 0;
    std::atomic<long> woken = 0;
    auto waits = [&] {
      ++blocked;
      nth_block();
      nth_yield();
      ++woken;
    };
    // Made on one node, blocked on others, woken from a third, some on stacks of another class.
    run([&] {
      for (long i = 0; i < count; ++i) {
        nth_desc *thread = create(waits);
        if (i % 3 == 0) {
          EXPECT_EQ(nth_set_stack_size(thread, 16 << 10), NTH_OK);
        }
        handles[static_cast<std::size_t>(i)] = nth_handle(thread);
        nth_to_lrq_end(static_cast<int>((i + round) % kthreads), thread);
      }
      while (blocked < count)
        nth_yield();
    });
    run([&] {
      for (const nth_handle_t &one : handles)
        EXPECT_EQ(nth_unblock(one), NTH_OK);
      while (woken < count)
        nth_yield();
    });
    wait_for_rest();
    for (const purity &found : {descriptors(), stacks(), blocks()}) {
      EXPECT_GT(found.seen, 0);
      EXPECT_EQ(found.strange, 0) << "of " << found.seen << " objects";
    }
  }
  EXPECT_GT(counters().steals_remote, 0) << "nothing has left its node: this test shows nothing";
}

INSTANTIATE_TEST_SUITE_P(policies, lists, testing::ValuesIn(all_policies),
                         [](const auto &one) { return std::string(name_of(one.param)); });

} // namespace
