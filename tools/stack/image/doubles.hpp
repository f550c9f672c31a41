// Sorted vectors without doubles.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

namespace nth::stack {

// Of neighbours with the same key, the first stays. (Not std::ranges::unique, whose result clang 14 can't compile with
// libstdc++ 12.)
template <typename T, typename Key = std::identity>
void drop_doubles(std::vector<T> &sorted, Key key = {}) {
  const auto same = [&](const T &a, const T &b) { return std::invoke(key, a) == std::invoke(key, b); };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
}

} // namespace nth::stack
