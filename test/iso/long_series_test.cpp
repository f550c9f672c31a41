// What is known of long series, against the map itself.
#include "iso/long_series.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <random>

namespace nth::detail::iso {
namespace {

slot longest_of(slot_map &map) {
  slot longest = 0;
  for (slot_range r = map.next_run(0, map.size()); r.count != 0; r = map.next_run(r.end(), map.size()))
    longest = r.count > longest ? r.count : longest;
  return longest;
}

TEST(long_series, are_found_as_the_map_finds_them) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    slot_map map;
    const slot slots = 4000;
    ASSERT_TRUE(map.open(slots));
    slot least = 0;
    for (slot s = static_cast<slot>(seed % 3); seed % 2 == 0 && s < slots; s += 3) { // dealt out one by one
      map.set({s, 1});
      least = 1;
    }
    long_series series;
    series.start(least);
    for (int step = 0; step < 4000; ++step) {
      const slot count = 1 + static_cast<slot>(random() % (step % 50 == 0 ? 300 : 20));
      const slot first = static_cast<slot>(random() % static_cast<std::uint64_t>(slots - count));
      if (random() % 2 == 0) { // slots come, some of which may be there
        map.set({first, count});
        series.raise(map, {first, count}, slots);
      } else if (random() % 4 == 0) { // others leave, from anywhere
        map.clear({first, count});
      } else {
        const slot found = series.find(map, count);
        ASSERT_EQ(found, map.find(count)) << "seed " << seed << " step " << step;
        if (found != no_slot)
          map.clear({found, count});
      }
      ASSERT_GE(series.longest(), longest_of(map)) << "seed " << seed << " step " << step;
    }
    map.close();
  }
}

// 2^28 slots dealt out one by one: few words of the map may be looked at.
TEST(long_series, need_no_search_of_the_map) {
  struct counter {
    mutable long words;
  } asked{0};
  slot_map map;
  const slot slots = slot{1} << 28;
  const auto every_second = [](slot, const void *context) noexcept {
    ++static_cast<const counter *>(context)->words;
    return std::uint64_t{0x5555'5555'5555'5555};
  };
  ASSERT_TRUE(map.open(slots, {every_second, &asked, {0, slots}, nullptr}));
  long_series series;
  series.start(1);
  for (slot i = 0; i < 1000; ++i) {
    const slot bought = i * 1001;
    map.set({bought, 17});
    series.raise(map, {bought, 17}, slots);
    EXPECT_GE(series.longest(), 17);
    int pairs = 0; // with its neighbours it may have 19 slots
    for (slot found = series.find(map, 2); found != no_slot; found = series.find(map, 2), ++pairs) {
      ASSERT_TRUE(found >= bought - 1 && found <= bought + 16);
      map.clear({found, 2});
    }
    EXPECT_TRUE(pairs == 8 || pairs == 9);
    EXPECT_EQ(series.longest(), 1);
  }
  EXPECT_LT(asked.words, 20'000);
  map.close();
}

} // namespace
} // namespace nth::detail::iso
