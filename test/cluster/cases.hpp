// What the tests of single cases share: clusters of a few ranks, and what is left where.
#pragma once

#include "simulation.hpp"

namespace nth::test {

inline long all_of(const long (&by_topic)[topics]) {
  long n = 0;
  for (const long one : by_topic)
    n += one;
  return n;
}

inline long sent(simulation &s, topic what) { return s.sum().sent[static_cast<std::size_t>(what)]; }

inline iso::distribution spread_of(iso::spread kind, slot series = 1) {
  iso::distribution d;
  d.kind = kind;
  d.series = series;
  return d;
}

inline shape of(int ranks, iso::spread kind) {
  shape f;
  f.ranks = ranks;
  f.spread = spread_of(kind);
  return f;
}

// All slots of the area, one by one, on their ranks.
inline void take_everything(simulation &s) {
  for (int r = 0; r < s.form.ranks; ++r) {
    for (slot i = 0; i < s.form.slots; ++i)
      s.take(r, 1);
  }
}

// Gives back those slots of rank r that `which` names.
template <class Which>
void give_back(simulation &s, int r, Which which) {
  for (std::size_t i = s.at(r).taken.size(); i-- > 0;) {
    if (which(s.at(r).taken[i].first))
      s.give(r, i, 1);
  }
}

inline slot free_slots(simulation &s, int r) {
  const bits mine = s.owned_by(r);
  return static_cast<slot>(std::count(mine.begin(), mine.end(), 1));
}

inline slot longest_of(simulation &s, int r) {
  slot longest = 0;
  slot length = 0;
  for (const char b : s.owned_by(r)) {
    length = b != 0 ? length + 1 : 0;
    longest = std::max(longest, length);
  }
  return longest;
}

} // namespace nth::test
