#include "graph/dying.hpp"

#include <algorithm>
#include <array>

namespace nth::stack {

namespace {

// exit is not among them: a program that ends well calls it, and its handlers run on the caller's stack. Nor is
// _Exit, another name of the _exit in which exit ends, nor what throws.
constexpr std::array<std::string_view, 20> ends = {"abort",
                                                   "__assert_fail",
                                                   "__assert_perror_fail",
                                                   "__assert",
                                                   "__fortify_fail",
                                                   "__stack_chk_fail",
                                                   "__chk_fail",
                                                   "__stack_chk_fail_local",
                                                   "__libc_fatal",
                                                   "__libc_assert_fail",
                                                   "__malloc_assert",
                                                   "malloc_printerr",
                                                   "_ZSt9terminatev",
                                                   "__cxa_pure_virtual",
                                                   "__cxa_deleted_virtual",
                                                   "__clang_call_terminate",
                                                   "_gfortran_runtime_error",
                                                   "_gfortran_runtime_error_at",
                                                   "_gfortran_os_error",
                                                   "_gfortran_os_error_at"};

bool is_end(std::string_view symbol) { return std::find(ends.begin(), ends.end(), symbol) != ends.end(); }

} // namespace

dying_functions::dying_functions(code_targets &targets)
    : targets_(targets), dies_(targets.nodes.size(), false) {
  const program &p = targets.whole();
  for (std::uint32_t n = 0; n < dies_.size(); ++n) {
    const code_targets::function_place place = targets.nodes[n];
    const function &f = p.modules[place.module].table.functions[place.function];
    dies_[n] = is_end(f.symbol) || std::any_of(f.aliases.begin(), f.aliases.end(), is_end);
  }
}

bool dying_functions::ends_at(std::uint32_t module, const call_site &s) const {
  // That a call through a slot does not return was found for slots that keep what the loader put there.
  const bool through_slot = s.source.origin == pointer_origin::slot;
  if (s.returns || (s.target == 0 && !through_slot))
    return false;
  const callees to = through_slot ? targets_.through(module, s.source.base) : targets_.at(module, s.target);
  return !to.nodes.empty() && to.open.empty() &&
         std::all_of(to.nodes.begin(), to.nodes.end(),
                     [&](std::uint32_t n) { return n < dies_.size() && dies_[n]; });
}

} // namespace nth::stack
