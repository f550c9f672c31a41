#include "cluster/pieces.hpp"

#include "base/spinlock.hpp"
#include "cluster/progress.hpp"
#include "memory/stack.hpp"
#include "os/os.hpp"
#include "thread/desc_memory.hpp"
#include "thread/outside.hpp"

#include <atomic>
#include <cstdint>

namespace nth::detail::cluster {

namespace {

constexpr std::uint64_t chain_pieces = 64;

struct piece_chain {
  std::uint64_t count;
  void *piece[chain_pieces];
};

spinlock chains_lock;
piece_chain *chains; // [ranks], zero until used
std::size_t chains_bytes;
std::atomic<long> waiting{0};

// As the rank's own lists take what has come home from elsewhere.
void take_home(void *object) noexcept {
  const unsigned r = the_area.region_of(reinterpret_cast<std::uintptr_t>(object));
  if (r < stack_regions) {
    chain<stack_top> one;
    one.push(static_cast<stack_top *>(object));
    the_stacks.put(r, one, the_area.node_of(object));
    return;
  }
  outside_scope outside;
  release_desc(outside.get(), static_cast<nth_desc *>(object));
}

void read_pieces(const envelope &e) noexcept {
  const auto *c = static_cast<const piece_chain *>(e.data);
  for (std::uint64_t i = 0; i < c->count; ++i)
    take_home(c->piece[i]);
}

void send_chain(int to, const piece_chain &c) noexcept {
  with_transport([&] {
    transport::send(to, channel::pieces, &c, offsetof(piece_chain, piece) + c.count * sizeof(void *));
  });
}

// Takes the chain for a rank, if it has `least` pieces.
bool take_chain(int rank, std::uint64_t least, piece_chain &to) noexcept {
  lock_scope scope(chains_lock);
  piece_chain &c = chains[rank];
  if (c.count < least)
    return false;
  to = c;
  c.count = 0;
  waiting.fetch_sub(static_cast<long>(to.count), std::memory_order_relaxed);
  return true;
}

} // namespace

bool open_pieces() noexcept {
  chains_bytes = sizeof(piece_chain) * static_cast<std::size_t>(transport::ranks());
  chains = static_cast<piece_chain *>(os::map_pages(chains_bytes));
  set_reader(channel::pieces, read_pieces);
  return chains != nullptr;
}

void close_pieces() noexcept {
  os::unmap_pages(chains, chains_bytes);
  chains = nullptr;
}

void return_piece(void *object) noexcept {
  const int home = the_area.rank_of(object);
  piece_chain full;
  {
    lock_scope scope(chains_lock);
    piece_chain &c = chains[home];
    c.piece[c.count++] = object;
    waiting.fetch_add(1, std::memory_order_relaxed);
  }
  if (take_chain(home, chain_pieces, full))
    send_chain(home, full);
}

bool send_pieces() noexcept {
  if (waiting.load(std::memory_order_relaxed) == 0)
    return false;
  piece_chain some;
  for (int rank = 0; rank < transport::ranks(); ++rank) {
    if (take_chain(rank, 1, some))
      send_chain(rank, some);
  }
  return true;
}

long pieces_under_way() noexcept { return waiting.load(std::memory_order_relaxed); }

} // namespace nth::detail::cluster
