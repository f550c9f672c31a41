// Thresholds: each need has one at or above it, and no other choice loses less.
#include "nth/growth.h"
#include "plan/make_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace nth::stack::test {
namespace {

using list = std::vector<std::uint32_t>;

using stubs = std::vector<weighed_need>;

// What stubs ask for nothing, as the planner weighs it.
double loss(const stubs &needs, const list &thresholds) {
  double sum = 0;
  for (const weighed_need &s : needs) {
    const auto t = std::lower_bound(thresholds.begin(), thresholds.end(), s.need);
    if (t == thresholds.end())
      return std::numeric_limits<double>::infinity();
    sum += s.often * (*t - s.need) / s.need;
  }
  return sum;
}

// All choices of up to four of the different needs.
double least_loss(const stubs &needs) {
  list values;
  for (const weighed_need &s : needs)
    values.push_back(s.need);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  double least = std::numeric_limits<double>::infinity();
  for (unsigned chosen = 1; chosen < 1U << values.size(); ++chosen) {
    if (__builtin_popcount(chosen) > NTH_STUB_LIMITS)
      continue;
    list some;
    for (std::size_t i = 0; i < values.size(); ++i)
      if ((chosen >> i & 1) != 0)
        some.push_back(values[i]);
    least = std::min(least, loss(needs, some));
  }
  return least;
}

TEST(thresholds, few_needs_are_their_own) {
  EXPECT_EQ(choose_thresholds({{300}, {300}, {8000}}), (list{300, 8000}));
  EXPECT_EQ(choose_thresholds({}), list{NTH_STUB_STACK});
}

TEST(thresholds, fit_what_is_called_most) {
  const stubs even = {{256}, {304}, {312}, {1016}, {4728}, {33624}};
  EXPECT_EQ(choose_thresholds(even), (list{312, 1016, 4728, 33624}));
  stubs odd = even;
  odd[1].often = 1000;
  EXPECT_EQ(choose_thresholds(odd), (list{304, 1016, 4728, 33624}));
}

TEST(thresholds, the_least_is_lost) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    stubs needs(1 + random() % 12);
    for (weighed_need &s : needs)
      s = {256 + 8 * static_cast<std::uint32_t>(random() % 200), static_cast<double>(1 + random() % 100)};
    const list found = choose_thresholds(needs);
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    EXPECT_LE(found.size(), std::size_t{NTH_STUB_LIMITS});
    EXPECT_NEAR(loss(needs, found), least_loss(needs), 1e-6) << "round " << round;
  }
}

} // namespace
} // namespace nth::stack::test
