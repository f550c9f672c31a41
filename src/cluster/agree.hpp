// What all ranks of a run must have in common: collected by rank 0, which names the first rank that differs, and what
// differs.
#pragma once

#include "nth/nth.h"

#include <cstddef>
#include <cstdint>

namespace nth::detail::cluster {

// A rank's own account of itself, in words that a message can use.
struct card {
  static constexpr int most_lines = 24;
  struct line {
    char name[40]; // an option, or "program"
    char value[96];
  };
  line lines[most_lines];
  int count;
  char host[64];
  char trouble[400]; // this rank cannot take part; "": it can

  void add(const char *name, const char *value) noexcept;
};

// The options that must be the same, the program, the layout of nth's structures.
void fill_card(card &c, const nth_options &options) noexcept;

// Writes to `text` which rank differs from rank 0, or cannot take part, and why. True: none.
bool judge(const card *all, int ranks, char *text, std::size_t size) noexcept;

// All ranks call it: the same answer on all. NTH_OK, or NTH_EINVAL with the message.
nth_status agree(const card &mine) noexcept;

// Addresses for an area, reserved on all ranks at the same place: the first of some candidates that is free on all, as
// much of `wanted` as all get, at least `least`. All ranks call it. False: nothing is reserved.
bool agree_on_place(std::uintptr_t preferred, std::size_t wanted, std::size_t least, std::uintptr_t &base,
                    std::size_t &bytes) noexcept;

} // namespace nth::detail::cluster
