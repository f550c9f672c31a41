// Operations on several heaps, one after the other, each of them checked against the shadow: what a random trace and a
// string of bytes are both made into.
#pragma once

#include "heap_shadow.hpp"

#include <cstdio>
#include <cstdlib>

namespace nth::detail::iso {

inline void demand(bool right, const char *what) {
  if (right)
    return;
  std::fprintf(stderr, "heap trace: %s\n", what);
  std::abort();
}

class trace {
public:
  explicit trace(std::size_t heaps, std::size_t most) : mine(heaps), limit(most) {
    for (owned &o : mine)
      o.h = new_heap();
  }
  ~trace() {
    for (owned &o : mine)
      if (o.h != nullptr)
        end_heap(o.h);
    demand(the_slots.count().taken == 0, "all slots are back");
  }
  trace(const trace &) = delete;
  trace &operator=(const trace &) = delete;

  struct owned {
    heap *h{nullptr};
    std::vector<live_block> blocks;
  };
  owned &at(std::uint64_t i) { return mine[i % mine.size()]; }
  std::size_t bytes() const { return live; }

  void get(owned &o, std::size_t size, std::size_t alignment) {
    if (o.h == nullptr || live + size > limit)
      return;
    heap_error why{};
    auto *p = static_cast<unsigned char *>(allocate(o.h, size, alignment, false, why));
    if (p == nullptr) {
      demand(why == heap_error::no_slots || why == heap_error::too_large || why == heap_error::no_memory,
             "a reason");
      return;
    }
    demand(reinterpret_cast<std::uintptr_t>(p) % std::max<std::size_t>(alignment, 16) == 0, "alignment");
    live_block b{p, size, room_of(p), ++seed * 0x9E3779B97F4A7C15};
    demand(b.room >= size && map.enter(p, b.room), "no overlap");
    paint(b);
    live += size;
    o.blocks.push_back(b);
  }
  void give(owned &o, std::uint64_t which, heap *by) {
    if (o.blocks.empty())
      return;
    const live_block b = take(o, which);
    demand(is_painted(b), "content");
    demand(map.leave(b.at, b.room), "was entered");
    demand(release(by, b.at) == heap_error::none, "freed");
    if (which % 16 == 0) // nothing was allocated since
      demand(release(which % 32 == 0 ? o.h : by, b.at) != heap_error::none, "freed twice");
  }
  void change(owned &o, std::uint64_t which, std::size_t size) {
    if (o.blocks.empty() || live + size > limit)
      return;
    live_block &b = o.blocks[which % o.blocks.size()];
    demand(is_painted(b), "content");
    if (!resize(o.h, b.at, size)) {
      give(o, which, o.h);
      return get(o, size, 16);
    }
    demand(map.leave(b.at, b.room), "was entered");
    live = live - b.size + size;
    b.size = size;
    b.room = room_of(b.at);
    demand(b.room >= size && map.enter(b.at, b.room), "no overlap");
    paint(b);
  }
  void not_a_block(owned &o, std::uint64_t which, heap *by) {
    if (o.blocks.empty())
      return;
    const live_block &b = o.blocks[which % o.blocks.size()];
    if (b.size > 1)
      demand(release(by, b.at + 1 + which % (b.size - 1)) != heap_error::none, "no block");
  }
  void end(owned &o) {
    for (const live_block &b : o.blocks) {
      demand(is_painted(b) && map.leave(b.at, b.room), "at the end");
      live -= b.size;
    }
    end_heap(o.h);
    for (std::size_t i = 0; i < std::min<std::size_t>(o.blocks.size(), 8); ++i)
      demand(release(nullptr, o.blocks[i].at) == heap_error::dead, "dead");
    o.blocks.clear();
    o.h = new_heap();
  }
  void travel(owned &o) {
    depart(o.h);
    if (!o.blocks.empty())
      demand(release(nullptr, o.blocks.back().at) == heap_error::dead, "away");
    arrive(o.h);
  }
  void compare(owned &o) {
    const heap_numbers n = count(o.h);
    std::size_t room = 0;
    for (const live_block &b : o.blocks)
      room += b.room;
    demand(n.blocks == o.blocks.size() && n.live_bytes == room, "count");
  }

private:
  live_block take(owned &o, std::uint64_t which) {
    live_block &b = o.blocks[which % o.blocks.size()];
    const live_block taken = b;
    b = o.blocks.back();
    o.blocks.pop_back();
    live -= taken.size;
    return taken;
  }
  shadow map;
  std::vector<owned> mine;
  std::size_t limit;
  std::size_t live{0};
  std::uint64_t seed{0};
};

} // namespace nth::detail::iso
