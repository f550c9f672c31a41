// A cache or a TLB: blocks (lines, pages) in sets, the one used longest ago makes way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trace {

struct geometry {
  std::string name;
  std::uint64_t blocks = 0; // in all: lines of a cache, entries of a TLB
  std::uint64_t ways = 0;   // blocks of a set; as many as there are blocks: fully associative
  std::uint64_t block_bytes = 0;
  bool store_allocates = true; // false: a store to a block that is not there leaves it away
};

// "name:SIZE:WAYS:LINE[:no-write-allocate]" and "name:ENTRIES:WAYS:PAGE"; WAYS may be "full", sizes end in K or M.
// Throws std::invalid_argument, which names the text and what is wrong with it.
geometry cache_geometry(const std::string &text);
geometry tlb_geometry(const std::string &text);

// An access that lies in two blocks is one reference, and a miss for each of them that is not there.
struct counts {
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  std::uint64_t load_misses = 0;
  std::uint64_t store_misses = 0;
};

class memory {
public:
  explicit memory(geometry g); // std::invalid_argument, as above

  void load(std::uint64_t address, std::uint64_t bytes) {
    ++seen.loads;
    seen.load_misses += touch(address, bytes, true);
  }
  void store(std::uint64_t address, std::uint64_t bytes) {
    ++seen.stores;
    seen.store_misses += touch(address, bytes, shape.store_allocates);
  }

  const geometry &form() const { return shape; }
  const counts &count() const { return seen; }

private:
  // -> how many of the blocks were not there
  std::uint64_t touch(std::uint64_t address, std::uint64_t bytes, bool allocate) {
    const std::uint64_t first = address >> block_log2;
    const std::uint64_t last = (address + (bytes == 0 ? 0 : bytes - 1)) >> block_log2;
    std::uint64_t missing = 0;
    for (std::uint64_t block = first; block <= last; ++block)
      missing += present(block, allocate) ? 0 : 1;
    return missing;
  }
  bool present(std::uint64_t block, bool allocate) {
    std::uint64_t *const set = &used[(block & set_mask) * shape.ways];
    return set[0] == block || search(set, block, allocate);
  }
  bool search(std::uint64_t *set, std::uint64_t block, bool allocate);

  geometry shape;
  unsigned block_log2 = 0;
  std::uint64_t set_mask = 0;
  std::vector<std::uint64_t> used; // by sets; in a set the block used last comes first
  counts seen;
};

} // namespace trace
