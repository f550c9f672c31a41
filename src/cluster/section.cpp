// In and out of the critical section, and what the other ranks do meanwhile: freeze, list, settle, thaw.
#include "cluster/negotiate.hpp"

#include "base/error.hpp"

namespace nth::detail::cluster {

// ---- Entering and leaving: rank 0's part and the others' -------------------------------------------

void negotiator::enter() noexcept {
  at = stage::entering;
  if (rank == 0)
    server_enters(rank);
  else
    send(0, topic::enter);
}

void negotiator::leave() noexcept {
  if (rank == 0)
    server_leaves(rank);
  else
    send(0, topic::leave);
}

void negotiator::server_enters(int who) noexcept { grant(section.enter(who)); }

void negotiator::server_leaves(int who) noexcept { grant(section.leave(who)); }

void negotiator::grant(int to) noexcept {
  if (to == nobody)
    return;
  if (to != rank) {
    send(to, topic::grant);
    return;
  }
  granted = true;
  if (frozen_by != nobody)
    ++numbers.postponed;
}

// ---- Frozen by another rank ------------------------------------------------------------------------

void negotiator::be_gathered(int by, slot from, slot room) noexcept {
  if (frozen_by == nobody || frozen_by == by) {
    if (frozen_by == nobody) {
      store->freeze();
      frozen_by = by;
    }
    answer(from, room);
    return;
  }
  // It has overtaken the settle of who froze this rank, and left the critical section (1).
  NTH_ASSERT(frozen_by != rank && gather_from == nobody);
  ++numbers.postponed;
  gather_from = by;
  gather_first = from;
  gather_room = room;
}

void negotiator::answer(slot from, slot room) noexcept {
  slot complete = 0;
  const std::size_t runs = store->list(from, draft->run, static_cast<std::size_t>(room), complete);
  send(frozen_by, topic::list, complete, 0, static_cast<std::uint32_t>(runs));
}

void negotiator::apply(const message &m) noexcept {
  if (m.count > 0) {
    store->replace({m.first, m.count}, m.run, m.runs);
    return;
  }
  for (std::uint32_t i = 0; i < m.runs; ++i)
    numbers.slots_sold += store->remove(m.run[i]);
}

void negotiator::be_settled(const message &m) noexcept {
  NTH_ASSERT(frozen_by == m.from);
  apply(m);
  if (m.more)
    return;
  frozen_by = nobody;
  store->thaw();
  serve_queue();
  if (gather_from == nobody)
    return;
  // What waits here is begun first, or ranks that negotiate one after the other could keep it waiting for ever.
  advance();
  NTH_ASSERT(frozen_by == nobody);
  const int by = gather_from;
  gather_from = nobody;
  be_gathered(by, gather_first, gather_room);
}

} // namespace nth::detail::cluster
