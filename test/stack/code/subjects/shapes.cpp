// The same for what C++ adds: exceptions, virtual functions, objects that clean up.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#define KEEP __attribute__((noinline, noclone))

namespace {

volatile int sink;

struct shape {
  virtual ~shape() = default;
  virtual int area(int n) const = 0;
  virtual int more(int n) { return area(n) + 1; }
};

struct square : shape {
  int area(int n) const override { return n * n; }
};

struct other : shape {
  int area(int n) const override {
    volatile char buffer[300];
    buffer[n] = 3;
    return buffer[n];
  }
};

struct guard {
  explicit guard(int n) : n_(n) {}
  ~guard() { sink = sink + n_; }
  guard(const guard &) = delete;
  guard &operator=(const guard &) = delete;
  int n_;
};

KEEP int throws(int n) {
  guard g(n);
  if (n % 2 == 1)
    throw std::runtime_error("odd");
  return n;
}

KEEP int many(int a, int b, int c, int d, int e, int f, int g, int h, int i) {
  if (a == 3)
    throw a + b + c + d + e + f + g + h + i;
  return a + i;
}

KEEP int catches(int n) {
  guard outer(1);
  try {
    guard inner(2);
    std::string s(static_cast<std::size_t>(n) * 10, 'x');
    return throws(n) + static_cast<int>(s.size()) + many(n, 1, 2, 3, 4, 5, 6, 7, 8);
  } catch (const std::runtime_error &e) {
    return static_cast<int>(std::string(e.what()).size());
  }
}

KEEP int catches_in_array(int n) {
  volatile int a[static_cast<std::size_t>(n) + 1];
  a[n] = n;
  try {
    guard inner(a[n]);
    return throws(a[n]) + many(n, 1, 2, 3, 4, 5, 6, 7, 8);
  } catch (...) {
    return a[n] + 1;
  }
}

KEEP int virtual_calls(shape &s, int n) { return s.area(n) + s.more(n); }

KEEP int containers(int n) {
  std::map<int, std::string> m;
  std::vector<int> v;
  for (int i = 0; i < n; ++i) {
    m[i * 7 % 5] += std::to_string(i);
    v.push_back(i);
  }
  return static_cast<int>(m.size() + v.size() + m.begin()->second.size());
}

KEEP int aligned_object(int n) {
  struct alignas(128) wide {
    int words[32];
  } w{};
  for (int i = 0; i < 32; ++i)
    w.words[i] = throws(2 * i * n);
  sink = w.words[n];
  return w.words[3];
}

} // namespace

int main() {
  square a;
  other b;
  int s = 0;
  for (int n = 0; n < 4; ++n) {
    s += catches(n) + virtual_calls(a, n) + virtual_calls(b, n) + containers(n + 1) + aligned_object(n);
    try {
      s += catches_in_array(n);
    } catch (int i) {
      s += i;
    }
  }
  std::printf("%d\n", s);
}
