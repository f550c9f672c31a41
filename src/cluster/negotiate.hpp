// Buying slots from other ranks (paper 004, section 4.4).
//
// First, a purchase from one rank of which it is known that it may have the series: one round trip.
//
//   buyer                seller
//     | -- buy n, extra --> |  takes the series out of its map
//     | <-- sold [f, f+n) - |  or: none, and how long its longest is
//
// Else the paper's way:
//
//   (a) enter the system-wide critical section: rank 0 grants it to one rank after the other
//   (b) gather: every other rank freezes its map, and lists its series from a slot on
//   (c) or  (d) first fit: the lowest series of all lists together; none: gather on, from where the lists end
//   (e) send back what was bought: who owns part of it gives that up, and all thaw
//   (f) leave the critical section
//
// Its messages, with one round of lists: enter, grant, leave, and to or from each other rank gather, list, settle:
// 3 (P - 1) + 3; three less when rank 0 buys. A further round: 2 (P - 1). One rank at a time regroups or buys so.
//
// A state machine without waiting: it acts when a message arrives or a purchase is asked for, so whoever polls drives
// the purchases of all threads of its rank. One purchase is under way at a time; the others wait in a queue.
// Called by one kernel thread at a time (cluster/progress locks).
//
// Argument, each slot has one owner. Ownership changes in two places. A seller takes what it sells out of its map
// before it sends it. In the critical section the initiator decides, and from then on owns what it bought, before its
// settle arrives: what the lists named stays in its owners' maps, frozen, until that settle comes. So
// (1) a rank that is frozen by one initiator answers no other one (messages of different senders overtake each other,
//     and the lists must not name what was bought): such a gather waits, one at most, for its sender is in the critical
//     section; and so does a grant;
// (2) what comes to a frozen rank (given, bought, an arriving thread's) must not be mixed with what its map holds: it
//     may be the very slot that the settle takes away. slot_store keeps it apart.
// Argument, no deadlock. Every rank answers buy at once, and gather at once or when a settle comes that has been sent
// already. A rank in the critical section waits for lists alone; so it leaves, and rank 0 lets the next one in.
// Guarded by test/cluster/negotiate_test.cpp.
#pragma once

#include "cluster/critical_section.hpp"
#include "iso/slots.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nth::detail::cluster {

using iso::no_slot;
using iso::slot;
using iso::slot_range;
using iso::slot_store;
using iso::taking;

// Lies on the stack of who wants the slots, until `done`.
struct purchase {
  slot count{0};
  slot first{no_slot};       // when done and ok: they are taken, as by slot_store::take
  taking result{taking::ok}; // ok, none, no_memory
  std::atomic<bool> done{false};
  purchase *next{nullptr};
};

enum class topic : std::uint8_t {
  buy,    // count; first: how many more are welcome
  sold,   // run[0]; none: count is 0
  enter,  // to rank 0
  grant,  // from rank 0
  leave,  // to rank 0
  gather, // from slot `first` on, at most `count` series; the receiver freezes
  list,   // the runs, complete up to slot `first`
  settle // the receiver gives up what it has of the runs, or, with a window [first, first + count), has these alone
         // in it; then, unless `more`, it thaws
};
constexpr std::size_t topics = 8;

// As it crosses the network: the head and `runs` ranges. All ranks have the same representation (cluster/agree).
struct message {
  topic what{};
  bool more{false};
  std::int32_t from{0};
  std::uint32_t runs{0};
  slot first{0};
  slot count{0};
  slot longest{0};   // in the sender's map: a hint for later purchases
  slot_range run[1]; // and more behind it
};
constexpr std::size_t most_runs = 2048; // of one message
constexpr std::size_t message_bytes(std::size_t runs) noexcept {
  return offsetof(message, run) + runs * sizeof(slot_range);
}

// Carries a message; the bytes are the sender's again when it returns. It must not call the negotiator. Messages from
// one rank to another arrive in order; no rank sends to itself.
struct carrier {
  void (*send)(void *context, int to, const message &m) noexcept;
  void *context;
};

// purchases = local + from_one + system_wide + failed + refused
struct negotiation_numbers {
  long purchases;    // done, of all kinds
  long local;        // no other rank was needed, at once or after a while
  long from_one;     // by one round trip
  long system_wide;  // by the critical section
  long failed;       // no rank had such a series
  long refused;      // the kernel had no memory
  long sales;        // by one round trip, to others
  long slots_sold;   // to others, either way
  long regroupings;  // begun here
  long entries;      // of the critical section
  long rounds;       // of lists, gathered here
  long postponed;    // gathers and grants that overtook a settle
  long sent[topics]; // messages
  long received[topics];
  long bytes_sent;
  long bytes_received;
};

class negotiator {
public:
  // Memory for tables of P ranks. False: none. `room`: series in one rank's list; 0: as many as is sensible.
  bool open(slot_store &slots, int own_rank, int all_ranks, slot extra, carrier by,
            std::uint32_t room = 0) noexcept;
  void close() noexcept;

  void want(purchase &p) noexcept;
  // Regroups the free slots of all ranks: each has as many as before, side by side as far as can be. `p.count` is 0.
  void want_regrouping(purchase &p) noexcept { want(p); }
  void receive(const message &m) noexcept;
  // Nothing is under way here, and no other rank has frozen this one.
  bool is_quiet() const noexcept;
  negotiation_numbers count() const noexcept { return numbers; }

private:
  // Of the first purchase of the queue.
  //
  //   idle --> buying --(none)--> entering --(grant)--> gathering --> done
  //     |         +--> done           +--> done: slots have come meanwhile
  //     +---------------------------> : no rank is known to have them
  enum class stage : std::uint8_t { idle, buying, entering, gathering };

  struct peer {
    slot longest;       // it may have such a series
    slot share;         // regrouping: slots it has in the window
    std::uint32_t list; // in `gathered`
    std::uint32_t list_runs;
  };

  // negotiate.cpp
  void send(int to, topic what, slot first = 0, slot count = 0, std::uint32_t runs = 0,
            bool more = false) noexcept;
  void advance() noexcept;
  bool done_locally(purchase &p) noexcept;
  void serve_queue() noexcept;
  purchase &pop() noexcept;
  void finish(purchase &p, taking result) noexcept;

  // buy.cpp
  int likely_seller(slot count) const noexcept;
  bool buy() noexcept;
  void sell(const message &m) noexcept;
  taking commit(slot_range bought, purchase &p) noexcept;
  void take_delivery(const message &m) noexcept;

  // section.cpp
  void enter() noexcept;
  void leave() noexcept;
  void server_enters(int who) noexcept;
  void server_leaves(int who) noexcept;
  void grant(int to) noexcept;
  void be_gathered(int by, slot from, slot room) noexcept;
  void answer(slot from, slot room) noexcept;
  void be_settled(const message &m) noexcept;
  void apply(const message &m) noexcept;

  // gather.cpp
  void begin_gathering() noexcept;
  void gather() noexcept;
  void add_list(const message &m) noexcept;
  void append(peer &of, std::size_t runs, slot complete) noexcept;
  bool conclude_round() noexcept;
  bool search(slot_range &found) noexcept;
  void settle_purchase(slot_range bought) noexcept;
  void end_gathering(taking result) noexcept;

  // regroup.cpp
  bool regroup_window() noexcept;
  void share_out() noexcept;
  void deal(int to, slot amount, std::size_t &next) noexcept;
  void settle_window(int to, slot &begin, slot end, std::uint32_t runs, bool more) noexcept;

  slot_store *store{nullptr};
  int rank{0};
  int ranks{1};
  slot prebuy{0};
  carrier out{nullptr, nullptr};
  negotiation_numbers numbers{};

  void *memory{nullptr};
  std::size_t memory_bytes{0};
  peer *peers{nullptr};
  message *draft{nullptr}; // what is sent is written here

  // ---- Purchases of this rank ----
  purchase *head{nullptr};
  purchase *tail{nullptr};
  stage at{stage::idle};
  bool granted{false};

  // ---- Who has frozen this rank, itself or another ----
  static constexpr int nobody = critical_section::nobody;
  int frozen_by{nobody};
  int gather_from{nobody}; // a gather that waits for the settle of frozen_by
  slot gather_first{0};
  slot gather_room{0};

  critical_section section; // rank 0's

  // ---- In the critical section ----
  slot_range *gathered{nullptr}; // lists of all ranks, one behind the other; sorted when complete
  std::size_t gathered_runs{0};
  std::uint32_t round_room{0}; // of this round
  std::uint32_t list_room{0};
  int missing{0}; // lists that have not come
  slot window{0}; // what the lists tell of: [window, covered)
  slot covered{0};
  slot_range reaching{}; // the last series of the windows before
  bool upward{true};     // regrouping: which rank is first in this window
};

} // namespace nth::detail::cluster
