// The area: one reservation of addresses from which every stack, descriptor and block comes (design.md,
// section 4). Address bits tell what lies there and whose it is, so nothing has a header:
//
//   base                                                            base + size
//    |stacks 256 B|stacks 512 B| … |stacks 1 MiB| … |descriptors|blocks|arrays|maps| …   32 regions
//                 |rank 0     |rank 1     | … |                            each, of a cluster run: one range a rank
//                 |node 0     |node 1     | … |                            each: one range a NUMA node
//                 |home 0|home 1|home 2| … |                               each: one part a home
//                 |#### carved ####|== committed ==|  no access yet  |     each: a growing prefix (part.hpp)
//
// A home is a worker; one more serves all kernel threads that are no workers. Homes of one node lie side by
// side, so that a policy for memory is set once on a whole range and splits no mapping later.
#pragma once

#include "memory/part.hpp"

#include <cstddef>
#include <cstdint>

namespace nth::detail {

constexpr unsigned region_count = 32;
constexpr unsigned smallest_class_log2 = 8; // stacks of region r have 2^(r + 8) bytes
constexpr unsigned stack_regions = 13;      // 256 B … 1 MiB

constexpr int most_nodes = 64; // of a machine with more, several count as one

enum class region : std::uint8_t { descriptors = 16, blocks = 17, arrays = 18, maps = 19 };

constexpr unsigned stack_region(unsigned size_log2) noexcept { return size_log2 - smallest_class_log2; }
// Stacks of 16 KiB and more are sparse: most of them use a page or two. Smaller ones are dense.
constexpr unsigned first_sparse_log2 = 14;

constexpr std::size_t descriptor_bytes = 64;
constexpr std::size_t block_bytes = 576;

// A rank of a cluster run: the same area on all, and each rank's objects at places of its own.
struct area_seat {
  std::uintptr_t base{
      0}; // reserved there already, `bytes` of it, and not released here; 0: not yet, anywhere
  std::size_t bytes{0};
  unsigned home_bits{0}; // homes of a rank, at least 1 << home_bits: what the rank with the most needs
  int rank{0};
  int ranks{1};
};

struct area {
  // Read by nth_self and on each termination; constant during a run.
  std::uintptr_t base{0};
  std::size_t size{0};
  unsigned region_shift{0};
  unsigned home_shift{0};
  std::uintptr_t home_mask{0};

  unsigned node_shift{0}; // of a home's number: homes of node n are n << node_shift and the following

  unsigned rank_shift{0}; // ranges of ranks are so far apart
  std::uintptr_t rank_mask{0};
  std::uintptr_t own_range{0}; // of this rank, from the begin of a region
  bool lent{false};            // the addresses are a seat's
  int homes{0};                // nodes << node_shift, of this rank; not all of them need be in use
  int nodes{0};
  part *parts{nullptr}; // [region_count][homes]

  // Reserves up to `wanted` bytes, halving while the kernel refuses, for nodes of `homes_each` homes.
  bool open(std::size_t wanted, int nodes_wanted, int homes_each, const area_seat &seat = {}) noexcept;
  // One node.
  bool open(std::size_t wanted, int homes_wanted) noexcept { return open(wanted, 1, homes_wanted); }
  void close() noexcept;
  // The least for so many homes, and where it would best lie.
  static std::size_t least(int nodes_wanted, int homes_each, const area_seat &seat = {}) noexcept;
  static unsigned home_bits(int nodes_wanted, int homes_each) noexcept; // what a rank asks of its seat
  static const std::uintptr_t preferred_base;

  part &at(unsigned r, int home) noexcept {
    return parts[r * static_cast<unsigned>(homes) + static_cast<unsigned>(home)];
  }
  part &at(region r, int home) noexcept { return at(static_cast<unsigned>(r), home); }

  // From the part of `home`, else, when that is full, from any other. See part::carve.
  void *carve(unsigned r, int home, std::size_t object_size, std::size_t &count, content &holds) noexcept;
  void *carve(unsigned r, int home, std::size_t object_size, std::size_t &count) noexcept {
    content any{};
    return carve(r, home, object_size, count, any);
  }
  void *carve(region r, int home, std::size_t object_size, std::size_t &count) noexcept {
    return carve(static_cast<unsigned>(r), home, object_size, count);
  }
  // See part::give_back.
  void give_back(void *object, std::size_t untouched, part::last_look look) noexcept {
    part_of(object).give_back(object, untouched, look);
  }
  part &part_of(const void *object) noexcept {
    return at(region_of(reinterpret_cast<std::uintptr_t>(object)), home_of(object));
  }

  // The range of one node in one region.
  std::uintptr_t node_begin(unsigned r, int node) const noexcept {
    return base + (std::uintptr_t{r} << region_shift) + own_range +
           (static_cast<std::uintptr_t>(node) << node_bytes_shift());
  }
  std::size_t node_bytes() const noexcept { return std::size_t{1} << node_bytes_shift(); }

  bool holds(std::uintptr_t address) const noexcept { return address - base < size; }
  unsigned region_of(std::uintptr_t address) const noexcept {
    return static_cast<unsigned>((address - base) >> region_shift);
  }
  // Which rank's the object is, wherever it lies now.
  int rank_of(const void *object) const noexcept {
    return static_cast<int>((reinterpret_cast<std::uintptr_t>(object) - base) >> rank_shift & rank_mask);
  }
  // Homes and nodes are those of the object's own rank.
  int home_of(const void *object) const noexcept {
    return static_cast<int>((reinterpret_cast<std::uintptr_t>(object) - base) >> home_shift & home_mask);
  }
  int node_of(const void *object) const noexcept { return home_of(object) >> node_shift; }
  std::size_t committed() noexcept;
  // Bytes of a region that are carved and not given back.
  std::size_t carved(unsigned r) noexcept;

private:
  unsigned node_bytes_shift() const noexcept { return home_shift + node_shift; }
};

extern area the_area;

} // namespace nth::detail
