// The system-wide critical section of negotiations (paper 004, section 4.4, (a) and (f)), as rank 0 keeps it: who is in
// it, and who waits, first come first served.
//
//   waiting:  | . . r5 r2 r7 . . |    a ring with room for every rank, for a rank asks once and waits for the grant
//                   ^ first
#pragma once

#include "base/error.hpp"

namespace nth::detail::cluster {

class critical_section {
public:
  static constexpr int nobody = -1;

  void place(int *ring, int ranks) noexcept {
    waiting = ring;
    room = ranks;
  }

  // Whom to grant it to now, or nobody.
  int enter(int rank) noexcept {
    if (holder == nobody)
      return holder = rank;
    NTH_ASSERT(holder != rank && length < room);
    waiting[(first + length++) % room] = rank;
    return nobody;
  }

  // By `rank`, which is in it. Whom to grant it to next, or nobody.
  int leave([[maybe_unused]] int rank) noexcept {
    NTH_ASSERT(holder == rank);
    holder = nobody;
    if (length > 0) {
      holder = waiting[first];
      first = (first + 1) % room;
      --length;
    }
    return holder;
  }

  bool is_free() const noexcept { return holder == nobody; }

private:
  int *waiting{nullptr};
  int room{0};
  int first{0};
  int length{0};
  int holder{nobody};
};

} // namespace nth::detail::cluster
