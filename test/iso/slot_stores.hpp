// Several ranks' stores in one process, over one area.
#pragma once

#include "../support/resident.hpp"
#include "../support/size.hpp"
#include "iso/slots.hpp"
#include "os/os.hpp"
#include "os/os_failing.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace nth::test {

using namespace nth::detail::iso;
namespace os = nth::detail::os;

class slot_stores {
public:
  // `slots` of 64 KiB.
  slot_stores(slot slots, int ranks, distribution spread, slot cache)
      : area_bytes(static_cast<std::size_t>(slots) << 16) {
    area = os::reserve(nullptr, area_bytes, std::size_t{1} << 16);
    for (int r = 0; r < ranks; ++r) {
      slot_setting s;
      s.base = reinterpret_cast<std::uintptr_t>(area);
      s.bytes = area_bytes;
      s.rank = r;
      s.ranks = ranks;
      s.spread = spread;
      s.cache = cache;
      stores.push_back(std::make_unique<slot_store>());
      opened = stores.back()->open(s, true) && opened;
    }
  }
  ~slot_stores() {
    for (auto &store : stores)
      store->close();
    os::release(area, area_bytes);
  }
  slot_stores(const slot_stores &) = delete;
  slot_stores &operator=(const slot_stores &) = delete;

  slot_store &operator[](int rank) { return *stores[static_cast<std::size_t>(rank)]; }
  bool opened{true};
  void *area;
  std::size_t area_bytes;

private:
  std::vector<std::unique_ptr<slot_store>> stores;
};

// A slot's first and last words.
inline void write_marks(const slot_store &in, slot s, std::uint64_t mark) {
  auto *words = reinterpret_cast<std::uint64_t *>(in.address_of(s));
  words[0] = mark;
  words[in.slot_bytes() / sizeof mark - 1] = ~mark;
}
inline bool has_marks(const slot_store &in, slot s, std::uint64_t mark) {
  const auto *words = reinterpret_cast<const std::uint64_t *>(in.address_of(s));
  return words[0] == mark && words[in.slot_bytes() / sizeof mark - 1] == ~mark;
}

inline std::vector<slot_range> all_runs(slot_store &of, std::size_t room = 1000) {
  std::vector<slot_range> result;
  slot from = 0;
  while (from < of.size()) {
    std::vector<slot_range> some(room);
    slot covered = 0;
    some.resize(of.list(from, some.data(), room, covered));
    result.insert(result.end(), some.begin(), some.end());
    from = covered;
  }
  return result;
}

} // namespace nth::test
