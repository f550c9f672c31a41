// Ranks of a cluster in one process: each has its own slots, its own memory for them and its own negotiator; messages
// are in flight in a queue for each pair of ranks, as MPI keeps their order, and a seed says which arrives next.
//
//   rank 0   slot_store  negotiator  threads' series, purchases that wait
//     | ^
//     v |    flight[from][to]: messages, and series of threads that move
//   rank 1   ...
//
// check() holds at any moment: each slot has one owner, a rank's map, a thread, or a message in flight that brings it.
// Ownership changes when the buyer decides: a settle in flight has been obeyed already, for who counts.
#pragma once

#include "cluster/negotiate.hpp"
#include "os/os.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <list>
#include <memory>
#include <random>
#include <vector>

namespace nth::detail::iso {

// Sees what is in the maps of a store.
struct slot_store_view {
  using bits = std::vector<char>;
  static bits of(slot_map &m) {
    bits in(static_cast<std::size_t>(m.size()));
    for (slot_range r = m.next_run(0, m.size()); r.count > 0; r = m.next_run(r.end(), m.size()))
      std::fill_n(in.begin() + r.first, r.count, char{1});
    return in;
  }
  static bits mine(slot_store &s) { return of(s.mine); }
  static bits late(slot_store &s) { return of(s.late); }
};

} // namespace nth::detail::iso

namespace nth::test {

using namespace nth::detail;
using namespace nth::detail::cluster;
using bits = iso::slot_store_view::bits;

struct shape {
  int ranks{2};
  slot slots{64}; // a rank
  iso::distribution spread{};
  slot prebuy{0};
  std::uint32_t room{0};
  std::uint64_t seed{1};
  unsigned slot_log2{20}; // 64 slots are a window of what the store makes accessible at once
};

// A message, or a thread's series on its way.
struct packet {
  std::vector<char> bytes;
  slot_range series{};

  const message &as_message() const { return *reinterpret_cast<const message *>(bytes.data()); }
  bool is(topic what) const { return !bytes.empty() && as_message().what == what; }
};

struct wish { // a purchase, and what must come of it when that is known
  purchase p;
  bool regroups{false};
};

class simulation;

struct node {
  slot_store store;
  negotiator buyer;
  simulation *all{nullptr};
  int rank{0};
  void *area{nullptr};
  std::vector<slot_range> taken; // by its threads
  std::list<wish> waiting;
};

class simulation {
public:
  explicit simulation(const shape &s)
      : form(s), total(s.slots * s.ranks), random(s.seed), nodes(static_cast<std::size_t>(s.ranks)),
        flight(static_cast<std::size_t>(s.ranks) * static_cast<std::size_t>(s.ranks)) {
    for (int r = 0; r < s.ranks; ++r)
      open(r);
  }
  ~simulation() {
    for (auto &n : nodes) {
      n->buyer.close();
      n->store.close();
      os::release(n->area, area_bytes());
    }
  }
  simulation(const simulation &) = delete;
  simulation &operator=(const simulation &) = delete;

  // ---- What threads do ----

  void take(int r, slot count) { // and buy what is not here
    node &n = at(r);
    slot first = no_slot;
    if (n.store.take(count, first) == taking::ok)
      own(n, {first, count});
    else
      want(r, count);
  }
  void want(int r, slot count) {
    node &n = at(r);
    wish &w = n.waiting.emplace_back();
    w.p.count = count;
    w.regroups = count == 0;
    if (count == 0)
      n.buyer.want_regrouping(w.p);
    else
      n.buyer.want(w.p);
    collect(n);
  }
  void regroup(int r) { want(r, 0); }
  void give(int r, std::size_t which, slot part) { // `part` slots of a series, its first ones
    node &n = at(r);
    const slot_range series = n.taken[which];
    expect_stamps(n, series);
    part = std::min(part, series.count);
    n.store.give(series.first, part);
    forget(n, which);
    if (part < series.count)
      n.taken.push_back({series.first + part, series.count - part});
  }
  void give_all() {
    for (auto &n : nodes) {
      while (!n->taken.empty())
        give(n->rank, n->taken.size() - 1, total);
    }
  }
  void move(int from, int to, std::size_t which) {
    node &n = at(from);
    const slot_range series = n.taken[which];
    expect_stamps(n, series);
    n.store.discard(series.first, series.count);
    forget(n, which);
    if (from == to)
      arrive(n, series);
    else
      pair(from, to).push_back({{}, series});
  }

  // ---- What the network does ----

  bool deliver_any() {
    std::vector<std::size_t> full;
    for (std::size_t i = 0; i < flight.size(); ++i) {
      if (!flight[i].empty())
        full.push_back(i);
    }
    if (full.empty())
      return false;
    const std::size_t i = full[below(full.size())];
    deliver(static_cast<int>(i) / form.ranks, static_cast<int>(i) % form.ranks);
    return true;
  }
  void deliver(int from, int to) {
    auto &queue = pair(from, to);
    const packet p = std::move(queue.front());
    queue.pop_front();
    node &n = at(to);
    if (p.bytes.empty()) {
      arrive(n, p.series);
    } else {
      n.buyer.receive(p.as_message());
      collect(n);
    }
  }
  // Until nothing is in flight; then nobody may wait for anything.
  void drain(bool check_each = false) {
    while (deliver_any()) {
      if (check_each)
        check();
    }
    check();
    for (auto &n : nodes) {
      ASSERT_TRUE(n->waiting.empty()) << "rank " << n->rank << " waits for ever";
      ASSERT_TRUE(n->buyer.is_quiet()) << "rank " << n->rank;
      ASSERT_FALSE(n->store.is_frozen()) << "rank " << n->rank;
      check_counts(*n);
    }
  }

  // ---- What must hold ----

  void check() {
    std::vector<int> owners(static_cast<std::size_t>(total));
    const auto count = [&owners](slot_range r) {
      for (slot s = r.first; s < r.first + r.count; ++s)
        ++owners[static_cast<std::size_t>(s)];
    };
    for (auto &n : nodes) {
      for (const slot_range &r : n->taken) {
        count(r);
        expect_stamps(*n, r);
      }
      const bits mine = owned_by(n->rank);
      const bits late = iso::slot_store_view::late(n->store);
      for (std::size_t s = 0; s < owners.size(); ++s)
        owners[s] += mine[s] + late[s];
    }
    for (auto &queue : flight) {
      for (const packet &p : queue)
        count(p.bytes.empty() ? p.series : p.is(topic::sold) ? p.as_message().run[0] : slot_range{0, 0});
    }
    const auto wrong = std::find_if(owners.begin(), owners.end(), [](int n) { return n != 1; });
    ASSERT_EQ(wrong, owners.end()) << "slot " << wrong - owners.begin() << " has " << *wrong << " owners";
  }

  // When nothing is in flight.
  static void check_counts(node &n) {
    const bits mine = iso::slot_store_view::mine(n.store);
    ASSERT_EQ(n.store.owned(), std::count(mine.begin(), mine.end(), 1)) << "rank " << n.rank;
    slot taken = 0;
    for (const slot_range &r : n.taken)
      taken += r.count;
    ASSERT_EQ(n.store.count().taken, taken) << "rank " << n.rank;
  }

  // The map of a rank, once it has obeyed the settles that are on their way to it.
  bits owned_by(int r) {
    bits mine = iso::slot_store_view::mine(at(r).store);
    int settling = -1;
    for (int from = 0; from < form.ranks; ++from) {
      for (const packet &p : pair(from, r)) {
        if (!p.is(topic::settle))
          continue;
        EXPECT_TRUE(settling == -1 || settling == from) << "two ranks in the critical section";
        settling = from;
        obey(mine, p.as_message());
      }
    }
    return mine;
  }
  // The lowest series of `count` slots in the maps of all ranks together.
  slot lowest(slot count) {
    bits any(static_cast<std::size_t>(total));
    for (auto &n : nodes) {
      const bits mine = iso::slot_store_view::mine(n->store);
      for (std::size_t s = 0; s < any.size(); ++s)
        any[s] = static_cast<char>(any[s] | mine[s]);
    }
    slot length = 0;
    for (slot s = 0; s < total; ++s) {
      length = any[static_cast<std::size_t>(s)] != 0 ? length + 1 : 0;
      if (length == count)
        return s - count + 1;
    }
    return no_slot;
  }
  negotiation_numbers sum() {
    negotiation_numbers all{};
    for (auto &n : nodes) {
      const negotiation_numbers one = n->buyer.count();
      static_assert(sizeof(one) % sizeof(long) == 0);
      long from[sizeof(one) / sizeof(long)];
      long to[sizeof(one) / sizeof(long)];
      std::memcpy(from, &one, sizeof(one));
      std::memcpy(to, &all, sizeof(all));
      for (std::size_t i = 0; i < std::size(from); ++i)
        to[i] += from[i];
      std::memcpy(&all, to, sizeof(all));
    }
    EXPECT_EQ(all.purchases, all.local + all.from_one + all.system_wide + all.failed + all.refused);
    return all;
  }

  node &at(int r) { return *nodes[static_cast<std::size_t>(r)]; }
  std::deque<packet> &pair(int from, int to) {
    return flight[static_cast<std::size_t>(from * form.ranks + to)];
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random() % n); }
  int any_rank() { return static_cast<int>(below(nodes.size())); }

  // What became of the purchase that was done last.
  taking last_result{taking::ok};
  slot last_first{no_slot};

  const shape form;
  const slot total;

private:
  std::size_t area_bytes() const { return static_cast<std::size_t>(total) << form.slot_log2; }

  void open(int r) {
    auto &n = nodes[static_cast<std::size_t>(r)] = std::make_unique<node>();
    n->all = this;
    n->rank = r;
    n->area = os::reserve(nullptr, area_bytes(), std::size_t{1} << form.slot_log2);
    iso::slot_setting s;
    s.base = reinterpret_cast<std::uintptr_t>(n->area);
    s.bytes = area_bytes();
    s.slot_log2 = form.slot_log2;
    s.rank = r;
    s.ranks = form.ranks;
    s.spread = form.spread;
    s.cache = 8;
    EXPECT_TRUE(n->area != nullptr && n->store.open(s, true));
    EXPECT_TRUE(n->buyer.open(n->store, r, form.ranks, form.prebuy, {carry, n.get()}, form.room));
  }

  static void carry(void *context, int to, const message &m) noexcept {
    auto *n = static_cast<node *>(context);
    EXPECT_EQ(m.from, n->rank);
    const auto *begin = reinterpret_cast<const char *>(&m);
    n->all->pair(n->rank, to)
        .push_back({std::vector<char>(begin, begin + message_bytes(std::max(m.runs, 1U))), {}});
  }

  static void obey(bits &mine, const message &m) {
    const auto fill = [&mine](slot_range r, char value) {
      std::fill_n(mine.begin() + r.first, r.count, value);
    };
    if (m.count > 0)
      fill({m.first, m.count}, 0);
    for (std::uint32_t i = 0; i < m.runs; ++i)
      fill(m.run[i], m.count > 0 ? 1 : 0);
  }

  void collect(node &n) {
    for (auto w = n.waiting.begin(); w != n.waiting.end();) {
      if (!w->p.done.load()) {
        ++w;
        continue;
      }
      last_result = w->p.result;
      last_first = w->p.first;
      if (w->p.result == taking::ok && w->p.count > 0)
        own(n, {w->p.first, w->p.count});
      w = n.waiting.erase(w);
    }
  }
  void arrive(node &n, slot_range series) {
    ASSERT_TRUE(n.store.commit(series.first, series.count));
    own(n, series);
  }
  void own(node &n, slot_range series) {
    n.taken.push_back(series);
    for (slot s = series.first; s < series.first + series.count; ++s)
      stamp(n, s) = stamp_of(n, s);
  }
  static void forget(node &n, std::size_t which) {
    n.taken[which] = n.taken.back();
    n.taken.pop_back();
  }
  static slot &stamp(node &n, slot s) { return *reinterpret_cast<slot *>(n.store.address_of(s)); }
  static slot stamp_of(const node &n, slot s) { return s * 16 + n.rank + 1; }
  // Nobody has taken the memory of a slot in use.
  static void expect_stamps(node &n, slot_range series) {
    for (slot s = series.first; s < series.first + series.count; ++s) {
      if (stamp(n, s) != stamp_of(n, s))
        FAIL() << "slot " << s << ", in use on rank " << n.rank << ", has lost its memory";
    }
  }

  std::mt19937_64 random;
  std::vector<std::unique_ptr<node>> nodes;
  std::vector<std::deque<packet>> flight;
};

} // namespace nth::test
