// In the critical section: the lists of all ranks, round by round, and the lowest series that they make up together.
#include "cluster/negotiate.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cstring>

namespace nth::detail::cluster {

namespace {

// Series in one rank's list, of a purchase's first round: free slots are most often found early, and short lists are
// quick. Later rounds have longer ones.
constexpr std::uint32_t first_room = 64;

} // namespace

void negotiator::begin_gathering() noexcept {
  ++numbers.entries;
  at = stage::gathering;
  NTH_ASSERT(frozen_by == nobody);
  store->freeze();
  frozen_by = rank;
  window = 0;
  reaching = slot_range{0, 0};
  upward = true;
  round_room = list_room;
  if (head->count != 0 && round_room > first_room)
    round_room = first_room;
  gather();
}

// Asks for the lists from `window` on. Alone, it goes on by itself.
void negotiator::gather() noexcept {
  do {
    ++numbers.rounds;
    missing = ranks - 1;
    gathered_runs = 0;
    covered = store->size();
    for (int r = 0; r < ranks; ++r) {
      if (r != rank)
        send(r, topic::gather, window, round_room);
    }
    slot complete = 0;
    const std::size_t runs = store->list(window, gathered, round_room, complete);
    append(peers[rank], runs, complete);
  } while (missing == 0 && !conclude_round());
}

// The runs are there already, behind the others.
void negotiator::append(peer &of, std::size_t runs, slot complete) noexcept {
  of.list = static_cast<std::uint32_t>(gathered_runs);
  of.list_runs = static_cast<std::uint32_t>(runs);
  gathered_runs += runs;
  covered = std::min(covered, complete);
}

void negotiator::add_list(const message &m) noexcept {
  NTH_ASSERT(at == stage::gathering && missing > 0 && m.runs <= round_room);
  std::memcpy(gathered + gathered_runs, m.run, m.runs * sizeof(slot_range));
  append(peers[m.from], m.runs, m.first);
  if (--missing == 0 && !conclude_round())
    gather();
}

// All lists of this round are here. False: another round is needed, from `window` on.
bool negotiator::conclude_round() noexcept {
  NTH_ASSERT(covered > window);
  if (head->count == 0)
    return regroup_window();
  slot_range found{};
  if (!search(found)) {
    if (covered < store->size()) {
      window = covered;
      round_room = round_room < list_room / 4 ? round_room * 4 : list_room;
      return false;
    }
    settle_purchase({0, 0});
    end_gathering(taking::none);
    return true;
  }
  settle_purchase(found);
  const taking result = commit(found, *head);
  numbers.system_wide += result == taking::ok;
  end_gathering(result);
  return true;
}

// First fit in the window, and what reaches up to it from below; with what is free right behind, up to `prebuy`.
// Lists are disjoint, for a slot has one owner: so their union is the sorted runs, joined where they touch.
bool negotiator::search(slot_range &found) noexcept {
  std::sort(gathered, gathered + gathered_runs,
            [](const slot_range &a, const slot_range &b) { return a.first < b.first; });
  slot_range series = reaching;
  for (std::size_t i = 0; i < gathered_runs && gathered[i].first < covered; ++i) {
    const slot_range run = gathered[i];
    if (run.first != series.first + series.count) {
      if (series.count >= head->count)
        break;
      series = slot_range{run.first, 0};
    }
    series.count += std::min(run.count, covered - run.first);
  }
  if (series.count >= head->count) {
    found = {series.first, std::min(series.count, head->count + prebuy)};
    return true;
  }
  reaching = series; // or does not reach so far, and then nothing continues it
  return false;
}

// From here on the slots are this rank's: the others are frozen, and do as the message says. It names what was bought,
// not who had what of it: a series may have come together from many rounds, and each rank knows what it has itself.
void negotiator::settle_purchase(slot_range bought) noexcept {
  const std::uint32_t runs = bought.count > 0;
  draft->run[0] = bought;
  for (int r = 0; r < ranks; ++r) {
    if (r != rank)
      send(r, topic::settle, 0, 0, runs);
  }
  if (runs > 0)
    store->remove(bought); // this rank's part
}

void negotiator::end_gathering(taking result) noexcept {
  purchase &p = pop();
  at = stage::idle;
  frozen_by = nobody;
  store->thaw();
  leave();
  finish(p, result);
  serve_queue();
}

} // namespace nth::detail::cluster
