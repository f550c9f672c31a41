// Slots from this rank, or from whoever brings them from others.
#include "slot_stores.hpp"

namespace {

using namespace nth::test;

struct asked_afar {
  slot count;
  bool may_suspend;
};
asked_afar last_asked;
taking answer_from_afar = taking::ok;

taking afar(slot count, bool may_suspend, slot &first) {
  last_asked = {count, may_suspend};
  first = 77;
  return answer_from_afar;
}

class obtaining : public testing::Test {
protected:
  void SetUp() override {
    slot_setting s;
    s.bytes = 10U << 16;
    ASSERT_TRUE(the_slots.open(s));
    last_asked = {0, false};
    answer_from_afar = taking::ok;
  }
  void TearDown() override {
    slots_from_afar.store(nullptr);
    os::fail_never();
    the_slots.close();
  }
};

TEST_F(obtaining, takes_what_is_here) {
  slots_from_afar.store(afar);
  slot first = no_slot;
  EXPECT_EQ(obtain(3, true, first), taking::ok);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(last_asked.count, 0);
}

TEST_F(obtaining, asks_afar_when_there_is_nothing_or_frozen) {
  slots_from_afar.store(afar);
  slot first = no_slot;
  ASSERT_EQ(the_slots.take(5, first), taking::ok);
  EXPECT_EQ(obtain(6, true, first), taking::ok);
  EXPECT_EQ(first, 77);
  EXPECT_EQ(last_asked.count, 6);
  EXPECT_TRUE(last_asked.may_suspend);
  the_slots.freeze();
  answer_from_afar = taking::none;
  EXPECT_EQ(obtain(1, false, first), taking::none);
  EXPECT_EQ(last_asked.count, 1);
  EXPECT_FALSE(last_asked.may_suspend);
}

TEST_F(obtaining, has_no_one_to_ask) {
  slot first = no_slot;
  EXPECT_EQ(obtain(10, true, first), taking::ok);
  EXPECT_EQ(obtain(1, true, first), taking::none);
  the_slots.freeze();
  EXPECT_EQ(obtain(1, true, first), taking::none);
}

TEST_F(obtaining, what_cannot_be_is_not_asked_for) {
  slots_from_afar.store(afar);
  slot first = no_slot;
  for (const slot count : {slot{0}, slot{-3}, slot{11}, INT64_MAX})
    EXPECT_EQ(obtain(count, true, first), taking::none);
  EXPECT_EQ(last_asked.count, 0);
}

TEST_F(obtaining, no_memory_is_no_reason_to_ask) {
  slots_from_afar.store(afar);
  os::fail_after(os::fail_kind::commit, 1, true);
  slot first = no_slot;
  EXPECT_EQ(obtain(1, true, first), taking::no_memory);
  EXPECT_EQ(last_asked.count, 0);
}

} // namespace
