// What must be alike on all ranks, with address randomisation on: addresses of areas, code and data, the canary of
// stack protectors in threads, and beside them what may differ.
#include "iso/slots.hpp"
#include "memory/area.hpp"
#include "ranks.hpp"

#include <cstring>
#include <stdexcept>
#include <sys/personality.h>
#include <typeinfo>

namespace {

std::uint64_t canary_of_thread;
std::uint64_t canary_outside;

std::uint64_t read_canary() {
  std::uint64_t word;
  asm volatile("movq %%fs:0x28, %0" : "=r"(word));
  return word;
}

void read_in_thread() {
  canary_of_thread = read_canary();
  nth_yield();
  CHECK(canary_of_thread == read_canary());
}

struct base {
  virtual ~base() = default;
  virtual int value() { return 1; }
};
struct derived : base {
  int value() override { return 2; }
};

std::uint64_t vtable_of(const base &b) {
  std::uint64_t word;
  std::memcpy(&word, static_cast<const void *>(&b), sizeof word);
  return word;
}

bool is_randomised() { return (personality(0xffffffff) & ADDR_NO_RANDOMIZE) == 0; }

} // namespace

int main(int argc, char **argv) {
  canary_outside = read_canary();
  {
    const ranks::cluster cluster(&argc, &argv);
    const int wanted = argc > 1 ? static_cast<int>(std::strtol(argv[1], nullptr, 10)) : 1;
    CHECK(nth_ranks() == wanted && nth_rank() >= 0 && nth_rank() < wanted);
    CHECK(ranks::sum(static_cast<std::uint64_t>(nth_rank())) ==
          static_cast<std::uint64_t>(wanted * (wanted - 1) / 2));
    CHECK(is_randomised());
    if (wanted > 1)
      CHECK(!ranks::same_on_all(canary_outside) &&
            !ranks::same_on_all(reinterpret_cast<std::uint64_t>(&argc)));

    for (int i = 0; i < 100; ++i) // on all workers
      ranks::run(read_in_thread);
    CHECK(ranks::same_on_all(canary_of_thread));
    CHECK(read_canary() == canary_outside);

    derived d;
    CHECK(d.value() == 2 && ranks::same_on_all(vtable_of(d)));
    CHECK(ranks::same_on_all(reinterpret_cast<std::uint64_t>(&read_in_thread)));
    CHECK(ranks::same_on_all(reinterpret_cast<std::uint64_t>(&canary_of_thread)));
    CHECK(ranks::same_on_all(reinterpret_cast<std::uint64_t>(&typeid(std::runtime_error))));
    CHECK(ranks::same_on_all(nth::detail::the_area.base) && ranks::same_on_all(nth::detail::the_area.size));
    CHECK(ranks::same_on_all(nth::detail::iso::the_slots.base()));
    CHECK(ranks::same_on_all(nth::detail::iso::the_slots.bytes()));
    // Its stacks and descriptors lie in its own part.
    const nth_desc *mine = nth_create(read_in_thread, 0, 0, 0);
    CHECK(nth::detail::the_area.rank_of(mine) == nth_rank());
    nth_to_lrq(0, const_cast<nth_desc *>(mine));
    CHECK(nth_cluster_barrier() == NTH_OK && nth_cluster_barrier() == NTH_OK);
  }
  CHECK(nth_rank() == 0 && nth_ranks() == 1);
  CHECK(nth_cluster_barrier() == NTH_ESTATE && nth_regroup_slots() == NTH_ESTATE &&
        nth_cluster_finalize() == NTH_ESTATE);
  return 0;
}
