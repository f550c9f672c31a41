// Overloads of the C calls for C++: a root may be any function pointer whose parameters and the given
// arguments are words (integers, enumerations or pointers, at most as large as a long). Included by nth.h.
#ifndef NTH_FUNCTIONS_HPP
#define NTH_FUNCTIONS_HPP

#if __cplusplus < 201703L
#error "nth: the overloads of nth.h for C++ need C++17 (-std=c++17 or later)"
#endif

#include <type_traits>

namespace nth {
namespace detail {

template <class T>
long to_word(T value) noexcept {
  static_assert(sizeof(T) <= sizeof(long), "an argument of a nano-thread is one word");
  if constexpr (std::is_null_pointer_v<T>) {
    return 0;
  } else if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<long>(value);
  } else {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>,
                  "an argument of a nano-thread is an integer, an enumeration or a pointer");
    return static_cast<long>(value);
  }
}

using root_function = void (*)();

template <class P, class A>
long to_parameter(A value) noexcept {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<P>) {
    return to_word(static_cast<P>(value));
  } else {
    return to_word(value);
  }
}

// A root that was cast to a function without parameters, as the C calls take it, may be given any number.
template <class... P>
constexpr bool takes(int arguments) noexcept {
  return sizeof...(P) == 0 || arguments == static_cast<int>(sizeof...(P));
}

// The words of a call. Integers are converted to the parameters they are for (an int for an unsigned char
// is cut to one); for a root without parameters they are passed as they are, as in C.
template <class... P, class... A>
void to_words(long *words, A... args) noexcept {
  static_assert(takes<P...>(sizeof...(A)), "the root takes another number of arguments than it is given");
  if constexpr (sizeof...(P) == sizeof...(A)) {
    ((*words++ = to_parameter<P>(args)), ...);
  } else {
    ((*words++ = to_word(args)), ...);
  }
}

} // namespace detail

// While one lives, enqueueing does not suspend the thread that made it (nth_no_suspend_begin): for creators
// that hold a std::mutex. It lives and dies in one nano-thread.
class no_suspend_scope {
public:
  no_suspend_scope() noexcept { nth_no_suspend_begin(); }
  ~no_suspend_scope() { nth_no_suspend_end(); }
  no_suspend_scope(const no_suspend_scope &) = delete;
  no_suspend_scope &operator=(const no_suspend_scope &) = delete;
};

} // namespace nth

template <class R, class... P, class... A>
inline nth_desc *nth_create_ls(R (*root)(P...), int ndep, nth_desc *succ, int narg, A... args) {
  long words[sizeof...(A) + 1] = {};
  nth::detail::to_words<P...>(words, args...);
  return nth_create_ls_v(reinterpret_cast<nth::detail::root_function>(root), ndep, succ,
                         narg == static_cast<int>(sizeof...(A)) ? narg : -1, words);
}

template <class R, class... P, class... A>
inline nth_status nth_run(R (*root)(P...), int narg, A... args) {
  long words[sizeof...(A) + 1] = {};
  nth::detail::to_words<P...>(words, args...);
  return nth_run_v(reinterpret_cast<nth::detail::root_function>(root),
                   narg == static_cast<int>(sizeof...(A)) ? narg : -1, words);
}

// Successors, then arguments, as in the C call.
template <class R, class... P, class... A>
inline nth_desc *nth_create(R (*root)(P...), int ndep, int nsucc, int narg, A... rest) {
  const long words[sizeof...(A) + 1] = {nth::detail::to_word(rest)..., 0};
  const bool right = nsucc >= 0 && nth::detail::takes<P...>(narg) && narg >= 0 &&
                     nsucc + narg == static_cast<int>(sizeof...(A));
  nth_desc *succ[sizeof...(A) + 1];
  for (int i = 0; right && i < nsucc; ++i)
    succ[i] = reinterpret_cast<nth_desc *>(words[i]);
  return nth_create_v(reinterpret_cast<nth::detail::root_function>(root), ndep, right ? nsucc : -1, succ,
                      narg, words + (right ? nsucc : 0));
}

// Members of batches: as the two above.
template <class R, class... P, class... A>
inline void nth_batch_create_ls(nth_desc *thread, R (*root)(P...), int ndep, nth_desc *succ, int narg,
                                A... args) {
  long words[sizeof...(A) + 1] = {};
  nth::detail::to_words<P...>(words, args...);
  nth_batch_create_ls_v(thread, reinterpret_cast<nth::detail::root_function>(root), ndep, succ,
                        narg == static_cast<int>(sizeof...(A)) ? narg : -1, words);
}

template <class R, class... P, class... A>
inline void nth_batch_create(nth_desc *thread, R (*root)(P...), int ndep, int nsucc, int narg, A... rest) {
  const long words[sizeof...(A) + 1] = {nth::detail::to_word(rest)..., 0};
  const bool right = nsucc >= 0 && nth::detail::takes<P...>(narg) && narg >= 0 &&
                     nsucc + narg == static_cast<int>(sizeof...(A));
  nth_desc *succ[sizeof...(A) + 1];
  for (int i = 0; right && i < nsucc; ++i)
    succ[i] = reinterpret_cast<nth_desc *>(words[i]);
  nth_batch_create_v(thread, reinterpret_cast<nth::detail::root_function>(root), ndep, right ? nsucc : -1,
                     succ, narg, words + (right ? nsucc : 0));
}

#endif
