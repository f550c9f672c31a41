// Which calls and jumps can be redirected, and to what bytes.
#include "patch/call_sites.hpp"

#include "image/subject.hpp"

#include <gtest/gtest.h>

namespace nth::stack::test {
namespace {

const module &subject() {
  static const module m(
      build("../../patch/subjects/calls.S", "-nostdlib -nostartfiles -no-pie -Wl,-e,entry -Wl,-q"));
  return m;
}

address at(std::string_view label) {
  for (const symbol &s : subject().symbols)
    if (s.name == label)
      return s.at;
  ADD_FAILURE() << "no label " << label;
  return 0;
}

// What the instruction becomes: decoded where it is.
instruction changed(std::string_view label, address to) {
  const call_place place = call_place_at(subject(), at(label));
  EXPECT_EQ(place.why, "") << label;
  const auto code = redirected(subject(), place, at(label), to);
  EXPECT_EQ(code.size(), place.length) << label;
  return decode(code, at(label));
}

TEST(call_sites, are_redirected) {
  const address to = at("other");
  struct known {
    const char *label;
    call_form form;
    op kind;
    bool returns;
  };
  for (const known &k : {known{"direct_call", call_form::direct, op::call, true},
                         known{"direct_jump", call_form::direct, op::jump, false},
                         known{"long_branch", call_form::direct, op::branch, false},
                         known{"relaxed_call", call_form::direct, op::call, true},
                         known{"slot_call", call_form::call_by_slot, op::call, true},
                         known{"slot_jump", call_form::jump_by_slot, op::jump, false},
                         known{"notrack_call", call_form::call_by_slot, op::call, true},
                         known{"bnd_call", call_form::direct, op::call, true}}) {
    const call_place place = call_place_at(subject(), at(k.label));
    EXPECT_EQ(place.form, k.form) << k.label;
    EXPECT_EQ(place.returns, k.returns) << k.label;
    EXPECT_EQ(place.target, at(k.form == call_form::direct ? "entry" : "slot")) << k.label;
    const instruction is = changed(k.label, to);
    EXPECT_EQ(is.kind, k.kind) << k.label;
    EXPECT_EQ(is.target(), to) << k.label;
    if (k.kind == op::call) { // the return address is what tables know the call by
      EXPECT_EQ(is.length, place.length) << k.label;
    }
  }
  EXPECT_EQ(changed("long_branch", to).when, condition::above);
}

TEST(call_sites, that_can_not_say_why) {
  for (const char *label : {"short_jump", "register_call", "memory_call", "indexed_call", "no_call", "slot",
                            "fixed_slot_call", "own"}) {
    const call_place place = call_place_at(subject(), at(label));
    EXPECT_EQ(place.form, call_form::fixed) << label;
    EXPECT_NE(place.why, "") << label;
    EXPECT_TRUE(redirected(subject(), place, at(label), at("other")).empty()) << label;
  }
  EXPECT_NE(call_place_at(subject(), at("own")).why.find("libnth"), std::string::npos);
  EXPECT_NE(call_place_at(subject(), at("short_jump")).why.find("short"), std::string::npos);
}

TEST(call_sites, too_far_away) {
  const call_place place = call_place_at(subject(), at("direct_call"));
  EXPECT_TRUE(
      redirected(subject(), place, at("direct_call"), at("direct_call") + (address{1} << 31U) + 16).empty());
  EXPECT_FALSE(
      redirected(subject(), place, at("direct_call"), at("direct_call") + (address{1} << 31U) - 16).empty());
}

} // namespace
} // namespace nth::stack::test
