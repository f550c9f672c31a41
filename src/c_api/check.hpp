// Checks of arguments that several calls share. User mistakes are caught in release builds too.
#pragma once

#include "nth/growth.h"
#include "nth/nth.h"
#include "thread/create.hpp"
#include "thread/runtime.hpp"

#include <cstdarg>

namespace nth::detail {

// What is wrong with the arguments of a creation; null: nothing.
inline const char *wrong_creation(void (*root)(), int ndep, int nsucc, int narg, const long *args) noexcept {
  if (root == nullptr)
    return "the root function is NULL";
  if (ndep < 0 || ndep > NTH_MAX_DEPENDENCIES)
    return "the number of dependencies (ndep) is negative or above NTH_MAX_DEPENDENCIES";
  if (nsucc < 0 || nsucc > NTH_MAX_SUCCESSORS)
    return "the number of successors (nsucc) is negative, above NTH_MAX_SUCCESSORS, or not the number given";
  if (narg < 0 || narg > NTH_MAX_ARGS)
    return "the number of arguments (narg) is negative, above NTH_MAX_ARGS, or not the number given";
  if (narg > 0 && args == nullptr)
    return "the array of arguments is NULL";
  return nullptr;
}

inline const char *wrong_creation(const creation &c) noexcept {
  if (const char *wrong = wrong_creation(c.root, c.ndep, c.nsucc, c.narg, c.args))
    return wrong;
  if (c.nsucc > 0 && c.succ == nullptr)
    return "the array of successors is NULL";
  for (int i = 0; i < c.nsucc; ++i) {
    if (c.succ[i] == nullptr)
      return "a successor is NULL";
  }
  return nullptr;
}

// NTH_STACK_STRICT: whether a thread may not have this root, in a program with a table of needs; and why not.
inline bool is_refused(void (*root)()) noexcept {
  if (the_needs.empty())
    return false;
  const need_entry *e = the_needs.find(root);
  const unsigned assumed = the_runtime.strict > 1 ? NTH_NEED_ASSUMED : 0;
  return e == nullptr || (e->proof & (NTH_NEED_UNBOUNDED | NTH_NEED_GUARDED | assumed)) != 0;
}
const char *describe_refusal(void (*root)(), char *buffer, unsigned long size) noexcept;

// nth_finalize of the cluster's.
nth_status finalize_run() noexcept;

inline bool up() noexcept { return the_runtime.up.load(std::memory_order_acquire); }

// errno and the last error say so; NULL.
nth_desc *no_memory(const char *call) noexcept;

// nth_run_v, for roots of the library too.
nth_status run_root(void (*root)(), int narg, const long *args) noexcept;

// Tells the error handler why `call` cannot enqueue d.
void refuse_enqueue(const char *call, int which, nth_desc *d) noexcept;

// Calls `with(c)` with what follows narg in a call with variable arguments: nsucc successors, then narg words.
template <class F>
inline void read_listed(void (*root)(), int ndep, int nsucc, int narg, va_list list, F with) noexcept {
  nth_desc *succ[NTH_MAX_SUCCESSORS];
  long words[NTH_MAX_ARGS];
  if (nsucc <= NTH_MAX_SUCCESSORS && narg <= NTH_MAX_ARGS) {
    for (int i = 0; i < nsucc; ++i)
      succ[i] = va_arg(list, nth_desc *);
    for (int i = 0; i < narg; ++i)
      words[i] = va_arg(list, long);
  }
  with(creation{root, ndep, nsucc, succ, narg, words});
}

} // namespace nth::detail
