// C++: trees of objects with virtual functions, functions as values, exceptions that pass many of both, streams, containers.
#include "program.h"

#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct expression {
  virtual ~expression() = default;
  [[nodiscard]] virtual long value(long x) const = 0;
  [[nodiscard]] virtual std::string text() const = 0;
};
using owner = std::unique_ptr<expression>;

struct constant final : expression {
  explicit constant(long v) : v_(v) {}
  [[nodiscard]] long value(long) const override { return v_; }
  [[nodiscard]] std::string text() const override { return std::to_string(v_); }
  long v_;
};

struct variable final : expression {
  [[nodiscard]] long value(long x) const override { return x; }
  [[nodiscard]] std::string text() const override { return "x"; }
};

struct binary : expression {
  binary(owner l, owner r) : left(std::move(l)), right(std::move(r)) {}
  owner left, right;
};

struct sum final : binary {
  using binary::binary;
  [[nodiscard]] long value(long x) const override { return left->value(x) + right->value(x); }
  [[nodiscard]] std::string text() const override { return '(' + left->text() + '+' + right->text() + ')'; }
};

struct product final : binary {
  using binary::binary;
  [[nodiscard]] long value(long x) const override { return left->value(x) * right->value(x) % 1000003; }
  [[nodiscard]] std::string text() const override { return left->text() + '*' + right->text(); }
};

struct quotient final : binary {
  using binary::binary;
  [[nodiscard]] long value(long x) const override {
    const long divisor = right->value(x) % 17;
    if (divisor == 0)
      throw std::domain_error("division by zero at " + std::to_string(x));
    return left->value(x) / divisor;
  }
  [[nodiscard]] std::string text() const override { return left->text() + '/' + right->text(); }
};

owner make(unsigned &seed, int depth) {
  seed = seed * 1103515245 + 12345;
  const unsigned kind = seed >> 16 & 7;
  if (depth == 0)
    return kind < 4 ? owner(new variable) : owner(new constant(static_cast<long>(kind)));
  owner left = make(seed, depth - 1);
  owner right = make(seed, depth - 1);
  if (kind < 4)
    return std::make_unique<sum>(std::move(left), std::move(right));
  if (kind < 7)
    return std::make_unique<product>(std::move(left), std::move(right));
  return std::make_unique<quotient>(std::move(left), std::move(right));
}

struct depth_counter {
  explicit depth_counter(long &d) : depth(d) { ++depth; }
  ~depth_counter() { --depth; }
  depth_counter(const depth_counter &) = delete;
  depth_counter &operator=(const depth_counter &) = delete;
  long &depth;
};

long descend(long n, long &depth, const std::function<long(long)> &at_end) {
  const depth_counter counted(depth);
  return n == 0 ? at_end(depth) : 1 + descend(n - 1, depth, at_end);
}

void trees(text *out) {
  unsigned seed = 42;
  long total = 0, thrown = 0;
  for (int tree = 0; tree < 12; ++tree) {
    const owner e = make(seed, 8);
    for (long x = 0; x < 40; ++x)
      try {
        total = (total + e->value(x)) % 1000003;
      } catch (const std::domain_error &error) {
        thrown += static_cast<long>(std::string(error.what()).size());
      }
    if (tree == 3) {
      const std::string t = e->text();
      say_long(out, "tree", t.data(), t.size());
    }
  }
  say(out, "trees: %ld, thrown %ld\n", total, thrown);
}

void throws(text *out) {
  long depth = 0, caught = 0;
  for (long n = 1; n <= 100; n += 3)
    try {
      caught += descend(n, depth, [](long d) -> long {
        if (d % 2 == 0)
          throw d;
        return d;
      });
    } catch (long d) {
      caught -= d;
    }
  try {
    try {
      descend(2000, depth, [](long d) -> long {
        let_others_run();
        throw std::runtime_error(std::to_string(d));
      });
    } catch (...) {
      std::throw_with_nested(std::logic_error("outer"));
    }
  } catch (const std::exception &outer) {
    try {
      std::rethrow_if_nested(outer);
    } catch (const std::exception &inner) {
      say(out, "nested: %s, %s\n", outer.what(), inner.what());
    }
  }
  say(out, "throws: %ld, depth %ld\n", caught, depth);
}

void containers(text *out) {
  std::map<std::string, std::vector<int>> found;
  for (int i = 0; i < 3000; ++i)
    found["key " + std::to_string(i * 31 % 257)].push_back(i);
  std::ostringstream s;
  s.precision(12);
  for (const auto &[key, values] : found)
    s << key << ' ' << values.size() << ' ' << static_cast<double>(values.back()) / 7 << '\n';
  const std::string t = s.str();
  say_long(out, "containers", t.data(), t.size());
}

} // namespace

void prepare() {}

void work(text *out, long size) {
  for (long i = 0; i < size; ++i) {
    trees(out);
    throws(out);
    containers(out);
  }
}
