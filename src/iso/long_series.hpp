// Which series of a map are longer than a bound: known without a search of 2^28 slots, where few are. In a run with
// slots dealt out one by one, say, the long ones are those that were bought.
#pragma once

#include "iso/slot_map.hpp"

namespace nth::detail::iso {

// Each series of the map that is longer than bound() lies within one of the ranges. Its user tells of slots that come
// (raise); those that leave make series shorter, which is found out by looking.
class long_series {
public:
  // No series of the map is longer than `least`.
  void start(slot least) noexcept {
    bound = least;
    ranges = 0;
  }
  // Slots have come to the map: the series they are in may be longer than all others, but not than `most`.
  void raise(slot_map &map, slot_range came, slot most) noexcept;
  // The lowest series of `count` slots, as slot_map::find says it.
  slot find(slot_map &map, slot count) noexcept;
  // No series is longer. May be more than there is.
  slot longest() const noexcept;

private:
  static constexpr int most_ranges = 16;
  static constexpr slot far = 1024; // of the slots beside those that came; longer series raise the bound

  void remember(slot_range series) noexcept;
  void forget(int i) noexcept { range[i] = range[--ranges]; }

  slot bound{0};
  int ranges{0};
  slot_range range[most_ranges];
};

} // namespace nth::detail::iso
