// What the copies of the ready queue call and is not copied. Included inside the namespace of each copy.

using block_list = local_list<block>;

struct block_memory {
  static constexpr std::uint32_t half = 256;
  block pool[96];
  int used = 0;
  bool scarce = false; // refuses one time in three

  block *refill(block_list & /*list*/, int /*home*/) {
    if (scarce && interleaving::choice().one_in(3))
      return nullptr;
    if (used == 96)
      interleaving::fail("blocks are lost");
    return &pool[used++];
  }
  void lift(block_list & /*list*/, int /*node*/) { interleaving::fail("more free blocks than were made"); }
  void put(chain<block> /*some*/, int /*node*/) {}
};
inline block_memory *blocks_here = nullptr;
#define the_blocks (*blocks_here)

// Arrays of rings.
struct area {
  alignas(64) char bytes[16 * 1024];
  std::size_t used = 0;
  int nodes = 1;
  bool scarce = false;

  void *carve(region /*arrays*/, int /*home*/, std::size_t size, std::size_t & /*count*/) {
    if (scarce && interleaving::choice().one_in(3))
      return nullptr;
    if (used + size > sizeof bytes)
      interleaving::fail("a ring grows beyond what was put");
    used += size;
    return bytes + used - size;
  }
  static int node_of(const void * /*object*/) { return 0; }
};
inline area *area_here = nullptr;
#define the_area (*area_here)

struct worker;
struct runtime {
  int workers{0};
  worker *worker_at[4]{};
  stepping<int> sleepers{0};
  stepping<int> searching{0};
  worker *at(int id) { return worker_at[id]; }
};
inline runtime the_runtime;
struct worker;
inline void look_for_messages(worker * /*w*/) {}

namespace os {
inline void pause() { interleaving::wait(); }
inline void yield_processor() { interleaving::wait(); }
inline void barrier_all() { shared_memory->barrier_all(); }
inline std::uint64_t now_ns() {
  static std::uint64_t now = 0;
  return now += 100;
}
inline void futex_wake(std::uint32_t * /*word*/, int /*count*/) {}
} // namespace os

template <class... Words>
[[noreturn]] void misuse(nth_status /*status*/, const char * /*format*/, Words... /*words*/) {
  interleaving::fail("a count of dependencies falls below zero");
}

// Calls that a thread has spawned: none here, they have a model of their own.
inline nth_desc *offer_spawned(worker * /*w*/, worker * /*of*/) { return nullptr; }
inline bool any_spawned(const worker * /*w*/) { return false; }

// Called where a block joins the queue of w.
void arrived(worker *w, block *b) noexcept;
