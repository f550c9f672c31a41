// Checks of arguments that several calls share. User mistakes are caught in release builds too.
#pragma once

#include "nth/nth.h"

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

} // namespace nth::detail
