// What a marks program is written with: groups of calls, each call by the linker's name of the function.
//
//   MARKS(search) {
//     for (int i = 0; i < rounds(100); ++i)
//       call("strchr", text(below(300)), 'x');
//   }
//
// Each group runs in a process of its own, forked before any other ran: the first call of a function in it is the
// first in its process, and its mark is kept apart. Arguments have the types that the function takes (a float is
// 1.0F, integers of any width serve), for a name alone doesn't tell them.
#pragma once

#include "paint.hpp"

#include <bit>
#include <complex>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace nth::marks {

// ---- Results ----------------------------------------------------------------------------------------------

struct result {
  std::uint64_t rax = 0;
  double xmm0 = 0;
  std::size_t mark = 0;

  template <class T>
  [[nodiscard]] T as() const noexcept {
    if constexpr (std::is_pointer_v<T>)
      return reinterpret_cast<T>(rax);
    else if constexpr (std::is_same_v<T, double>)
      return xmm0;
    else if constexpr (std::is_same_v<T, float>)
      return std::bit_cast<float>(static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(xmm0)));
    else
      return static_cast<T>(rax);
  }
};

// ---- Calls ------------------------------------------------------------------------------------------------

// Places arguments as the System V ABI for x86-64 does (its section 3.2.3).
class arguments {
public:
  template <class T>
  void add(T a) {
    if constexpr (std::is_null_pointer_v<T>)
      general(0);
    else if constexpr (std::is_pointer_v<T>)
      general(reinterpret_cast<std::uint64_t>(a));
    else if constexpr (std::is_enum_v<T>)
      general(static_cast<std::uint64_t>(static_cast<std::int64_t>(a)));
    else if constexpr (std::is_integral_v<T>)
      general(static_cast<std::uint64_t>(a)); // signed ones widen with their sign
    else if constexpr (std::is_same_v<T, float>)
      vector(std::bit_cast<std::uint32_t>(a));
    else if constexpr (std::is_same_v<T, double>)
      vector(std::bit_cast<std::uint64_t>(a));
    else if constexpr (std::is_same_v<T, long double>)
      memory(&a, 10, 2);
    else if constexpr (std::is_same_v<T, std::complex<float>>)
      vector(std::bit_cast<std::uint64_t>(a));
    else if constexpr (std::is_same_v<T, std::complex<double>>)
      complex(a);
    else if constexpr (std::is_same_v<T, std::complex<long double>>)
      memory(&a, 26, 4);
    else
      static_assert(!sizeof(T), "an argument of a type that marks do not know how to pass");
  }
  call_frame &finish();

private:
  call_frame frame;
  std::vector<std::uint64_t> words;
  std::size_t generals = 0;

  void general(std::uint64_t a);
  void vector(std::uint64_t a);
  void complex(std::complex<double> a);
  void memory(const void *from, std::size_t bytes, std::size_t in_words);
};

// Ends the process with a message where there is no function of that name.
const void *function_named(const std::string &name);
result measure(const std::string &name, const void *function, call_frame &frame);

template <class... A>
result call_at(const std::string &name, const void *function, A... a) {
  arguments all;
  (all.add(a), ...);
  return measure(name, function, all.finish());
}
template <class... A>
result call(const std::string &name, A... a) {
  return call_at(name, function_named(name), a...);
}

// Ends the process with a message: the function isn't doing what the case is about, so its marks mean nothing.
void expect(bool holds, std::string_view what);

// ---- Input ------------------------------------------------------------------------------------------------

int rounds(int usual);                                // as many times as --scale says
std::uint64_t below(std::uint64_t limit);             // 0 <= random < limit
double real();                                        // of any magnitude, both signs
double unit();                                        // 0 <= random < 1
const char *text(std::size_t length);                 // letters, digits, blanks; lives until the group ends
std::string word(std::size_t length);                 // letters
std::vector<unsigned char> bytes(std::size_t length); // half of them repeat what was before
template <class T>
const T &one_of(const std::vector<T> &all) {
  return all[below(all.size())];
}

// ---- Groups -----------------------------------------------------------------------------------------------

struct group {
  group(const char *group_name, void (*group_body)(), std::size_t stack_size);
  const char *name;
  void (*body)();
  std::size_t stack;
};

#define MARKS_ON(group_name, stack_size)                                                                     \
  static void marks_of_##group_name();                                                                       \
  static const nth::marks::group group_##group_name(#group_name, marks_of_##group_name, stack_size);         \
  static void marks_of_##group_name()
#define MARKS(group_name) MARKS_ON(group_name, 256U << 10U)

} // namespace nth::marks
