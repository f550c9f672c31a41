// The area: one reservation of addresses from which every stack, descriptor and block comes (design.md,
// section 4). Address bits tell what lies there and whose it is, so nothing has a header:
//
//   base                                                            base + size
//    |stacks 256 B|stacks 512 B| … |stacks 1 MiB| … |descriptors|blocks|arrays| …   32 regions
//                 |home 0|home 1| … |home n|                                        each: one part a home
//                 |#### carved, committed ####|== committed ==|  no access yet  |   each: a growing prefix
//
// A home is a worker; the last one serves all kernel threads that are no workers.
#pragma once

#include "base/spinlock.hpp"

#include <cstddef>
#include <cstdint>

namespace nth::detail {

constexpr unsigned region_count = 32;
constexpr unsigned smallest_class_log2 = 8; // stacks of region r have 2^(r + 8) bytes
constexpr unsigned stack_regions = 13;      // 256 B … 1 MiB

enum class region : std::uint8_t { descriptors = 16, blocks = 17, arrays = 18 };

constexpr unsigned stack_region(unsigned size_log2) noexcept { return size_log2 - smallest_class_log2; }

// The prefix of one home in one region. `carve` may be called by any kernel thread.
class part {
public:
  void place(std::uintptr_t begin, std::size_t bytes, bool dense) noexcept;
  // The next `count` objects of `size` bytes, or as many as fit, at least one; their number in `count`.
  // nullptr: this part is full (full() is true then) or the kernel refused memory.
  void *carve(std::size_t size, std::size_t &count) noexcept;
  bool full(std::size_t size) noexcept;

  std::uintptr_t begin() const noexcept { return first; }
  std::size_t carved() noexcept; // bytes
  std::size_t committed() noexcept;

private:
  bool commit_to(std::size_t bytes) noexcept;

  spinlock lock;
  bool dense_pages{false};
  std::uintptr_t first{0};
  std::size_t size_bytes{0};
  std::size_t committed_bytes{0};
  std::size_t carved_bytes{0};
};

struct area {
  // Read by nth_self and on each termination; constant during a run.
  std::uintptr_t base{0};
  std::size_t size{0};
  unsigned region_shift{0};
  unsigned home_shift{0};
  std::uintptr_t home_mask{0};

  int homes{0};
  part *parts{nullptr}; // [region_count][homes]

  // Reserves up to `wanted` bytes, halving while the kernel refuses, for `homes_wanted` homes.
  bool open(std::size_t wanted, int homes_wanted) noexcept;
  void close() noexcept;

  part &at(unsigned r, int home) noexcept {
    return parts[r * static_cast<unsigned>(homes) + static_cast<unsigned>(home)];
  }
  part &at(region r, int home) noexcept { return at(static_cast<unsigned>(r), home); }

  // From the part of `home`, else, when that is full, from any other. See part::carve.
  void *carve(unsigned r, int home, std::size_t object_size, std::size_t &count) noexcept;
  void *carve(region r, int home, std::size_t object_size, std::size_t &count) noexcept {
    return carve(static_cast<unsigned>(r), home, object_size, count);
  }

  bool holds(std::uintptr_t address) const noexcept { return address - base < size; }
  unsigned region_of(std::uintptr_t address) const noexcept {
    return static_cast<unsigned>((address - base) >> region_shift);
  }
  int home_of(const void *object) const noexcept {
    return static_cast<int>((reinterpret_cast<std::uintptr_t>(object) - base) >> home_shift & home_mask);
  }
  std::size_t committed() noexcept;
};

extern area the_area;

} // namespace nth::detail
