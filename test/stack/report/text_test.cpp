// Names and sizes as people and formats want them.
#include "report/text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace nth::stack {
namespace {

TEST(text, json_strings_of_any_bytes_are_valid) {
  for (int first = 0; first < 256; ++first)
    for (const char *rest : {"", "a", "\xa9", "\x80\x80\x80", "\"\\</script>"}) {
      const std::string name = std::string(1, static_cast<char>(first)) + rest;
      for (const std::string &text : {json_string(name), json_string_for_html(name)})
        ASSERT_TRUE(nlohmann::json::accept(text)) << first << rest;
      EXPECT_EQ(json_string_for_html(name).find('<'), std::string::npos);
    }
  EXPECT_EQ(nlohmann::json::parse(json_string_for_html("operator<<é")).get<std::string>(), "operator<<é");
}

TEST(text, a_terminal_is_not_given_orders) {
  EXPECT_EQ(printable("a\x1b[2Jb\nc\xc2\x9b"
                      "d\xff"),
            "a?[2Jb?c??d?");
  EXPECT_EQ(printable("Größe…"), "Größe…");
  EXPECT_EQ(printable("cut \xe2\x80"), "cut ??");
}

TEST(text, long_names_lose_parameters_then_template_arguments_then_their_middle) {
  EXPECT_EQ(shorten("short(int)", 20), "short(int)");
  EXPECT_EQ(shorten("name_that_is_long(int, char const*)", 20), "name_that_is_long(…)");
  EXPECT_EQ(shorten("vector<std::pair<int, char> >::push(int)", 20), "vector<…>::push(…)");
  EXPECT_EQ(shorten("ns::operator<< <char>(std::ostream&, int)", 26), "ns::operator<< <char>(…)");
  EXPECT_EQ(shorten("ns::operator<< <char>(std::ostream&, int)", 22), "ns::operator<< <…>(…)");
  EXPECT_EQ(shorten("(anonymous namespace)::f(unsigned long)", 28), "(anonymous namespace)::f(…)");
  EXPECT_EQ(shorten("f()", 2), "f()");
  EXPECT_EQ(shorten("a_very_long_name_of_a_function_of_c", 16), "a_ver…ction_of_c");
  EXPECT_EQ(width_of(shorten("a_very_long_name_of_a_function_of_c", 16)), 16U);
  EXPECT_EQ(shorten("not(closed, but long enough to be cut", 12).size(), 14U);
}

TEST(text, sizes) {
  EXPECT_EQ(parse_size("4096"), 4096);
  EXPECT_EQ(parse_size("4K"), 4096);
  EXPECT_EQ(parse_size("64KiB"), 65536);
  EXPECT_EQ(parse_size("1M"), 1 << 20);
  EXPECT_EQ(parse_size("4294967296G"), std::int64_t{1} << 62);
  for (const char *wrong : {"", "K", "-1", "4T", "4 K", "1.5K", "4294967297G", "99999999999999999999", "4Kx"})
    EXPECT_EQ(parse_size(wrong), std::nullopt) << wrong;
  EXPECT_EQ(human_size(1023), "1023 B");
  EXPECT_EQ(human_size(4096), "4.0 KiB");
  EXPECT_EQ(human_size(3 << 20), "3.0 MiB");
}

TEST(text, near_names_are_offered_the_nearest_first) {
  const std::vector<std::string_view> names = {"parse_line", "parse_lines", "print", "unrelated",
                                               "my_parse_line_2"};
  EXPECT_EQ(near_names("parse_lime", names, 2), (std::vector<std::string>{"parse_line", "parse_lines"}));
  EXPECT_EQ(near_names("parse_line", names, 5),
            (std::vector<std::string>{"parse_line", "parse_lines", "my_parse_line_2"}));
  EXPECT_EQ(near_names("relate", names, 5), std::vector<std::string>{"unrelated"});
  EXPECT_TRUE(near_names("zzzzzzzz", names, 5).empty());
}

} // namespace
} // namespace nth::stack
