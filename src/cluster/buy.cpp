// A purchase from one rank, by one round trip: both sides of it.
#include "cluster/negotiate.hpp"

#include "base/error.hpp"

namespace nth::detail::cluster {

// Of those that may have `count` slots side by side the one with the longest series; of equals the next after this
// rank, so that not all ranks buy from the same.
int negotiator::likely_seller(slot count) const noexcept {
  int best = nobody;
  for (int i = 1; i < ranks; ++i) {
    const int r = (rank + i) % ranks;
    if (peers[r].longest >= count && (best == nobody || peers[r].longest > peers[best].longest))
      best = r;
  }
  return best;
}

// False: no rank is known to have it.
bool negotiator::buy() noexcept {
  const int seller = head->count > 0 ? likely_seller(head->count) : nobody;
  if (seller == nobody)
    return false;
  at = stage::buying;
  send(seller, topic::buy, prebuy, head->count);
  return true;
}

void negotiator::sell(const message &m) noexcept {
  const slot_range sold = store->sell(m.count, m.first);
  draft->run[0] = sold;
  numbers.sales += sold.count > 0;
  numbers.slots_sold += sold.count;
  send(m.from, topic::sold, 0, sold.count, 1);
}

// The first slots of what was bought are the purchase's, the others this rank's.
taking negotiator::commit(slot_range bought, purchase &p) noexcept {
  if (!store->commit(bought.first, p.count)) {
    store->add(bought);
    return taking::no_memory;
  }
  p.first = bought.first;
  if (bought.count > p.count)
    store->add({bought.first + p.count, bought.count - p.count});
  return taking::ok;
}

void negotiator::take_delivery(const message &m) noexcept {
  NTH_ASSERT(at == stage::buying);
  if (m.count == 0) {
    enter();
    return;
  }
  purchase &p = pop();
  at = stage::idle;
  const taking result = commit(m.run[0], p);
  numbers.from_one += result == taking::ok;
  finish(p, result);
}

} // namespace nth::detail::cluster
