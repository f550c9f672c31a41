// Regrouping (paper 004, section 4.4, at its end): inside the critical section, window by window, each rank gets as
// many of the free slots as it had, but side by side.
//
//   before   0 1 2 . 0 1 2 0 1 2 . 0       . in use
//   after    0 0 0 . 0 1 1 1 2 2 . 2
//
// In the order of the ranks, in which the partitioned distribution has them, so that there little moves. Each other
// window goes from the last rank to the first: what a rank gets at the end of one window continues in the next.
#include "cluster/negotiate.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace nth::detail::cluster {

// True: that was the last one.
bool negotiator::regroup_window() noexcept {
  for (int r = 0; r < ranks; ++r) {
    peers[r].share = 0;
    const slot_range *list = gathered + peers[r].list;
    for (std::uint32_t i = 0; i < peers[r].list_runs && list[i].first < covered; ++i)
      peers[r].share += std::min(list[i].count, covered - list[i].first);
  }
  share_out();
  upward = !upward;
  window = covered;
  if (window < store->size())
    return false;
  end_gathering(taking::ok);
  return true;
}

void negotiator::share_out() noexcept {
  std::sort(gathered, gathered + gathered_runs,
            [](const slot_range &a, const slot_range &b) { return a.first < b.first; });
  std::size_t next = 0;
  for (int i = 0; i < ranks; ++i) {
    const int to = upward ? i : ranks - 1 - i;
    deal(to, peers[to].share, next);
  }
}

// Gives `amount` slots, from gathered[next] on, to one rank. More series than a message shall hold: the window is cut where
// they are.
void negotiator::deal(int to, slot amount, std::size_t &next) noexcept {
  slot begin = window;
  std::uint32_t runs = 0;
  while (amount > 0) {
    slot_range &from = gathered[next];
    const slot part = std::min(amount, from.count);
    slot_range *last = runs > 0 ? draft->run + runs - 1 : nullptr;
    if (last != nullptr && last->first + last->count == from.first) {
      last->count += part;
    } else {
      if (runs == list_room) {
        settle_window(to, begin, last->first + last->count, runs, true);
        runs = 0;
      }
      draft->run[runs++] = {from.first, part};
    }
    from.first += part;
    from.count -= part;
    amount -= part;
    next += from.count == 0;
  }
  settle_window(to, begin, covered, runs, covered < store->size());
}

// [begin, end) of the window; `begin` goes on to its end.
void negotiator::settle_window(int to, slot &begin, slot end, std::uint32_t runs, bool more) noexcept {
  if (to != rank)
    send(to, topic::settle, begin, end - begin, runs, more);
  else
    store->replace({begin, end - begin}, draft->run, runs);
  begin = end;
}

} // namespace nth::detail::cluster
