// Marks of libc: memory, numbers, sorting and searching.
#include "marks.hpp"

#include <cstdlib>
#include <search.h>

using namespace nth::marks;

MARKS(allocation) {
  std::vector<void *> held;
  for (int i = 0; i < rounds(600); ++i) {
    const std::size_t size = below(i % 50 == 0 ? 3000000 : i % 5 == 0 ? 20000 : 700);
    switch (below(6)) {
    case 0:
      held.push_back(call("malloc", size).as<void *>());
      break;
    case 1:
      held.push_back(call("calloc", 1 + below(9), size).as<void *>());
      break;
    case 2:
      held.push_back(call("aligned_alloc", 64UL, (size + 63) & ~63UL).as<void *>());
      break;
    case 3: {
      void *p = nullptr;
      expect(call("posix_memalign", &p, 16UL << below(10), size).as<int>() == 0, "memory");
      held.push_back(p);
      break;
    }
    case 4:
      held.push_back(call("memalign", 16UL << below(8), size).as<void *>());
      break;
    default:
      if (!held.empty()) {
        void *&p = held[below(held.size())];
        p = call("realloc", p, 1 + size).as<void *>();
      }
    }
    if (held.size() > 60)
      for (int k = 0; k < 40; ++k) {
        void *&p = held[below(held.size())];
        call("malloc_usable_size", p);
        call("free", p);
        p = held.back();
        held.pop_back();
      }
  }
  call("reallocarray", nullptr, 10UL, 20UL);
  call("valloc", 5000UL);
  call("pvalloc", 5000UL);
  call("malloc_trim", 0UL);
  call("mallopt", -1, 1 << 20);
}

namespace {

int compare_ints(const void *a, const void *b) {
  const int x = *static_cast<const int *>(a);
  const int y = *static_cast<const int *>(b);
  return static_cast<int>(x > y) - static_cast<int>(x < y);
}
int compare_ints_with(const void *a, const void *b, void *) { return compare_ints(a, b); }
void visit(const void *, VISIT, int) {}

} // namespace

MARKS(sorting) {
  for (int i = 0; i < rounds(40); ++i) {
    std::vector<int> v(1 + below(i % 5 == 0 ? 40000 : 300));
    for (int &x : v)
      x = static_cast<int>(below(i % 3 == 0 ? 8 : 1000000));
    call("qsort", v.data(), v.size(), sizeof(int), compare_ints);
    expect(compare_ints(&v.front(), &v.back()) <= 0, "sorted");
    const int key = v[below(v.size())];
    expect(call("bsearch", &key, v.data(), v.size(), sizeof(int), compare_ints).rax != 0, "found");
    std::size_t count = v.size();
    call("lfind", &key, v.data(), &count, sizeof(int), compare_ints);
    std::vector<unsigned char> wide(below(80) * 24);
    call("qsort_r", wide.data(), wide.size() / 24, 24UL, compare_ints_with, nullptr);
    std::vector<unsigned char> huge(20 * 400);
    call("qsort", huge.data(), 20UL, 400UL, compare_ints);
  }
}

MARKS(search_trees) {
  for (int i = 0; i < rounds(5); ++i) {
    void *root = nullptr;
    std::vector<int> keys(2000);
    for (int &k : keys) {
      k = static_cast<int>(below(100000));
      call("tsearch", &k, &root, compare_ints);
    }
    for (int &k : keys)
      call("tfind", &k, &root, compare_ints);
    call("twalk", root, visit);
    for (std::size_t k = 0; k < 1000; ++k)
      call("tdelete", &keys[k], &root, compare_ints);
    call("tdestroy", root,
         reinterpret_cast<void (*)(void *)>(
             reinterpret_cast<void *>(const_cast<void *>(function_named("ffs")))));
    hsearch_data table = {};
    call("hcreate_r", 500UL, &table);
    for (int k = 0; k < 300; ++k) {
      ENTRY entry = {const_cast<char *>(text(8)), nullptr};
      ENTRY *found = nullptr;
      // An ENTRY by value goes in two registers.
      call("hsearch_r", entry.key, entry.data, static_cast<int>(k % 2 == 0 ? ENTER : FIND), &found, &table);
    }
    call("hdestroy_r", &table);
  }
  qelem a = {};
  qelem b = {};
  call("insque", &a, nullptr);
  call("insque", &b, &a);
  call("remque", &b);
}

MARKS(numbers_from_text) {
  char *end = nullptr;
  for (int i = 0; i < rounds(300); ++i) {
    std::string digits;
    for (std::size_t n = 1 + below(i % 20 == 0 ? 900 : 25); n > 0; --n)
      digits += static_cast<char>('0' + below(10));
    std::string number =
        (below(2) == 0 ? "-" : "") + digits.substr(0, 1 + below(digits.size())) + "." + digits;
    if (below(2) == 0)
      number += "e" + std::to_string(static_cast<long>(below(700)) - 350);
    const std::string hex = "0x" + word(1) + digits + ".8p" + std::to_string(below(2000));
    const char *const all[] = {number.c_str(), digits.c_str(),   hex.c_str(), "inf",
                               "nan(12)",      "  -0x1.8p-1074", "x"};
    for (const char *s : all) {
      call("strtod", s, &end);
      call("strtof", s, &end);
      call("strtold", s, &end);
      call("atof", s);
      call("strtof128", s, &end);
      for (const char *f : {"strtol", "strtoul", "strtoll", "strtoull", "strtoimax"})
        call(f, s, &end, static_cast<int>(one_of<int>({0, 10, 16, 36, 2})));
      call("atoi", s);
      call("atol", s);
      call("atoll", s);
      const std::wstring wide(s, s + std::strlen(s));
      wchar_t *wide_end = nullptr;
      call("wcstod", wide.c_str(), &wide_end);
      call("wcstold", wide.c_str(), &wide_end);
      call("wcstol", wide.c_str(), &wide_end, 10);
      call("wcstoull", wide.c_str(), &wide_end, 0);
    }
    const double x = std::strtod(number.c_str(), nullptr);
    int point = 0;
    int sign = 0;
    char room[400];
    call("ecvt", x, static_cast<int>(below(20)), &point, &sign);
    call("fcvt_r", x, static_cast<int>(below(20)), &point, &sign, room, sizeof room);
    call("gcvt", x, static_cast<int>(1 + below(16)), room);
    call("strfromd", room, sizeof room, "%.12g", x);
    call("l64a", static_cast<long>(below(1U << 30U)));
    call("a64l", digits.c_str());
  }
}

MARKS(random_and_division) {
  unsigned seed = 5;
  unsigned short seeds[3] = {1, 2, 3};
  for (int i = 0; i < rounds(50); ++i) {
    call("rand");
    call("rand_r", &seed);
    call("random");
    call("drand48");
    call("erand48", seeds);
    call("lrand48");
    call("mrand48");
    call("srand", static_cast<unsigned>(below(1000)));
    call("srandom", static_cast<unsigned>(below(1000)));
    call("srand48", static_cast<long>(below(1000)));
    call("arc4random");
    call("arc4random_uniform", 1000U);
    call("div", static_cast<int>(below(1000)), static_cast<int>(1 + below(9)));
    call("ldiv", below(1000), 1 + below(9));
    call("abs", -static_cast<int>(below(9)));
    call("labs", -static_cast<long>(below(9)));
  }
  std::vector<unsigned char> room(3000);
  call("arc4random_buf", room.data(), room.size());
  char state[128];
  call("initstate", 7U, state, sizeof state);
}
