// What is found in functions written for it (subjects/snippets.S), as a program of fixed addresses and as a library.
#include "scanned_module.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace nth::stack {
namespace {

struct expected_call {
  std::int64_t depth = 0;
  std::string_view target = {}; // of a direct one
  call_kind kind = call_kind::direct;
  pointer_origin origin = pointer_origin::unknown;
  std::int64_t detail = 0; // offset, or count of a table
  bool returns = true;
};

struct expected_function {
  std::string_view name;
  std::int64_t frame = 8;
  frame_bound bound = frame_bound::exact;
  std::vector<expected_call> calls = {};
  no_bound reason = no_bound::none;
  std::int64_t touched = 0; // 0: the frame
  bool returns = true;
};

constexpr auto bounded = frame_bound::bounded;
constexpr auto unbounded = frame_bound::unbounded;
constexpr auto exact = frame_bound::exact;
constexpr auto tail = call_kind::tail;
constexpr auto indirect = call_kind::indirect;
constexpr auto indirect_tail = call_kind::indirect_tail;

const std::vector<expected_function> &expectations() {
  static const std::vector<expected_function> all = {
      {.name = "callee"},
      {.name = "plain", .frame = 64, .calls = {{64, "callee"}}},
      {.name = "frame_by_lea", .frame = 80, .calls = {{80, "callee"}}},
      {.name = "frame_by_register", .frame = 8 + 0x12340, .calls = {{8 + 0x12340, "callee"}}},
      {.name = "by_enter", .frame = 48, .calls = {{48, "callee"}}},
      {.name = "pushes_of_all_sizes", .frame = 42, .calls = {{42, "callee"}}},
      {.name = "differing_ways", .frame = 16, .calls = {{16, "callee"}, {16, "callee"}}},
      {.name = "realigns_by_a_byte",
       .frame = 8 + 8 + 248 + 512,
       .bound = bounded,
       .calls = {{776, "callee"}}},
      {.name = "realigns", .frame = 8 + 24 + 8 + 8 + 8 + 0x48, .bound = bounded, .calls = {{128, "callee"}}},
      {.name = "allocates",
       .frame = 16,
       .bound = unbounded,
       .calls = {{16, "callee"}},
       .reason = no_bound::dynamic_allocation},
      {.name = "allocates_a_little", .frame = 16 + 115, .bound = bounded, .calls = {{16 + 115, "callee"}}},
      {.name = "grows_in_loop", .frame = 16, .bound = unbounded, .reason = no_bound::grows_in_loop},
      {.name = "probes_loop", .frame = 8 + 0x5010, .calls = {{8 + 0x5010, "callee"}}},
      {.name = "switches_stack",
       .frame = 8,
       .bound = unbounded,
       .calls = {{8, "callee"}},
       .reason = no_bound::stack_switch},
      {.name = "leaves_like_longjmp"},
      {.name = "undecodable", .frame = 8, .bound = unbounded, .reason = no_bound::undecodable},
      {.name = "red_zone", .touched = 8 + 0x28},
      {.name = "red_zone_escapes", .touched = 8 + 128},
      {.name = "tail_call", .frame = 16, .calls = {{0, "other_callee", tail}}},
      {.name = "conditional_tail_call", .calls = {{0, "other_callee", tail}}},
      {.name = "tail_call_with_arguments", .frame = 24, .calls = {{16, "other_callee", tail}}},
      {.name = "falls_into_next", .frame = 16, .calls = {{0, "next_one", tail}}},
      {.name = "own_loop"},
      {.name = "switch_relative", .frame = 144, .calls = {{16, "callee"}, {144, "other_callee"}}},
      {.name = "switch_in_memory", .frame = 32, .calls = {{32, "callee"}}, .touched = 16 + 0x14},
      {.name = "switch_on_field", .frame = 16, .calls = {{16, "callee"}}},
      {.name = "switch_masked", .frame = 16, .calls = {{16, "callee"}}},
      {.name = "switch_absolute", .frame = 32, .calls = {{32, "callee"}}},
      {.name = "computed_goto", .frame = 24, .calls = {{16, "callee"}, {24, "other_callee"}}},
      {.name = "unknown_jump",
       .frame = 16,
       .bound = unbounded,
       .calls = {{8, "", indirect_tail}},
       .reason = no_bound::unknown_jump},
      {.name = "calls_slot",
       .frame = 16,
       .calls = {{16, "", indirect, pointer_origin::slot}, {0, "", indirect_tail, pointer_origin::slot}}},
      {.name = "calls_table", .frame = 16, .calls = {{16, "", indirect, pointer_origin::table, 3}}},
      {.name = "calls_virtual",
       .frame = 16,
       .calls = {{16, "", indirect, pointer_origin::field, 0x18},
                 {16, "", indirect, pointer_origin::field, 0x20},
                 {16, "", indirect, pointer_origin::member, 0x30},
                 {16, "", indirect, pointer_origin::unknown}}},
      {.name = "calls_own", .frame = 16, .calls = {{16, "", indirect, pointer_origin::own}}},
      {.name = "where_am_i", .frame = 16},
      {.name = "ends_program", .frame = 16, .returns = false},
      {.name = "ends_program_for_another",
       .frame = 32,
       .calls = {{.depth = 32, .target = "ends_program", .returns = false}},
       .returns = false},
      {.name = "may_end_program",
       .frame = 24,
       .calls = {{16, "callee"},
                 {24, "callee"},
                 {.depth = 24, .target = "ends_program_for_another", .returns = false}}},
      {.name = "jumps_to_cold", .frame = 80, .calls = {{80, "callee"}}},
      {.name = "calls_setjmp", .frame = 16, .calls = {{16, "setjmp"}}},
      {.name = "relaxed_call", .frame = 16, .calls = {{16, "callee"}}},
      {.name = "saves_on_stack",
       .frame = 48,
       .bound = unbounded,
       .calls = {{48, "callee"}, {48, "other_callee"}},
       .reason = no_bound::dynamic_allocation},
      {.name = "unwind_table_tells_of_end",
       .frame = 48,
       .calls = {{.depth = 32, .kind = indirect, .returns = false}, {48, "callee"}}},
      {.name = "trusts_no_callee",
       .frame = 40,
       .bound = unbounded,
       .calls = {{40, "callee"}},
       .reason = no_bound::stack_switch},
      {.name = "keeps_in_kept_register", .frame = 48, .calls = {{48, "callee"}, {16, "other_callee"}}},
      {.name = "returns_to_pushed", .frame = 16, .calls = {{0, "", indirect_tail}}},
  };
  return all;
}

class snippets : public testing::TestWithParam<const char *> {
protected:
  scanned_module m_{std::string(SUBJECTS "/") + GetParam()};
};

TEST_P(snippets, frames_and_calls) {
  for (const expected_function &e : expectations()) {
    SCOPED_TRACE(e.name);
    const function_facts *f = m_.of(e.name);
    ASSERT_NE(f, nullptr);
    EXPECT_EQ(f->frame, e.frame);
    EXPECT_EQ(f->touched, e.touched != 0 ? e.touched : e.frame);
    EXPECT_EQ(f->bound, e.bound);
    EXPECT_EQ(f->reason, e.reason);
    EXPECT_EQ(f->returns, e.returns);
    EXPECT_EQ(f->calls_setjmp, e.name == "calls_setjmp");
    ASSERT_EQ(f->calls.size(), e.calls.size());
    for (std::size_t i = 0; i < e.calls.size(); ++i) {
      SCOPED_TRACE(i);
      const call_site &c = f->calls[i];
      const expected_call &want = e.calls[i];
      EXPECT_EQ(c.kind, want.kind);
      EXPECT_EQ(c.depth, want.depth);
      EXPECT_EQ(c.returns, want.returns);
      EXPECT_EQ(c.source.origin, want.origin);
      if (!want.target.empty()) {
        EXPECT_EQ(c.target, m_.entry_of(want.target));
      }
      if (want.origin == pointer_origin::table) {
        EXPECT_EQ(c.source.count, want.detail);
        EXPECT_EQ(c.source.stride, 8U);
      } else {
        EXPECT_EQ(c.source.offset, want.detail);
      }
      EXPECT_EQ(c.next != 0, c.kind == call_kind::direct || c.kind == call_kind::indirect);
    }
  }
}

TEST_P(snippets, meeting_at_two_depths_is_bounded) {
  const function_facts *f = m_.of("meets_at_two_depths");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->frame, 24);
  ASSERT_FALSE(f->calls.empty());
  EXPECT_EQ(f->calls.front().depth, 24);
  EXPECT_NE(f->bound, exact);
}

TEST_P(snippets, fragments_belong_to_who_jumps_there) {
  const function_facts *f = m_.of("jumps_to_cold");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->fragments, std::vector<address>{m_.entry_of("jumps_to_cold.cold")});
  ASSERT_EQ(f->calls.size(), 1U);
  EXPECT_TRUE(f->calls.front().cold);
}

TEST_P(snippets, cold_is_what_ends_in_a_call_that_does_not_return) {
  const function_facts *f = m_.of("may_end_program");
  ASSERT_NE(f, nullptr);
  ASSERT_EQ(f->calls.size(), 3U);
  EXPECT_FALSE(f->calls[0].cold);
  EXPECT_TRUE(f->calls[1].cold);
  EXPECT_TRUE(f->calls[2].cold);
}

TEST_P(snippets, taken_addresses) {
  const function_facts *f = m_.of("takes_addresses");
  ASSERT_NE(f, nullptr);
  std::vector<address> want = {m_.entry_of("callee"), m_.entry_of("other_callee"), m_.entry_of("plain")};
  std::sort(want.begin(), want.end());
  EXPECT_EQ(f->taken, want);
  // Labels of jumps are none.
  for (const std::string_view name : {"switch_relative", "switch_absolute", "computed_goto", "where_am_i"}) {
    ASSERT_NE(m_.of(name), nullptr);
    EXPECT_TRUE(m_.of(name)->taken.empty()) << name;
  }
}

TEST_P(snippets, a_jump_into_straight_code_is_followed) {
  const function_facts *f = m_.of("into_straight_code");
  ASSERT_NE(f, nullptr);
  EXPECT_NE(f->bound, unbounded);
  EXPECT_EQ(f->frame, 16);
}

INSTANTIATE_TEST_SUITE_P(linked, snippets, testing::Values("snippets", "snippets_shared"),
                         [](const auto &each) { return std::string(each.param); });

TEST(weak_symbol, that_is_not_there_has_no_target) {
  const scanned_module m{SUBJECTS "/snippets"};
  const function_facts *f = m.of("calls_weak");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->bound, exact);
  ASSERT_EQ(f->calls.size(), 1U);
  EXPECT_EQ(f->calls.front().target, 0U);
}

} // namespace
} // namespace nth::stack
