// Every call to the kernel that slots make, refused in turn: nothing changes then, and all works afterwards.
#include "slot_stores.hpp"

namespace {

using namespace nth::test;

class refused : public testing::Test {
protected:
  void SetUp() override {
    os::fail_never();
    setting.bytes = std::size_t{3 * 1024 + 10} << 16; // four windows of memory, the last one short
    setting.cache = 4;
  }
  void TearDown() override {
    os::fail_never();
    store.close();
  }
  void expect_right() {
    ASSERT_EQ(store.owned(), store.size());
    slot first = no_slot;
    ASSERT_EQ(store.take(store.size(), first), taking::ok);
    for (slot s = 0; s < store.size(); s += 100)
      write_marks(store, s, 7);
    ASSERT_EQ(store.count().committed, store.bytes());
    store.give(0, store.size());
    ASSERT_EQ(store.owned(), store.size());
  }
  slot_setting setting;
  slot_store store;
};

TEST_F(refused, opening) {
  constexpr os::fail_kind kinds[] = {os::fail_kind::reserve, os::fail_kind::commit, os::fail_kind::map_pages};
  for (const bool chosen : {false, true}) {
    // With a place of its own choice the area may lie elsewhere, or be smaller; never else.
    setting.base = chosen && os::address_is_ours_to_choose() ? preferred_iso_base : 0;
    for (const os::fail_kind kind : kinds) {
      const long before = os::calls_made(kind);
      ASSERT_TRUE(store.open(setting));
      const long calls = os::calls_made(kind) - before;
      ASSERT_GT(calls, 0);
      store.close();
      for (long n = 1; n <= calls; ++n) {
        for (const bool sticky : {false, true}) {
          os::fail_after(kind, n, sticky);
          const bool opened = store.open(setting);
          os::fail_never();
          ASSERT_EQ(opened, store.is_open());
          if (opened) {
            EXPECT_EQ(kind, os::fail_kind::reserve);
            EXPECT_EQ(setting.base, 0U);
            EXPECT_EQ(n, 1) << "the others are not for the area";
          }
          store.close();
        }
        ASSERT_TRUE(store.open(setting));
        ASSERT_NO_FATAL_FAILURE(expect_right());
        store.close();
      }
    }
  }
}

TEST_F(refused, a_place_that_is_taken) {
  void *const other = os::reserve(nullptr, setting.bytes, std::size_t{1} << 16);
  setting.base = reinterpret_cast<std::uintptr_t>(other);
  EXPECT_FALSE(store.open(setting));
  EXPECT_FALSE(store.is_open());
  os::release(other, setting.bytes);
  EXPECT_TRUE(store.open(setting));
}

TEST_F(refused, an_area_too_large_is_halved) {
  setting.bytes = std::size_t{1} << 50; // more than there is
  ASSERT_TRUE(store.open(setting));
  EXPECT_LT(store.bytes(), setting.bytes);
  EXPECT_EQ(store.setting().bytes, store.bytes());
  slot first = no_slot;
  EXPECT_EQ(store.take(1, first), taking::ok);
  store.give(first, 1);
}

// A window is refused: just the slots are had.
TEST_F(refused, a_window) {
  ASSERT_TRUE(store.open(setting));
  os::fail_after(os::fail_kind::commit, 1, false);
  slot first = no_slot;
  ASSERT_EQ(store.take(3, first), taking::ok);
  EXPECT_EQ(store.count().committed, 3U << 16);
  for (slot s = 0; s < 3; ++s)
    write_marks(store, s, 7);
  slot next = no_slot;
  ASSERT_EQ(store.take(1, next), taking::ok);
  EXPECT_EQ(store.count().committed, 64U << 20) << "the next one gets the window";
  for (slot s = 0; s < 3; ++s)
    EXPECT_TRUE(has_marks(store, s, 7));
  store.give(first, 3);
  store.give(next, 1);
  expect_right();
}

TEST_F(refused, memory_for_slots) {
  ASSERT_TRUE(store.open(setting));
  slot first = no_slot;
  for (long n = 1; n <= 8; ++n) {
    os::fail_after(os::fail_kind::commit, n, true);
    const taking got = store.take(store.size(), first);
    os::fail_never();
    if (got == taking::ok) { // each window once, then there is nothing more to refuse
      EXPECT_GT(n, 1);
      store.give(0, store.size());
      continue;
    }
    ASSERT_EQ(got, taking::no_memory);
    ASSERT_EQ(store.owned(), store.size());
    ASSERT_EQ(store.count().taken, 0);
    ASSERT_EQ(store.longest(), store.size());
  }
  expect_right();
}

TEST_F(refused, extending_and_arriving) {
  ASSERT_TRUE(store.open(setting));
  slot first = no_slot;
  ASSERT_EQ(store.take(1024, first), taking::ok); // a window
  os::fail_after(os::fail_kind::commit, 1, true);
  EXPECT_FALSE(store.extend(0, 1024, 1));
  EXPECT_FALSE(store.commit(1024, 1));
  EXPECT_FALSE(store.commit(1000, 100));
  EXPECT_TRUE(store.commit(1000, 24)) << "has memory";
  store.discard(1000, 24);
  EXPECT_EQ(store.take(1, first), taking::no_memory);
  EXPECT_EQ(store.owned(), store.size() - 1024);
  EXPECT_EQ(store.count().taken, 1024);
  os::fail_never();
  EXPECT_TRUE(store.extend(0, 1024, 1));
  store.give(0, 1025);
  expect_right();
}

// What is sold of them may lie across memory that the kernel refused.
TEST_F(refused, slots_among_others_without_memory) {
  setting.cache = 100;
  ASSERT_TRUE(store.open(setting));
  os::fail_after(os::fail_kind::commit, 1, false);
  slot low = no_slot;
  ASSERT_EQ(store.take(1, low), taking::ok); // alone, without its window
  ASSERT_TRUE(store.commit(1024, 1));
  store.remove({1024, 1});
  write_marks(store, low, 7);
  write_marks(store, 1024, 7);
  store.give(low, 1);
  store.give(1024, 1);
  ASSERT_EQ(store.count().mapped, 2);
  const slot_range sold = store.sell(1500, 0);
  EXPECT_EQ(sold.first, 0);
  EXPECT_EQ(store.count().mapped, 0);
  if (residency_is_known()) {
    EXPECT_EQ(resident_pages(store.base(), store.bytes()), 0);
  }
  store.add(sold);
  expect_right();
}

} // namespace
