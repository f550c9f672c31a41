// The map of slots, by chance against a model, and of 2^28 slots.
#include "../support/size.hpp"
#include "iso/slot_map.hpp"
#include "os/os_failing.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using namespace nth::detail::iso;
namespace os = nth::detail::os;
using nth::test::pick_size;

// What a map is opened with.
struct start {
  distribution spread;
  slot slots;
  int rank;
  int ranks;
};

std::uint64_t start_word(slot index, const void *context) {
  const auto *s = static_cast<const start *>(context);
  return s->spread.word(index, s->slots, s->rank, s->ranks);
}
bool start_full(slot index, const void *context) {
  const auto *s = static_cast<const start *>(context);
  const slot_range hull = s->spread.hull(s->slots, s->rank, s->ranks);
  return s->spread.kind == spread::partitioned && hull.first <= index * 64 && (index + 64) * 64 <= hull.end();
}
slot_map::pattern pattern_of(const start &s) {
  return {start_word, &s, s.spread.hull(s.slots, s.rank, s.ranks), start_full};
}

class model {
public:
  model(const start *begin, slot slots) : bits(static_cast<std::size_t>(slots)) {
    for (slot s = 0; begin != nullptr && s < slots; ++s)
      at(s) = begin->spread.owner_of(s, slots, begin->ranks) == begin->rank ? 1 : 0;
  }
  slot size() const { return static_cast<slot>(bits.size()); }
  char &at(slot s) { return bits[static_cast<std::size_t>(s)]; }
  void fill(slot_range r, char value) { std::fill_n(bits.begin() + r.first, r.count, value); }
  slot next(slot from, char value, slot otherwise) const {
    const auto found = std::find(bits.begin() + from, bits.end(), value);
    return found == bits.end() ? otherwise : found - bits.begin();
  }
  slot find(slot count, slot from) const {
    slot s = next(from, 1, no_slot);
    while (s != no_slot) {
      const slot end = next(s, 0, size());
      if (end - s >= count)
        return s;
      s = end == size() ? no_slot : next(end, 1, no_slot);
    }
    return no_slot;
  }
  slot count(slot_range r) const { return std::count(bits.begin() + r.first, bits.begin() + r.end(), 1); }

private:
  std::vector<char> bits;
};

class random_map : public testing::Test {
protected:
  slot upto(slot n) { return std::uniform_int_distribution<slot>(0, n)(chance); }
  // Mostly short, now and then long; now and then over whole words.
  slot_range range(slot slots) {
    const slot most = upto(3) == 0 ? slots : std::min<slot>(slots, upto(1) == 0 ? 5 : 200);
    slot count = upto(most);
    slot first = upto(slots - count);
    if (upto(3) == 0) {
      first = first / 64 * 64;
      count = std::min(slots - first, (count + 63) / 64 * 64);
    }
    return {first, count};
  }

  void step(slot_map &map, model &shadow) {
    const slot slots = map.size();
    const slot_range r = range(slots);
    switch (upto(3)) {
    case 0:
      map.set(r);
      shadow.fill(r, 1);
      break;
    case 1:
      map.clear(r);
      shadow.fill(r, 0);
      break;
    default:
      ask(map, shadow, r);
    }
  }

  void ask(slot_map &map, model &shadow, slot_range r) {
    const slot slots = map.size();
    const slot s = upto(slots - 1);
    ASSERT_EQ(map.test(s), shadow.at(s) != 0);
    const slot count = shadow.count(r);
    ASSERT_EQ(map.count(r), count);
    ASSERT_EQ(map.all(r), count == r.count);
    ASSERT_EQ(map.none(r), count == 0);
    ASSERT_EQ(map.next(s), shadow.next(s, 1, no_slot));
    ASSERT_EQ(map.next_absent(s), shadow.next(s, 0, slots));
    const slot limit = s + upto(slots - s);
    ASSERT_EQ(map.next_absent(s, limit), std::min(limit, shadow.next(s, 0, slots)));

    const slot first = shadow.next(s, 1, no_slot);
    const slot_range run = map.next_run(s, limit);
    if (first == no_slot || first >= limit) {
      ASSERT_EQ(run.count, 0);
    } else {
      ASSERT_EQ(run.first, first);
      ASSERT_EQ(run.end(), std::min(limit, shadow.next(first, 0, slots)));
    }
    slot before = 0;
    while (before < s && shadow.at(s - before - 1) != 0)
      ++before;
    ASSERT_EQ(map.run_before(s, slots), before);
    const slot most = upto(200);
    ASSERT_GE(map.run_before(s, most), std::min(before, most));
    ASSERT_LE(map.run_before(s, most), before);

    for (const slot wanted : {slot{1}, slot{2}, upto(64), upto(200), upto(slots), slots}) {
      if (wanted > 0) {
        ASSERT_EQ(map.find(wanted), shadow.find(wanted, 0)) << wanted;
        ASSERT_EQ(map.find(wanted, s), shadow.find(wanted, s)) << wanted << " from " << s;
      }
    }
  }

  void run(const start *begin, slot slots, long steps) {
    slot_map map;
    ASSERT_TRUE(begin == nullptr ? map.open(slots) : map.open(slots, pattern_of(*begin)));
    ASSERT_EQ(map.size(), slots);
    model shadow(begin, slots);
    for (long i = 0; i < steps; ++i)
      ASSERT_NO_FATAL_FAILURE(step(map, shadow)) << "step " << i;
    ASSERT_EQ(map.count(), shadow.count({0, slots}));
    map.close();
    ASSERT_EQ(map.size(), 0);
  }

  std::mt19937_64 chance{20261122};
};

constexpr slot sizes[] = {1, 2, 63, 64, 65, 127, 128, 4095, 4096, 4097, 64 * 64 * 3 + 5, (1 << 18) + 1};

long steps_for(slot slots) {
  return slots > 100'000 ? pick_size(40, 300, 3000) : pick_size(300, 2000, 20'000);
}

TEST_F(random_map, of_an_empty_start) {
  for (const slot slots : sizes) {
    SCOPED_TRACE(slots);
    ASSERT_NO_FATAL_FAILURE(run(nullptr, slots, steps_for(slots)));
  }
}

TEST_F(random_map, of_every_distribution) {
  const distribution kinds[] = {
      {spread::partitioned, 1, nullptr},
      {spread::cyclic, 1, nullptr},
      {spread::block_cyclic, 100, nullptr},
      {spread::user, 1, [](long s, long, int ranks) { return static_cast<int>(s / 7 % ranks); }}};
  for (const distribution &d : kinds) {
    for (const slot slots : sizes) {
      for (const auto &[rank, ranks] : {std::pair{0, 1}, std::pair{1, 3}, std::pair{2, 3}}) {
        SCOPED_TRACE(testing::Message()
                     << static_cast<int>(d.kind) << ' ' << slots << ' ' << rank << '/' << ranks);
        const start begin{d, slots, rank, ranks};
        ASSERT_NO_FATAL_FAILURE(run(&begin, slots, steps_for(slots) / 4));
      }
    }
  }
}

TEST_F(random_map, of_more_than_a_million) {
  const slot slots = (1 << 20) + 7;
  const start begin{{spread::partitioned, 1, nullptr}, slots, 2, 4};
  ASSERT_NO_FATAL_FAILURE(run(nullptr, slots, pick_size(20, 150, 2000)));
  ASSERT_NO_FATAL_FAILURE(run(&begin, slots, pick_size(20, 150, 2000)));
}

TEST(slot_map, what_cannot_be_searched_for) {
  slot_map map;
  ASSERT_TRUE(map.open(100));
  map.set({10, 20});
  EXPECT_EQ(map.find(0), no_slot);
  EXPECT_EQ(map.find(-1), no_slot);
  EXPECT_EQ(map.find(101), no_slot);
  EXPECT_EQ(map.find(INT64_MAX), no_slot);
  EXPECT_EQ(map.find(20, 11), no_slot);
  EXPECT_EQ(map.find(19, 11), 11);
  EXPECT_EQ(map.find(1, -5), 10);
  EXPECT_EQ(map.next(100), no_slot);
  EXPECT_EQ(map.next(1000), no_slot);
  EXPECT_EQ(map.next_absent(100), 100);
  EXPECT_EQ(map.count({0, 0}), 0);
  map.close();
}

TEST(slot_map, opens_only_with_a_size) {
  slot_map map;
  EXPECT_FALSE(map.open(0));
  EXPECT_FALSE(map.open(-1));
  EXPECT_FALSE(map.open(slot_map::most_slots + 1));
  map.close();
}

TEST(slot_map, refused_memory_leaves_it_closed) {
  for (const auto kind : {os::fail_kind::reserve, os::fail_kind::commit}) {
    slot_map map;
    os::fail_after(kind, 1, false);
    EXPECT_FALSE(map.open(1000));
    os::fail_never();
    EXPECT_TRUE(map.open(1000));
    map.set({0, 1000});
    EXPECT_EQ(map.count(), 1000);
    map.close();
  }
}

// ---- 2^28 slots: 16 TiB of 64 KiB each -------------------------------------------------------------

long resident_bytes() {
  std::FILE *file = std::fopen("/proc/self/statm", "r");
  char line[256] = "";
  const char *all = std::fgets(line, sizeof line, file);
  std::fclose(file);
  char *resident = nullptr; // the second number
  return all == nullptr || std::strtol(all, &resident, 10) == 0
             ? -1
             : std::strtol(resident, nullptr, 10) * sysconf(_SC_PAGESIZE);
}

constexpr slot many = slot{1} << 28;

// A whole level 0 is 32 MiB. (A sanitizer's own memory would be counted too.)
void expect_less_resident(long before, long mebibytes) {
  if (!nth::test::under_tsan && !nth::test::under_asan) {
    EXPECT_GT(before, 0);
    EXPECT_LT(resident_bytes() - before, mebibytes << 20);
  }
}

TEST(slot_map_of_16_tib, an_empty_one_stays_small) {
  const long before = resident_bytes();
  slot_map map;
  ASSERT_TRUE(map.open(many));
  EXPECT_EQ(map.next(0), no_slot);
  EXPECT_EQ(map.find(5), no_slot);
  map.set({many - 3, 3});
  map.set({12'345'678, 100});
  EXPECT_EQ(map.next(0), 12'345'678);
  EXPECT_EQ(map.find(101), no_slot);
  EXPECT_EQ(map.find(3, 12'345'778), many - 3);
  EXPECT_EQ(map.count(), 103);
  map.clear({0, many});
  EXPECT_EQ(map.count(), 0);
  expect_less_resident(before, 1);
  map.close();
}

TEST(slot_map_of_16_tib, a_part_of_it_stays_small) {
  const long before = resident_bytes();
  const start begin{{}, many, 3, 4};
  slot_map map;
  ASSERT_TRUE(map.open(many, pattern_of(begin)));
  const slot first = many / 4 * 3;
  EXPECT_EQ(map.next(0), first);
  EXPECT_EQ(map.next_absent(first), many);
  EXPECT_EQ(map.find(many / 4), first);
  EXPECT_EQ(map.find(many / 4 + 1), no_slot);
  map.clear({first, 1000});
  EXPECT_EQ(map.find(1), first + 1000);
  EXPECT_EQ(map.find(many / 4 - 1000), first + 1000);
  // Slots of other ranks come: what lies around them is still known to be empty.
  map.set({5, 2});
  map.set({many / 2, 64});
  EXPECT_EQ(map.next(0), 5);
  EXPECT_EQ(map.next(7), many / 2);
  EXPECT_EQ(map.find(65), first + 1000);
  EXPECT_EQ(map.find(3), many / 2);
  EXPECT_EQ(map.count({0, first}), 66);
  expect_less_resident(before, 1);
  map.close();
}

TEST(slot_map_of_16_tib, a_cyclic_one_is_written_where_it_is_changed) {
  const long before = resident_bytes();
  const start begin{{spread::cyclic, 1, nullptr}, many, 1, 3};
  slot_map map;
  ASSERT_TRUE(map.open(many, pattern_of(begin)));
  for (slot s = 1, i = 0; i < 1000; ++i, s += 3) {
    EXPECT_EQ(map.find(1), s);
    map.clear({s, 1});
  }
  EXPECT_EQ(map.find(2, many - 100'000), no_slot);
  expect_less_resident(before, 1);
  map.close();
}

// ---- Memory is left alone where it may be ----------------------------------------------------------

// How many words the pattern was asked for: what is known to be empty is not.
struct asked {
  start begin;
  long words;
};
std::uint64_t counted_word(slot index, const void *context) {
  auto *a = static_cast<asked *>(const_cast<void *>(context));
  ++a->words;
  return start_word(index, &a->begin);
}

TEST(slot_map, known_emptiness_is_not_read_again) {
  const slot slots = slot{1} << 24;
  asked a{{{}, slots, 1, 2}, 0};
  slot_map map;
  ASSERT_TRUE(map.open(slots, {counted_word, &a, a.begin.spread.hull(slots, 1, 2), nullptr}));
  EXPECT_EQ(map.find(1), slots / 2);
  EXPECT_LT(a.words, 10);
  map.set({1, 1}); // lies where the pattern has nothing
  EXPECT_EQ(map.find(1, 2), slots / 2);
  EXPECT_LT(a.words, 20);
  // From the last bit of words of levels 1 and 2: what follows is another parent's.
  map.set({64 * 4094, 1});
  EXPECT_EQ(map.find(1, 64 * 4095), slots / 2);
  map.clear({64 * 4094, 1});
  EXPECT_LT(a.words, 30);
  // A long series ends where such a word begins.
  map.set({64 * 64, 2 * 64 * 64});
  a.words = 0;
  EXPECT_EQ(map.find(20'000), slots / 2);
  EXPECT_LT(a.words, 1000) << "no more than the series that is found has";
  map.clear({64 * 64, 2 * 64 * 64});
  map.clear({slots / 2, slots / 2 - 1});
  a.words = 0;
  EXPECT_EQ(map.find(1, 2), slots - 1);
  EXPECT_EQ(map.find(2), no_slot);
  EXPECT_LT(a.words, 10);
  map.close();
}

} // namespace
