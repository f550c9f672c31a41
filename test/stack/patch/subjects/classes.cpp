// Vtables, members by pointer, exceptions through stubs, function objects, initializers.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct shape {
  virtual ~shape() { std::printf("gone\n"); }
  virtual double area() const = 0;
  virtual const char *name() const { return "shape"; }
};
struct square : shape {
  explicit square(double s) : side(s) {}
  double area() const override { return side * side; }
  const char *name() const override { return "square"; }
  double side;
};
struct named {
  virtual ~named() = default;
  virtual std::string label() const { return "nameless"; }
};
struct circle : shape, named {
  explicit circle(double r) : radius(r) {}
  double area() const override { return 3 * radius * radius; }
  std::string label() const override { return "round"; }
  double radius;
};

struct guard {
  explicit guard(int n) : number(n) {}
  ~guard() { std::printf("unwound %d\n", number); }
  int number;
};

__attribute__((noinline)) int deep(int n, int (*at_end)(int)) {
  const guard g(n);
  if (n == 0)
    return at_end(n);
  return deep(n - 1, at_end) + 1;
}
__attribute__((noinline)) int fail(int n) { throw std::runtime_error("at the end " + std::to_string(n)); }
__attribute__((noinline)) int pass(int n) { return n + 100; }

struct counter {
  int add(int x) { return total += x; }
  int sub(int x) { return total -= x; }
  int total = 0;
};

const std::map<std::string, std::function<int(int)>> table = {{"pass", pass},
                                                              {"plus", [](int x) { return x + 1; }}};

} // namespace

int main() {
  std::vector<std::unique_ptr<shape>> all;
  all.push_back(std::make_unique<square>(2));
  all.push_back(std::make_unique<circle>(1));
  for (const auto &s : all)
    std::printf("%s %g\n", s->name(), s->area());
  std::printf("%s\n", dynamic_cast<named &>(*all[1]).label().c_str());
  all.clear();
  std::printf("%d\n", deep(3, pass));
  try {
    deep(3, fail);
  } catch (const std::runtime_error &e) {
    std::printf("caught %s\n", e.what());
  }
  try {
    table.at("none");
  } catch (const std::out_of_range &) {
    std::printf("not there\n");
  }
  int (counter::*step[])(int) = {&counter::add, &counter::sub, &counter::add};
  counter c;
  for (auto each : step)
    std::printf("%d ", (c.*each)(7));
  std::printf("%d %d %d\n", step[0] == step[2], table.at("pass")(1), table.at("plus")(1));
  std::vector<std::string> words = {"pear", "fig", "apple", "plum"};
  std::sort(words.begin(), words.end(), [](const auto &a, const auto &b) {
    return a.size() < b.size() || (a.size() == b.size() && a < b);
  });
  for (const auto &w : words)
    std::printf("%s ", w.c_str());
  std::printf("%g %d\n", std::stod("2.5"), *table.at("pass").target<int (*)(int)>() == pass);
}
