// The C library calls back through stubs, from threads on small stacks.
#include "on_segments.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

using namespace nth::test;

namespace {

struct numbers {
  std::vector<long> all;
  long found = 0;
};

TEST(qsort_and_bsearch, call_a_comparator_on_segments) {
  const auto n = std::make_unique<numbers>();
  for (long i = 0; i < 500; ++i)
    n->all.push_back(i * 7919 % 1009);
  const std::vector<long> given = n->all;
  std::vector<long> sorted = given;
  std::sort(sorted.begin(), sorted.end());
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    for (const int workers : {1, 4}) {
      SCOPED_TRACE(name_of(policy));
      const runtime up(workers, policy);
      n->all = given;
      n->found = 0;
      compared = 0;
      // Less than the comparator says that it needs, and as much as qsort does: each comparison is a switch.
      run_small(
          4'500,
          +[](numbers *it) {
            call_with_room(
                3'900,
                +[](numbers *in) {
                  std::qsort(in->all.data(), in->all.size(), sizeof(long), stub_compare);
                  for (long key = 0; key < 1009; ++key)
                    in->found += std::bsearch(&key, in->all.data(), in->all.size(), sizeof(long),
                                              stub_compare) != nullptr;
                },
                it);
          },
          n.get());
      EXPECT_EQ(n->all, sorted);
      EXPECT_EQ(n->found, 500);
      const nth_stats s = stats_now();
      EXPECT_GT(s.segments_switched, 1000) << compared << " comparisons";
      expect_no_segments(workers);
    }
  }
}

} // namespace
