// Caches and TLBs of bench/heaps/trace: patterns whose misses are counted by hand, and a slow model beside them.
#include "memory.hpp"

#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

namespace {

using trace::counts;
using trace::geometry;
using trace::memory;

memory cache(const std::string &text) { return memory(trace::cache_geometry(text)); }
memory tlb(const std::string &text) { return memory(trace::tlb_geometry(text)); }

void load_all(memory &m, std::initializer_list<std::uint64_t> addresses) {
  for (const std::uint64_t a : addresses)
    m.load(a, 4);
}

std::string message_of(void (*act)()) {
  try {
    act();
  } catch (const std::invalid_argument &e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(Cache, DirectMappedLinesOfOneSetReplaceEachOther) {
  memory m = cache("l1:8K:1:32");
  load_all(m, {0, 8192, 0, 8192}); // 256 lines: both in set 0
  EXPECT_EQ(m.count().load_misses, 4U);
  load_all(m, {32, 8192, 32}); // set 1 and set 0
  EXPECT_EQ(m.count().load_misses, 5U);
  EXPECT_EQ(m.count().loads, 7U);
}

TEST(Cache, TwoWaysHoldBoth) {
  memory m = cache("l1:8K:2:32");
  load_all(m, {0, 4096, 0, 4096, 0});
  EXPECT_EQ(m.count().load_misses, 2U);
}

TEST(Cache, TheLineUsedLongestAgoMakesWay) {
  memory m = cache("l1:128:4:32"); // one set of four lines
  load_all(m, {0, 32, 64, 96});
  load_all(m, {0, 32}); // now 64 is the oldest
  load_all(m, {128});   // takes its place
  EXPECT_EQ(m.count().load_misses, 5U);
  load_all(m, {96, 0, 32, 128}); // all there
  EXPECT_EQ(m.count().load_misses, 5U);
  load_all(m, {64}); // not there; 96 makes way
  load_all(m, {96});
  EXPECT_EQ(m.count().load_misses, 7U);
}

TEST(Cache, AStoreBringsALineUnlessToldNot) {
  memory with = cache("l1:8K:1:32");
  memory without = cache("l1:8K:1:32:no-write-allocate");
  for (memory *m : {&with, &without}) {
    m->store(64, 8);
    m->load(64, 8);
    m->store(64, 8);
  }
  EXPECT_EQ(with.count().store_misses, 1U);
  EXPECT_EQ(with.count().load_misses, 0U);
  EXPECT_EQ(without.count().store_misses, 1U); // the first alone: the load has brought the line
  EXPECT_EQ(without.count().load_misses, 1U);
}

TEST(Cache, AStoreThatDoesNotAllocateReplacesNothingButRenewsWhatIsThere) {
  memory m = cache("l1:64:2:32:no-write-allocate"); // one set of two lines
  load_all(m, {0, 32});
  m.store(64, 4); // stays outside
  load_all(m, {0, 32});
  EXPECT_EQ(m.count().load_misses, 2U);
  m.store(0, 4); // 32 is the older one now
  load_all(m, {64, 0});
  EXPECT_EQ(m.count().load_misses, 3U);
}

TEST(Cache, AnAccessAcrossTwoLinesMissesInEach) {
  memory m = cache("l1:8K:1:32");
  m.load(30, 4);
  EXPECT_EQ(m.count().loads, 1U);
  EXPECT_EQ(m.count().load_misses, 2U);
  m.load(28, 4); // the last bytes of the first line
  m.load(32, 4); // the first of the second
  EXPECT_EQ(m.count().load_misses, 2U);
  m.load(60, 512); // lines 1 to 17, of which line 1 is there
  EXPECT_EQ(m.count().load_misses, 18U);
}

TEST(Cache, SetsAreCountedFromTheLineOnAnyNumberOfWays) {
  memory m = cache("l1:48K:12:64"); // 64 sets
  for (std::uint64_t i = 0; i < 12; ++i)
    m.load(i * 4096, 8); // all in set 0
  for (std::uint64_t i = 0; i < 12; ++i)
    m.load(i * 4096, 8);
  EXPECT_EQ(m.count().load_misses, 12U);
  m.load(12 * 4096, 8);
  m.load(0, 8); // was the oldest
  EXPECT_EQ(m.count().load_misses, 14U);
}

TEST(Tlb, PagesAreReplacedInOrderOfUse) {
  memory m = tlb("dtlb:32:full:8K");
  for (int turn = 0; turn < 2; ++turn)
    for (std::uint64_t page = 0; page < 32; ++page)
      m.load(page * 8192 + 8184, 8);
  EXPECT_EQ(m.count().load_misses, 32U);
  // One page more than entries, in turn: LRU keeps none of those that come next.
  for (int turn = 0; turn < 2; ++turn)
    for (std::uint64_t page = 0; page < 33; ++page)
      m.load(page * 8192, 8);
  EXPECT_EQ(m.count().load_misses, 32U + 1 + 33);
}

TEST(Tlb, AnAccessAcrossTwoPagesNeedsBoth) {
  memory m = tlb("dtlb:64:4:4K");
  m.store(4092, 8);
  EXPECT_EQ(m.count().store_misses, 2U);
  EXPECT_EQ(m.count().stores, 1U);
}

TEST(Tlb, LoadsAndStoresShareEntries) {
  memory m = tlb("dtlb:4:full:4K");
  m.store(0, 8);
  m.load(8, 8);
  EXPECT_EQ(m.count().store_misses, 1U);
  EXPECT_EQ(m.count().load_misses, 0U);
}

TEST(Geometry, SaysWhatIsWrong) {
  EXPECT_EQ(message_of([] { (void)cache("l1:8K:1"); }),
            "'l1:8K:1': is not name:SIZE:WAYS:LINE[:no-write-allocate]");
  EXPECT_EQ(message_of([] { (void)cache("l1:8Q:1:32"); }),
            "'l1:8Q:1:32': '8Q' is no number from 1 on, with K or M behind it or nothing");
  EXPECT_EQ(message_of([] { (void)cache("l1:8K:1:48"); }),
            "'l1:8K:1:48': the size is no multiple of the line");
  EXPECT_EQ(message_of([] { (void)cache("l1:96:1:48"); }),
            "'l1': a line or page is a power of two, of 2 bytes and more");
  EXPECT_EQ(message_of([] { (void)tlb("t:48:4:4K"); }),
            "'t': 48 blocks in sets of 4 are not a power of two of sets");
  EXPECT_EQ(message_of([] { (void)tlb("t:48:0:4K"); }),
            "'t:48:0:4K': '0' is no number from 1 on, with K or M behind it or nothing");
  EXPECT_EQ(message_of([] { (void)tlb("t:48:4:4K:no-write-allocate"); }),
            "'t:48:4:4K:no-write-allocate': is not name:ENTRIES:WAYS:PAGE");
}

// Each block with the time of its last use, searched from end to end.
class slow_model {
public:
  explicit slow_model(geometry of) : g(std::move(of)) {}
  counts seen;

  void access(bool load, std::uint64_t address, std::uint64_t bytes) {
    ++(load ? seen.loads : seen.stores);
    for (std::uint64_t byte = address; byte < address + bytes; ++byte)
      if (byte == address || byte % g.block_bytes == 0)
        (load ? seen.load_misses : seen.store_misses) += use(byte / g.block_bytes, load || g.store_allocates);
  }

private:
  struct entry {
    std::uint64_t block, last_use;
  };

  std::uint64_t use(std::uint64_t block, bool allocate) {
    const std::uint64_t sets = g.blocks / g.ways;
    std::vector<std::size_t> of_set;
    ++now;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].block == block) {
        all[i].last_use = now;
        return 0;
      }
      if (all[i].block % sets == block % sets)
        of_set.push_back(i);
    }
    if (!allocate)
      return 1;
    if (of_set.size() < g.ways) {
      all.push_back({block, now});
      return 1;
    }
    std::size_t oldest = of_set.front();
    for (const std::size_t i : of_set)
      if (all[i].last_use < all[oldest].last_use)
        oldest = i;
    all[oldest] = {block, now};
    return 1;
  }

  geometry g;
  std::vector<entry> all;
  std::uint64_t now = 0;
};

TEST(Memory, AgreesWithASlowModel) {
  const geometry shapes[] = {
      trace::cache_geometry("a:512:1:32:no-write-allocate"),
      trace::cache_geometry("b:1K:4:16"),
      trace::cache_geometry("c:768:12:64"),
      trace::cache_geometry("d:768:3:64:no-write-allocate"),
      trace::tlb_geometry("e:8:full:256"),
      trace::tlb_geometry("f:16:4:128"),
  };
  for (const geometry &g : shapes)
    for (unsigned seed = 1; seed <= 20; ++seed) {
      memory fast(g);
      slow_model slow(g);
      std::mt19937 random(seed);
      const std::uint64_t reach = 512U << seed % 4;
      for (int i = 0; i < 3000; ++i) {
        const std::uint64_t address = random() % reach + (random() % 8 == 0 ? 1U << 20 : 0);
        const std::uint64_t bytes = 1U << random() % 6;
        const bool load = random() % 3 != 0;
        if (load)
          fast.load(address, bytes);
        else
          fast.store(address, bytes);
        slow.access(load, address, bytes);
      }
      ASSERT_EQ(fast.count().loads, slow.seen.loads) << g.name << ", seed " << seed;
      ASSERT_EQ(fast.count().stores, slow.seen.stores) << g.name << ", seed " << seed;
      ASSERT_EQ(fast.count().load_misses, slow.seen.load_misses) << g.name << ", seed " << seed;
      ASSERT_EQ(fast.count().store_misses, slow.seen.store_misses) << g.name << ", seed " << seed;
      ASSERT_GT(slow.seen.load_misses, 0U);
    }
}

} // namespace
