// Mistakes with memory that keeps its address: each is told, and changes nothing.
#include "iso.hpp"

#include <cstdlib>

using namespace nth::test;

namespace {

class iso_mistakes : public testing::Test {
protected:
  // What the error handler hears of a free.
  static void expect_told(void *block, const char *word) {
    const reports told;
    nth_isofree(block);
    EXPECT_EQ(told.count(), 1) << word;
    EXPECT_EQ(told.last_status(), NTH_EINVAL);
    EXPECT_THAT_NAMES(told.messages(), word);
    EXPECT_THAT_NAMES(told.messages(), "nth_isofree");
    EXPECT_EQ(nth_isousable_size(block), 0U) << "says nothing, changes nothing";
    EXPECT_EQ(told.count(), 1);
    EXPECT_EQ(nth_isorealloc(block, 50), nullptr);
    EXPECT_EQ(told.count(), 2);
    EXPECT_THAT_NAMES(told.messages(), "nth_isorealloc");
  }
  static char *inner(void *block, long offset) { return static_cast<char *>(block) + offset; }
  const watchdog guard{60};
};

void mistakes_of_all_kinds(void (*expect_told)(void *, const char *)) {
  for (const std::size_t size : {32UL, 2000UL, 20'000UL, 200'000UL}) {
    void *block = nth_isomalloc(size);
    void *other = nth_isomalloc(size);
    ASSERT_NE(other, nullptr);
    fill(other, size, 4);
    for (const long offset : {1L, 8L, 16L, static_cast<long>(size) - 1})
      expect_told(static_cast<char *>(block) + offset, "no block|never was a block");
    nth_isofree(block);
    // Of a run without blocks nothing is left that would say so.
    expect_told(block, size == 32 ? "freed before" : "freed before|no block|was freed");
    EXPECT_TRUE(is_filled(other, size, 4));
    nth_isofree(other);
  }
  int here = 0;
  static int there;
  void *const from_malloc = std::malloc(64);
  for (void *foreign : {static_cast<void *>(&here), static_cast<void *>(&there), from_malloc,
                        reinterpret_cast<void *>(16), reinterpret_cast<void *>(~std::uintptr_t{15})})
    expect_told(foreign, "no block");
  std::free(from_malloc);
  work_with_blocks(8);
}

TEST_F(iso_mistakes, in_a_thread) {
  const runtime up(2);
  run([] { mistakes_of_all_kinds(expect_told); });
}

TEST_F(iso_mistakes, outside) {
  const runtime up(2);
  mistakes_of_all_kinds(expect_told);
}

TEST_F(iso_mistakes, by_another_thread_than_the_owner) {
  const runtime up(2);
  void *block = nullptr;
  void *kept = nullptr;
  run([&] {
    block = nth_isomalloc(100);
    kept = nth_isomalloc(100);
    auto frees = [&] {
      nth_isofree(block);
      expect_told(block, "freed before");
      expect_told(static_cast<char *>(kept) + 16, "no block");
    };
    nth_depadd(nth_self(), 2);
    nth_to_lrq(1, create(frees, nth_self()));
    nth_block();
    expect_told(block, "freed before");
  });
  spin_until([] { return iso_stats().slots_taken == 0; });
  expect_told(kept, "ended");
  run([&] { expect_told(kept, "ended"); });
}

TEST_F(iso_mistakes, writes_behind_a_block_are_found_when_asked_for) {
  nth_options o = options(2);
  o.iso_check = 1;
  const runtime up(o);
  run([] {
    for (const std::size_t size : {1UL, 24UL, 1000UL, 30'000UL, 100'000UL}) {
      auto *block = static_cast<char *>(nth_isomalloc(size));
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(nth_isousable_size(block), size);
      char *volatile behind = block + size;
      const char before = *behind;
      *behind = static_cast<char>(before + 1);
      expect_told(block, "behind its end");
      *behind = before;
      const reports told;
      nth_isofree(block);
      EXPECT_EQ(told.count(), 0) << told.messages();
    }
    work_with_blocks(3);
  });
}

TEST_F(iso_mistakes, writes_behind_a_block_are_found_when_its_thread_ends) {
  nth_options o = options(2);
  o.iso_check = 1;
  const runtime up(o);
  const reports told;
  run([] { ASSERT_NE(nth_isomalloc(40), nullptr); });
  EXPECT_EQ(told.count(), 0) << told.messages();
  run([] {
    ASSERT_NE(nth_isomalloc(40), nullptr);
    auto *block = static_cast<char *>(nth_isomalloc(100));
    ASSERT_NE(block, nullptr);
    char *volatile behind = block + 100;
    *behind = 1;
  });
  spin_until([] { return iso_stats().slots_taken == 0; });
  EXPECT_EQ(told.count(), 1);
  EXPECT_NE(told.messages().find("written behind its end; its thread (root "), std::string::npos)
      << told.messages();
}

TEST_F(iso_mistakes, in_the_options) {
  struct row {
    const char *name;
    long nth_options::*field;
    long wrong[4];
  };
  constexpr row rows[] = {
      {"NTH_ISO_SIZE", &nth_options::iso_size, {0, 1 << 19, (1L << 30) + 1, 128L << 40}},
      {"NTH_SLOT_SIZE", &nth_options::slot_size, {0, 1 << 15, (64 << 10) + 1, 2L << 30}},
      {"NTH_SLOT_CACHE", &nth_options::slot_cache, {-1, -1, -1, 1L << 40}},
      {"NTH_SLOT_PREBUY", &nth_options::slot_prebuy, {-1, -1, -1, 1L << 40}},
      {"NTH_ISO_CHECK", &nth_options::iso_check, {-1, 2, 2, 1L << 40}},
  };
  for (const row &one : rows)
    for (const long value : one.wrong) {
      nth_options o = options(1);
      o.*one.field = value;
      EXPECT_EQ(nth_init(&o), NTH_EINVAL) << one.name << '=' << value;
      EXPECT_THAT_NAMES(nth_last_error(), one.name + 4);
      EXPECT_EQ(nth_workers(), 0);
    }
  for (const char *unknown :
       {"random", "cyclic:3", "block-cyclic:0", "block-cyclic:-1", "block-cyclic:x", "user"}) {
    nth_options o = options(1);
    o.slot_distribution = unknown;
    EXPECT_EQ(nth_init(&o), NTH_EINVAL) << unknown;
    EXPECT_THAT_NAMES(nth_last_error(), "NTH_SLOT_DISTRIBUTION");
    EXPECT_THAT_NAMES(nth_last_error(), unknown);
  }
  nth_options o = options(1);
  o.iso_size = 1 << 20;
  o.slot_size = 2 << 20;
  EXPECT_EQ(nth_init(&o), NTH_EINVAL);
  EXPECT_THAT_NAMES(nth_last_error(), "NTH_SLOT_SIZE");
  EXPECT_THAT_NAMES(nth_last_error(), "NTH_ISO_SIZE");
}

TEST_F(iso_mistakes, each_distribution_is_all_of_one_rank) {
  EXPECT_EQ(nth_set_slot_distribution([](long, long, int) { return 0; }), NTH_OK);
  for (const char *known : {"", "partitioned", "cyclic", "block-cyclic", "block-cyclic:3", "user"}) {
    nth_options o = options(1);
    o.slot_distribution = known;
    o.iso_size = 1 << 24;
    const runtime up(o);
    EXPECT_EQ(nth_set_slot_distribution(nullptr), NTH_ESTATE);
    run([] { work_with_blocks(1); });
    expect_slots_taken(0);
    EXPECT_EQ(iso_stats().slots_owned, 256) << known;
  }
  EXPECT_EQ(nth_set_slot_distribution(nullptr), NTH_OK);
}

} // namespace
