// A matcher for messages: every word must occur, in any order and case; "a|b" wants one of the two.
#pragma once

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace nth::test {

inline std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

class names {
public:
  using is_gtest_matcher = void;

  names(std::initializer_list<const char *> list) : words(list.begin(), list.end()) {}
  explicit names(std::vector<std::string> list) : words(std::move(list)) {}

  bool MatchAndExplain(const std::string &message, std::ostream *why) const {
    for (const std::string &word : words) {
      if (!has(lower(message), lower(word))) {
        if (why != nullptr)
          *why << "which lacks \"" << word << '"';
        return false;
      }
    }
    return true;
  }
  void DescribeTo(std::ostream *out) const { describe(*out << "names"); }
  void DescribeNegationTo(std::ostream *out) const { describe(*out << "lacks one of"); }

private:
  static bool has(const std::string &message, const std::string &alternatives) {
    std::istringstream stream(alternatives);
    for (std::string one; std::getline(stream, one, '|');)
      if (message.find(one) != std::string::npos)
        return true;
    return false;
  }
  void describe(std::ostream &out) const {
    for (const std::string &word : words)
      out << " \"" << word << '"';
  }
  std::vector<std::string> words;
};

} // namespace nth::test

// EXPECT_THAT without GoogleMock, for one word.
#define EXPECT_THAT_NAMES(message, word)                                                                     \
  EXPECT_TRUE(::nth::test::names({word}).MatchAndExplain(message, nullptr))                                  \
      << "the message \"" << (message) << "\" lacks \"" << (word) << '"'
