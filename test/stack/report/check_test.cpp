// Roots against their limits.
#include "report/check.hpp"

#include "subject.hpp"

namespace nth::stack {
namespace {

std::size_t check(const std::string &roots, bool strict, std::string &text, std::int64_t charge = 0) {
  std::size_t failed = 0;
  report_options options;
  options.signal_charge = charge;
  text = text_of([&](std::ostream &out) {
    failed = check_roots(out, menagerie(), parse_roots(roots, "roots.txt", 4096), strict, options);
  });
  return failed;
}

TEST(check, roots_are_read) {
  const auto roots = parse_roots("a\n\n# only words\n  f(int, long)  2K # the parser\nb\t100\r\n", "r", 4096);
  ASSERT_EQ(roots.size(), 3U);
  EXPECT_EQ(roots[0].name, "a");
  EXPECT_EQ(roots[0].limit, 4096);
  EXPECT_EQ(roots[1].name, "f(int, long)");
  EXPECT_EQ(roots[1].limit, 2048);
  EXPECT_EQ(roots[1].where, "r:4");
  EXPECT_EQ(roots[2].name, "b");
  EXPECT_EQ(roots[2].limit, 100);
}

TEST(check, a_root_without_limit_is_refused) {
  EXPECT_EQ(message_of([] { parse_roots("x 1K\nmain\n", "r", std::nullopt); }),
            "r:2: no limit for main: write \"main 4K\", or give --limit");
  EXPECT_NE(message_of([] { parse_roots("# none\n", "r", 1); }).find("no root"), std::string::npos);
  EXPECT_NE(message_of([] { read_roots("/nowhere/roots", 1); }).find("/nowhere/roots: can't be read"),
            std::string::npos);
}

TEST(check, within_the_limit_is_fine) {
  std::string text;
  EXPECT_EQ(check("step_9\nstep_10 184\n", false, text), 0U);
  EXPECT_EQ(
      text,
      "fine    step_9: needs 88 of 4096 bytes, proved\nfine    step_10: needs 184 of 184 bytes, proved\n");
}

TEST(check, over_the_limit_fails_with_its_chain) {
  std::string text;
  EXPECT_EQ(check("step_10 183", false, text), 1U);
  EXPECT_NE(text.find("FAILED  step_10: needs 184 bytes, 1 more than its limit of 183"), std::string::npos)
      << text;
  EXPECT_NE(text.find("step_9 "), std::string::npos) << text;
  EXPECT_EQ(check("step_10 184", false, text, 1), 1U) << "the signal counts";
}

TEST(check, unbounded_fails) {
  std::string text;
  EXPECT_EQ(check("main 1G\nis_even 1G", false, text), 2U);
  EXPECT_NE(text.find("FAILED  main: unbounded: "), std::string::npos) << text;
}

TEST(check, assumed_fails_only_if_strict) {
  std::string text;
  const std::string odd = "odd\"name\\N</script><b>\xff\xc3( 1K";
  EXPECT_EQ(check(odd, false, text), 0U) << text;
  EXPECT_EQ(check(odd, true, text), 1U);
  EXPECT_NE(text.find("but that is assumed"), std::string::npos) << text;
  EXPECT_NE(text.find("rests on: a call through"), std::string::npos) << text;
  EXPECT_EQ(check("step_9", true, text), 0U);
}

TEST(check, an_unknown_root_is_refused) {
  std::string text;
  const std::string message = message_of([&] { check("main\nstep_1O", false, text); });
  EXPECT_NE(message.find("roots.txt:2: ./prog: has no function step_1O; is one of these meant: step_1"),
            std::string::npos)
      << message;
}

} // namespace
} // namespace nth::stack
