// Landing pads: of a catch, of a cleanup, in the cold part.
#include <cstdio>
#include <stdexcept>
#include <string>

struct noisy {
  explicit noisy(const char *t) : text(t) {}
  ~noisy() { std::puts(text.c_str()); }
  std::string text;
};

[[gnu::noinline]] int may_throw(int x) {
  if (x > 3)
    throw std::runtime_error("large");
  return x;
}

[[gnu::noinline]] int catches(int x) {
  try {
    noisy n("leaving");
    return may_throw(x) + may_throw(x + 1);
  } catch (const std::runtime_error &e) {
    std::puts(e.what());
    return -1;
  } catch (...) {
    return -2;
  }
}

[[gnu::noinline]] int cleans_up(int x) {
  noisy a("a"), b("b");
  return may_throw(x);
}

int main(int argc, char **) { return catches(argc) + cleans_up(argc); }
