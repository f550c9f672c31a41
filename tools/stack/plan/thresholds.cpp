// The least sum of often * (threshold - need) / need over all stubs, by dynamic programming over the different needs:
// between its need and its threshold a stub asks for nothing, and that is dearest where the callee does little, which
// has a small need.
#include "plan/make_plan.hpp"

#include "nth/growth.h"

#include <algorithm>
#include <limits>

namespace nth::stack {

std::vector<std::uint32_t> choose_thresholds(std::vector<weighed_need> needs) {
  if (needs.empty())
    return {NTH_STUB_STACK};
  std::sort(needs.begin(), needs.end(), [](const auto &a, const auto &b) { return a.need < b.need; });
  std::vector<std::uint32_t> value; // different needs, ascending
  std::vector<double> weight;       // of stubs with at most that need
  std::vector<double> sum;          // of their needs, by weight
  for (const weighed_need &s : needs) {
    if (value.empty() || value.back() != s.need) {
      value.push_back(s.need);
      weight.push_back(weight.empty() ? 0 : weight.back());
      sum.push_back(sum.empty() ? 0 : sum.back());
    }
    weight.back() += s.often / std::max<std::uint32_t>(s.need, 1);
    sum.back() += s.often;
  }
  const std::size_t n = value.size();
  // What stubs [from, to] lose with value[to] as their threshold.
  const auto loss = [&](std::size_t from, std::size_t to) {
    const double before = from == 0 ? 0 : weight[from - 1];
    const double sum_before = from == 0 ? 0 : sum[from - 1];
    return (weight[to] - before) * value[to] - (sum[to] - sum_before);
  };
  constexpr double impossible = std::numeric_limits<double>::infinity();
  const std::size_t most = std::min<std::size_t>(NTH_STUB_LIMITS, n);
  // least[k][i]: of stubs 0 … i with k + 1 thresholds, the last of them value[i]; begin: where its part begins.
  std::vector<std::vector<double>> least(most, std::vector<double>(n, impossible));
  std::vector<std::vector<std::size_t>> begin(most, std::vector<std::size_t>(n, 0));
  for (std::size_t i = 0; i < n; ++i)
    least[0][i] = loss(0, i);
  for (std::size_t k = 1; k < most; ++k)
    for (std::size_t i = k; i < n; ++i)
      for (std::size_t from = k; from <= i; ++from)
        if (const double l = least[k - 1][from - 1] + loss(from, i); l < least[k][i]) {
          least[k][i] = l;
          begin[k][i] = from;
        }
  std::vector<std::uint32_t> thresholds;
  for (std::size_t k = most, i = n - 1; k-- > 0;) {
    thresholds.insert(thresholds.begin(), value[i]);
    if (k > 0)
      i = begin[k][i] - 1;
  }
  return thresholds;
}

} // namespace nth::stack
