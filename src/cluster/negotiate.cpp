// The negotiator: memory, messages, and the queue of purchases.
#include "cluster/negotiate.hpp"

#include "base/error.hpp"
#include "os/os.hpp"

#include <new>

namespace nth::detail::cluster {

namespace {

constexpr std::size_t most_gathered = std::size_t{1} << 20; // series of all ranks at once: 16 MiB
constexpr std::size_t least_room = 16;                      // of one rank

std::size_t rounded(std::size_t bytes) noexcept { return (bytes + 63) / 64 * 64; }

std::uint32_t sensible_room(std::size_t ranks) noexcept {
  const std::size_t share = most_gathered / ranks;
  return static_cast<std::uint32_t>(share > most_runs ? most_runs : share < least_room ? least_room : share);
}

} // namespace

bool negotiator::open(slot_store &slots, int own_rank, int all_ranks, slot extra, carrier by,
                      std::uint32_t room) noexcept {
  NTH_ASSERT(memory == nullptr && room <= most_runs);
  const auto count = static_cast<std::size_t>(all_ranks);
  list_room = room > 0 ? room : sensible_room(count);
  const std::size_t for_peers = rounded(count * sizeof(peer));
  const std::size_t for_ring = rounded(count * sizeof(int));
  const std::size_t for_draft = rounded(message_bytes(most_runs));
  memory_bytes = for_peers + for_ring + for_draft + count * list_room * sizeof(slot_range);
  memory = os::map_pages(memory_bytes);
  if (memory == nullptr)
    return false;
  auto *at_bytes = static_cast<char *>(memory);
  peers = reinterpret_cast<peer *>(at_bytes);
  section.place(reinterpret_cast<int *>(at_bytes + for_peers), all_ranks);
  draft = new (at_bytes + for_peers + for_ring) message;
  gathered = reinterpret_cast<slot_range *>(at_bytes + for_peers + for_ring + for_draft);

  store = &slots;
  rank = own_rank;
  ranks = all_ranks;
  prebuy = extra;
  out = by;
  const slot longest = slots.setting().spread.longest_series(slots.size(), all_ranks);
  for (std::size_t i = 0; i < count; ++i)
    peers[i].longest = longest;
  return true;
}

void negotiator::close() noexcept {
  if (memory != nullptr)
    os::unmap_pages(memory, memory_bytes);
  *this = negotiator{};
}

bool negotiator::is_quiet() const noexcept {
  return head == nullptr && frozen_by == nobody && section.is_free();
}

// ---- Messages --------------------------------------------------------------------------------------

void negotiator::send(int to, topic what, slot first, slot count, std::uint32_t runs, bool more) noexcept {
  NTH_ASSERT(to != rank && runs <= most_runs);
  draft->what = what;
  draft->more = more;
  draft->from = rank;
  draft->runs = runs;
  draft->first = first;
  draft->count = count;
  draft->longest = store->longest();
  ++numbers.sent[static_cast<std::size_t>(what)];
  numbers.bytes_sent += static_cast<long>(message_bytes(runs));
  out.send(out.context, to, *draft);
}

void negotiator::receive(const message &m) noexcept {
  ++numbers.received[static_cast<std::size_t>(m.what)];
  numbers.bytes_received += static_cast<long>(message_bytes(m.runs));
  peers[m.from].longest = m.longest;
  switch (m.what) {
  case topic::buy:
    sell(m);
    break;
  case topic::sold:
    take_delivery(m);
    break;
  case topic::enter:
    server_enters(m.from);
    break;
  case topic::grant:
    granted = true;
    if (frozen_by != nobody)
      ++numbers.postponed;
    break;
  case topic::leave:
    server_leaves(m.from);
    break;
  case topic::gather:
    be_gathered(m.from, m.first, m.count);
    break;
  case topic::list:
    add_list(m);
    break;
  case topic::settle:
    be_settled(m);
    break;
  }
  advance();
}

// ---- The queue -------------------------------------------------------------------------------------

void negotiator::want(purchase &p) noexcept {
  p.next = nullptr;
  if (p.count > store->size()) {
    finish(p, taking::none);
    return;
  }
  if (p.count == 0)
    ++numbers.regroupings;
  else if (frozen_by == nobody && done_locally(p))
    return;
  (head == nullptr ? head : tail->next) = &p;
  tail = &p;
  advance();
}

bool negotiator::done_locally(purchase &p) noexcept {
  if (p.count == 0)
    return false;
  const taking result = store->take(p.count, p.first);
  if (result == taking::none || result == taking::frozen)
    return false;
  numbers.local += result == taking::ok;
  finish(p, result);
  return true;
}

// Begins with the first of the queue, unless this rank is frozen: then when it is thawed. Each turn takes a purchase
// one stage further, or returns.
void negotiator::advance() noexcept {
  while (head != nullptr && frozen_by == nobody) {
    if (at == stage::idle) {
      purchase &first = *head;
      purchase *second = first.next; // `first` may be gone when it is done
      if (done_locally(first)) {
        head = second;
      } else if (!buy()) {
        enter();
      }
    } else if (at == stage::entering && granted) {
      granted = false;
      purchase *second = head->next;
      if (done_locally(*head)) {
        head = second;
        at = stage::idle;
        leave();
      } else {
        begin_gathering();
      }
    } else {
      return;
    }
  }
}

// This rank has just been thawed: what was given meanwhile may do for some. The one that is under way stays so, for its
// messages are.
void negotiator::serve_queue() noexcept {
  slot least_refused = store->size() + 1;
  purchase *last = nullptr;
  purchase **link = &head;
  if (at != stage::idle && head != nullptr) {
    last = head;
    link = &head->next;
  }
  while (*link != nullptr) {
    purchase *p = *link;
    purchase *next = p->next;
    const slot count = p->count;
    if (count < least_refused && done_locally(*p)) {
      *link = next;
      continue;
    }
    if (count > 0 && count < least_refused)
      least_refused = count;
    last = p;
    link = &p->next;
  }
  tail = last;
}

purchase &negotiator::pop() noexcept {
  purchase &p = *head;
  head = p.next;
  return p;
}

// After this `p` may be gone, for it lies on the stack of who reads `done`.
void negotiator::finish(purchase &p, taking result) noexcept {
  if (p.count > 0)
    ++numbers.purchases;
  numbers.failed += result == taking::none;
  numbers.refused += result == taking::no_memory;
  if (result != taking::ok)
    p.first = no_slot;
  p.result = result;
  p.done.store(true, std::memory_order_release);
}

} // namespace nth::detail::cluster
