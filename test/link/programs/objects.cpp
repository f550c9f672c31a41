// C++: exceptions over many segments, virtual calls, containers, streams.
#include "run.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

#define NOINLINE [[gnu::noinline]]

struct counted {
  explicit counted(long &n) : n_(n) { ++n_; }
  ~counted() { n_ += 10; }
  counted(const counted &) = delete;
  counted &operator=(const counted &) = delete;
  long &n_;
};

NOINLINE long throw_at(long depth, long &destroyed) {
  const counted c(destroyed);
  if (depth == 0)
    throw std::runtime_error("from the deep");
  return throw_at(depth - 1, destroyed) + 1;
}

NOINLINE long rethrow_at(long depth, long &destroyed) {
  const counted c(destroyed);
  try {
    if (depth == 0)
      throw std::out_of_range("outer");
    return rethrow_at(depth - 1, destroyed) + 1;
  } catch (const std::exception &) {
    if (depth % 3 == 0)
      throw;
    throw std::logic_error("level " + std::to_string(depth));
  }
}

NOINLINE long in_destructor(long depth) {
  struct guard {
    long depth;
    ~guard() {
      try {
        long d = 0;
        throw_at(depth % 7, d);
      } catch (const std::runtime_error &) {
      }
    }
  };
  const guard g{depth};
  if (depth == 0)
    throw std::string("nested");
  return in_destructor(depth - 1) + 1;
}

struct shape {
  virtual ~shape() = default;
  virtual double area(int depth) const = 0;
};
struct square : shape {
  double side;
  explicit square(double s) : side(s) {}
  double area(int) const override { return side * side; }
};
struct group : shape {
  std::vector<std::unique_ptr<shape>> parts;
  NOINLINE double area(int depth) const override {
    double sum = 0;
    for (const auto &p : parts)
      sum += p->area(depth + 1);
    return sum + depth;
  }
};

std::unique_ptr<shape> tree(int depth) {
  if (depth == 0)
    return std::make_unique<square>(1.5);
  auto g = std::make_unique<group>();
  for (int i = 0; i < 2; ++i)
    g->parts.push_back(tree(depth - 1));
  return g;
}

std::unique_ptr<shape> line(int depth) {
  if (depth == 0)
    return std::make_unique<square>(2);
  auto g = std::make_unique<group>();
  g->parts.push_back(line(depth - 1));
  return g;
}

long collatz(const std::function<long(long, const std::function<long(long)> &)> &f, long n, long &steps) {
  ++steps;
  return n <= 1 ? steps : f(n, [&](long m) { return collatz(f, m, steps); });
}

} // namespace

void work(FILE *to) {
  long destroyed = 0;
  for (long depth : {0L, 1L, 10L, 300L, 5000L})
    try {
      throw_at(depth, destroyed);
    } catch (const std::runtime_error &e) {
      std::fprintf(to, "%ld: %s, %ld\n", depth, e.what(), destroyed);
    }
  try {
    rethrow_at(200, destroyed);
  } catch (const std::exception &e) {
    std::fprintf(to, "again: %s, %ld\n", e.what(), destroyed);
  }
  try {
    in_destructor(100);
  } catch (const std::string &s) {
    std::fprintf(to, "%s\n", s.c_str());
  }
  std::fprintf(to, "areas %g %g\n", tree(8)->area(0), line(1000)->area(0));

  std::map<std::string, std::vector<long>> by_name;
  for (long i = 0; i < 500; ++i)
    by_name[std::to_string(i * i % 97)].push_back(i);
  std::ostringstream out;
  for (const auto &[name, list] : by_name)
    out << name << ':' << std::accumulate(list.begin(), list.end(), 0L) << ' ';
  std::fprintf(to, "%zu %s\n", by_name.size(), out.str().substr(0, 60).c_str());

  std::vector<std::string> words;
  std::istringstream in("the quick brown fox jumps over the lazy dog");
  for (std::string w; in >> w;)
    words.push_back(w);
  std::sort(words.begin(), words.end(),
            [](const auto &a, const auto &b) { return a.size() != b.size() ? a.size() < b.size() : a < b; });
  for (const auto &w : words)
    std::fprintf(to, "%s ", w.c_str());

  long steps = 0;
  const long n =
      collatz([](long k, const auto &next) { return next(k % 2 == 0 ? k / 2 : 3 * k + 1); }, 27, steps);
  std::fprintf(to, "\ncollatz %ld\n", n);
}
