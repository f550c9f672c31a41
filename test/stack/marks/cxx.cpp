// Marks of C++: functions of this program that use what libstdc++ has, and some that the library exports.
#include "marks.hpp"

#include <algorithm>
#include <charconv>
#include <deque>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <iostream>
#include <list>
#include <locale>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <unordered_map>
#include <variant>

using namespace nth::marks;

// A subject is called by its name, so it is exported and not inlined.
#define SUBJECT extern "C" [[gnu::noinline, gnu::used, gnu::visibility("default")]]

SUBJECT std::size_t cxx_string(const char *s) {
  std::string a(s);
  a += std::string(s).substr(a.size() / 2) + std::to_string(a.size()) + std::to_string(2.5);
  a.insert(a.size() / 2, "inserted").replace(0, 3, "replaced").erase(2, 4);
  std::reverse(a.begin(), a.end());
  return a.find("in") + a.rfind('x') + static_cast<std::size_t>(std::stoul("12")) +
         static_cast<std::size_t>(std::stod("1e5"));
}

SUBJECT std::size_t cxx_ostringstream(const char *s, double d, long l) {
  std::ostringstream out;
  out << s << ' ' << d << std::setw(20) << std::setfill('*') << std::hex << l << std::scientific << d
      << std::fixed << std::setprecision(30) << d << static_cast<long double>(d) << std::boolalpha << true
      << std::quoted(s) << static_cast<const void *>(s) << std::put_money(static_cast<long double>(l)) << '\n'
      << std::ends;
  const std::time_t now = l;
  out << std::put_time(std::gmtime(&now), "%c %x %X");
  return out.str().size();
}

SUBJECT std::size_t cxx_istringstream(const char *s) {
  std::istringstream in(s);
  int i = 0;
  double d = 0;
  std::string w;
  long double money = 0;
  in >> i >> d >> w;
  std::getline(in, w, 'x');
  in.clear();
  in >> std::hex >> i >> std::ws >> std::get_money(money);
  std::tm t = {};
  in.clear();
  in >> std::get_time(&t, "%Y-%m-%d");
  in.clear();
  in.seekg(0);
  return w.size() + static_cast<std::size_t>(in.tellg());
}

SUBJECT std::size_t cxx_maps(const char *s, int n) {
  std::map<std::string, int> m;
  std::unordered_map<std::string, std::vector<int>> u;
  std::set<int> set;
  for (int i = 0; i < n; ++i) {
    m[s + std::to_string(i * 7919 % 1009)] = i;
    u[std::to_string(i % 50)].push_back(i);
    set.insert(i % 77);
  }
  for (int i = 0; i < n / 2; ++i)
    m.erase(s + std::to_string(i));
  u.rehash(1000);
  return m.size() + u.size() + set.size() + static_cast<std::size_t>(m.count("x"));
}

SUBJECT long cxx_sorting(int *first, int *last) {
  std::vector<int> v(first, last);
  std::sort(v.begin(), v.end());
  std::vector<std::string> names;
  for (const int i : v)
    names.push_back(std::to_string(i * 31 % 1000));
  std::stable_sort(names.begin(), names.end(), std::greater<>());
  std::partial_sort(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end(),
                    std::greater<>());
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 3), v.end());
  std::make_heap(v.begin(), v.end());
  std::sort_heap(v.begin(), v.end());
  std::list<int> l(v.begin(), v.end());
  l.sort();
  std::deque<int> d(v.begin(), v.end());
  std::rotate(d.begin(), d.begin() + static_cast<std::ptrdiff_t>(d.size() / 2), d.end());
  std::inplace_merge(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return std::accumulate(d.begin(), d.end(), 0L);
}

SUBJECT int cxx_regex(const char *pattern, const char *s) {
  try {
    const std::regex r(pattern, std::regex::ECMAScript);
    std::cmatch m;
    const bool found = std::regex_search(s, m, r);
    return static_cast<int>(found) + static_cast<int>(std::regex_replace(s, r, "<$&>").size());
  } catch (const std::regex_error &e) {
    return -e.code();
  }
}

SUBJECT int cxx_locale(const char *name) {
  try {
    const std::locale l(name);
    const std::locale mixed(std::locale::classic(), l, std::locale::numeric);
    std::ostringstream out;
    out.imbue(l);
    out << 1234567.891 << ' ' << 1234567;
    return static_cast<int>(std::use_facet<std::collate<char>>(l).compare("a", &"a"[1], "b", &"b"[1])) +
           std::toupper('x', l);
  } catch (const std::runtime_error &e) {
    return static_cast<int>(std::string_view(e.what()).size());
  }
}

SUBJECT int cxx_iostream(const char *s, int i, double d) {
  std::cout << s << i << ' ' << d << std::endl;
  std::cout.write(s, 1).put('c').flush();
  std::printf("%d", i);
  return static_cast<int>(std::cout.good());
}

struct shape {
  virtual ~shape() = default;
  [[nodiscard]] virtual double area(int depth) const = 0;
};
struct square final : shape {
  double side = 2;
  [[nodiscard]] double area(int) const override { return side * side; }
};
struct noisy final : shape {
  [[nodiscard]] double area(int depth) const override {
    if (depth > 0)
      throw std::invalid_argument("depth " + std::to_string(depth));
    return static_cast<double>(cxx_string("noisy"));
  }
};

SUBJECT double cxx_virtual(int n) {
  std::vector<std::shared_ptr<shape>> all;
  for (int i = 0; i < n; ++i)
    all.push_back(i % 2 == 0 ? std::shared_ptr<shape>(std::make_shared<square>())
                             : std::make_shared<noisy>());
  double sum = 0;
  for (const auto &s : all)
    sum += s->area(0);
  return sum + (dynamic_cast<noisy *>(all[0].get()) != nullptr ? 1 : 0);
}

SUBJECT int cxx_exceptions(int n) {
  const noisy s;
  try {
    try {
      return static_cast<int>(s.area(n));
    } catch (const std::logic_error &) {
      std::throw_with_nested(std::runtime_error("outer"));
    }
  } catch (const std::exception &e) {
    try {
      std::rethrow_if_nested(e);
    } catch (const std::exception &inner) {
      return inner.what()[0];
    }
  }
  return 0;
}

SUBJECT double cxx_functions(double x, int n) {
  std::function<double(double)> f = [n](double y) { return y * n; };
  for (int i = 0; i < 3; ++i)
    f = [f, i](double y) { return f(y) + i; };
  std::variant<int, double, std::string> v = "text";
  const auto size = std::visit([](const auto &a) { return sizeof a; }, v);
  std::mt19937 random(static_cast<unsigned>(n));
  std::normal_distribution<double> normal;
  return f(x) + static_cast<double>(size) + normal(random);
}

SUBJECT std::size_t cxx_to_chars(double d, long l) {
  char room[400];
  const auto a = std::to_chars(room, room + sizeof room, d);
  const auto b = std::to_chars(a.ptr, room + sizeof room, d, std::chars_format::scientific, 20);
  const auto c = std::to_chars(b.ptr, room + sizeof room, l, 7);
  double back = 0;
  std::from_chars(room, a.ptr, back);
  return static_cast<std::size_t>(c.ptr - room) + static_cast<std::size_t>(back == d);
}

SUBJECT std::size_t cxx_files(const char *folder) {
  std::size_t n = 0;
  std::error_code none;
  for (const auto &e : std::filesystem::recursive_directory_iterator(folder, none))
    n += e.path().extension().string().size();
  return n + std::filesystem::weakly_canonical("/usr/../usr/lib/./none", none).string().size();
}

MARKS_ON(subjects, 1U << 20U) {
  for (int i = 0; i < rounds(25); ++i) {
    const char *s = text(1 + below(200));
    expect(call("cxx_string", s).rax != 0, "a string");
    expect(call("cxx_ostringstream", s, real(), static_cast<long>(below(1UL << 40U))).rax > 20,
           "a printed line");
    call("cxx_istringstream", ("12 2.5e10 " + std::string(s) + "x ff 1000 2024-02-29").c_str());
    call("cxx_maps", s, static_cast<int>(below(500)));
    std::vector<int> v(1 + below(3000));
    for (int &x : v)
      x = static_cast<int>(below(1000000));
    call("cxx_sorting", v.data(), v.data() + v.size());
    for (const char *l : {"C", "C.UTF-8", "", "none_SUCH"})
      call("cxx_locale", l);
    call("cxx_iostream", s, i, real());
    call("cxx_virtual", static_cast<int>(1 + below(40)));
    call("cxx_exceptions", i % 3);
    call("cxx_functions", unit(), i);
    call("cxx_to_chars", real(), static_cast<long>(below(1UL << 60U)));
  }
  call("cxx_files", "/usr/include/c++");
}

MARKS_ON(regular_expressions, 4U << 20U) {
  for (int i = 0; i < rounds(3); ++i)
    for (const char *p :
         {"abc", "a*b+c?", "[a-z]+[0-9]{2,4}", "(ab|cd|ef)*x", "^([a-z ]+)([0-9]+)$", "(.)\\1", "((((a))))|b",
          "[[:alpha:]]+", "(unclosed", "(?=x)y", "\\bword\\b", "(a|b)*c"})
      for (const std::size_t size : {10UL, 100UL, 1000UL})
        call("cxx_regex", p, text(size));
}

MARKS(exported) {
  std::ostringstream out;
  std::istringstream in("12 13 14 15 2.5 2.5 word word2 17");
  std::ostream *o = &out;
  for (int i = 0; i < rounds(30); ++i) {
    call("_ZNSolsEi", o, static_cast<int>(below(100000)));
    call("_ZNSolsEl", o, static_cast<long>(below(1UL << 50U)));
    call("_ZNSolsEd", o, real());
    call("_ZNSolsEe", o, static_cast<long double>(real()));
    call("_ZNSolsEb", o, 1);
    call("_ZNSolsEPKv", o, o);
    call("_ZNSo3putEc", o, 'x');
    call("_ZNSo5flushEv", o);
    call("_ZNSo9_M_insertIdEERSoT_", o, real());
    call("_ZNSo9_M_insertIlEERSoT_", o, static_cast<long>(i));
    call("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", o, text(below(100)));
    call("_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l", o, text(50), 50L);
    int n = 0;
    double d = 0;
    std::string w;
    in.clear();
    in.seekg(0);
    std::istream *p = &in;
    call("_ZNSirsERi", p, &n);
    call("_ZNSi10_M_extractIlEERSiRT_", p, &n);
    call("_ZNSi10_M_extractIdEERSiRT_", p, &d);
    call("_ZStrsIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE",
         p, &w);
    call("_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_"
         "T1_EE",
         p, &w);
    std::string s = "some text";
    call("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm", &s, text(100), below(100));
    call("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7reserveEm", &s, below(900));
    call("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE10_M_replaceEmmPKcm", &s, 1UL, 2UL,
         "longer text", 11UL);
    call("_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4findEPKcmm", &s, "x", 0UL, 1UL);
    call("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_assignERKS4_", &s, &w);
    call("_ZdlPv", call("_Znwm", below(3000)).as<void *>());
    call("_ZdaPv", call("_Znam", below(3000)).as<void *>());
    call("_ZSt11_Hash_bytesPKvmm", "bytes", 5UL, 7UL);
  }
}
