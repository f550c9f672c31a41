// Random acyclic graphs of threads: each node runs once, after all its predecessors, and computes what a
// serial run computes. Values are plain memory: what a predecessor wrote must be visible.
#include "../support/runtime.hpp"

#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

using namespace nth::test;

namespace {

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 31)) * 0x7fb5d329728ea185u;
  value = (value ^ (value >> 27)) * 0x81dadef4bc2dd44du;
  return value ^ (value >> 33);
}

struct node {
  std::vector<node *> before;
  std::vector<node *> after;
  std::uint64_t value = 0;
  long runs = 0;
  bool early = false; // a predecessor had not run
  nth_desc *thread = nullptr;
};

class graph {
public:
  // `width`: the most successors of a node. Edges lead from lower to higher numbers.
  graph(std::size_t size, std::size_t width, unsigned seed) : nodes(size) {
    std::mt19937_64 random(seed);
    for (std::size_t from = 0; from + 1 < size; ++from) {
      const std::size_t edges = random() % (width + 1);
      // Half of the nodes have near successors only, which makes long chains.
      const std::size_t span =
          random() % 2 == 0 ? std::min<std::size_t>(size - from - 1, 10) : size - from - 1;
      for (std::size_t e = 0; e < edges; ++e) {
        node &to = nodes[from + 1 + random() % span]; // the same twice: two dependencies
        nodes[from].after.push_back(&to);
        to.before.push_back(&nodes[from]);
      }
    }
  }

  std::vector<std::uint64_t> serial() {
    for (node &one : nodes)
      compute(one);
    return take_results();
  }

  std::vector<std::uint64_t> parallel() {
    run([&] {
      long ends = 0;
      for (const node &one : nodes)
        ends += one.after.empty() ? 1 : 0;
      nth_depadd(nth_self(), ends + 1);
      void (*const root)() = reinterpret_cast<void (*)()>(&compute_at);
      for (std::size_t i = nodes.size(); i-- > 0;) { // a successor is made before what it follows
        node &one = nodes[i];
        std::vector<nth_desc *> successors;
        for (const node *next : one.after)
          successors.push_back(next->thread);
        if (successors.empty())
          successors.push_back(nth_self());
        const long words[] = {reinterpret_cast<long>(&one)};
        one.thread = nth_create_v(root, static_cast<int>(one.before.size()),
                                  static_cast<int>(successors.size()), successors.data(), 1, words);
        ASSERT_NE(one.thread, nullptr);
      }
      int which = 0;
      for (const node &one : nodes)
        if (one.before.empty()) {
          ++which;
          (which % 3 == 0 ? nth_to_lrq : nth_to_lrq_end)(which % kthreads, one.thread);
        }
      nth_block();
    });
    return take_results();
  }

private:
  static void compute(node &one) {
    std::uint64_t value = one.before.size();
    for (const node *before : one.before) {
      one.early |= before->runs != 1;
      value = mix(value + before->value);
    }
    one.value = value;
    ++one.runs;
  }
  static void compute_at(node *one) {
    compute(*one);
    if (one->value % 16 == 0)
      nth_yield();
  }
  std::vector<std::uint64_t> take_results() {
    std::vector<std::uint64_t> values;
    for (node &one : nodes) {
      EXPECT_EQ(one.runs, 1);
      EXPECT_FALSE(one.early);
      values.push_back(one.value);
      one.runs = 0;
      one.value = 0;
      one.early = false;
    }
    return values;
  }
  std::vector<node> nodes;
};

class dependency : public testing::TestWithParam<std::tuple<nth_policy, int>> {};

TEST_P(dependency, random_graphs) {
  const watchdog guard(120);
  nth_options chosen = options(std::get<1>(GetParam()), std::get<0>(GetParam()));
  chosen.stack_size = 16 << 10; // with dos each of the 20,000 has one from its creation
  const runtime up(chosen);
  struct shape {
    std::size_t size, width;
    unsigned seeds;
  };
  const shape shapes[] = {{10, 3, 50},
                          {100, 8, 20},
                          {100, NTH_MAX_SUCCESSORS, 5},
                          {1000, 4, 5},
                          {20000, 3, 1},
                          {20000, 1, 1},
                          {static_cast<std::size_t>(pick_size(1000, 5000, 20000)), NTH_MAX_SUCCESSORS, 1}};
  for (const shape &one : shapes) {
    if (under_tsan && one.size > 1000)
      continue;
    for (unsigned seed = 1; seed <= one.seeds; ++seed) {
      SCOPED_TRACE(testing::Message() << one.size << " nodes, width " << one.width << ", seed " << seed);
      graph random(one.size, one.width, seed);
      const std::vector<std::uint64_t> expected = random.serial();
      ASSERT_EQ(random.parallel(), expected);
      ASSERT_EQ(random.parallel(), expected) << "second run";
    }
  }
}

TEST_P(dependency, added_before_the_start) {
  const watchdog guard;
  const runtime up(std::get<1>(GetParam()), std::get<0>(GetParam()));
  run([] {
    int first = 0, second = 0;
    auto last = [&] { EXPECT_EQ(first + second, 2); };
    auto one = [&] { first = 1; };
    auto two = [&] { second = 1; };
    nth_depadd(nth_self(), 2);
    nth_desc *after = create(last, nth_self());
    nth_depadd(after, 1);
    nth_desc *before = create(one, after);
    nth_depadd(after, 1);
    nth_desc *other = create(two, after);
    nth_to_lrq_end(nth_worker(), before);
    nth_to_lrq_end(kthreads - 1, other);
    nth_block();
  });
}

// A chain of 100,000: each end makes the next one ready.
TEST_P(dependency, long_chain) {
  const watchdog guard;
  nth_options chosen = options(std::get<1>(GetParam()), std::get<0>(GetParam()));
  chosen.stack_size = 16 << 10;
  const runtime up(chosen);
  const long length = chosen.stack_policy == NTH_POLICY_DOS || under_tsan ? 2000 : 100000;
  long count = 0;
  run([&] {
    const auto root = [](long *ended, long place) {
      EXPECT_EQ(*ended, place);
      ++*ended;
    };
    nth_depadd(nth_self(), 2);
    nth_desc *next = nth_self();
    for (long place = length - 1; place >= 0; --place)
      next = nth_create_ls(+root, place == 0 ? 0 : 1, next, 2, &count, place);
    nth_to_lrq(nth_worker(), next);
    nth_block();
  });
  EXPECT_EQ(count, length);
}

INSTANTIATE_TEST_SUITE_P(workers, dependency,
                         testing::Combine(testing::ValuesIn(all_policies), testing::Values(1, 2, 4, 8)),
                         [](const auto &test) {
                           return name_of(std::get<0>(test.param)) + std::to_string(std::get<1>(test.param));
                         });

} // namespace
