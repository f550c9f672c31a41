// Counts words: streams, maps, sorting, regular expressions, virtual calls, an exception.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct rule {
  virtual ~rule() = default;
  virtual bool takes(const std::string &word) const = 0;
};
struct longer_than final : rule {
  explicit longer_than(std::size_t n) : least(n) {}
  bool takes(const std::string &word) const override { return word.size() > least; }
  std::size_t least;
};
struct like final : rule {
  explicit like(const std::string &pattern) : expression(pattern) {}
  bool takes(const std::string &word) const override { return std::regex_match(word, expression); }
  std::regex expression;
};

} // namespace

int main() {
  std::vector<std::unique_ptr<rule>> rules;
  rules.push_back(std::make_unique<longer_than>(3));
  rules.push_back(std::make_unique<like>("[a-z]+(ing|ed|s)"));
  std::map<std::string, int> count;
  for (std::string word; std::cin >> word;)
    for (const auto &r : rules)
      if (r->takes(word))
        ++count[word];
  std::vector<std::pair<int, std::string>> order;
  for (const auto &[word, n] : count)
    order.emplace_back(n, word);
  std::sort(order.rbegin(), order.rend());
  try {
    for (std::size_t i = 0; i < 10; ++i)
      std::cout << order.at(i).first << ' ' << order.at(i).second << '\n';
  } catch (const std::out_of_range &e) {
    std::cout << "fewer than ten words\n";
  }
}
