// Which functions a report shows, and what leads to the need of each.
#pragma once

#include "report/report.hpp"

namespace nth::stack {

inline constexpr std::uint32_t no_step = ~std::uint32_t{0};

// From a function one call down its worst chain. All chains together are one step for each function: a chain goes
// on as the chain of its second function does.
struct chain_step {
  std::uint32_t next = no_step; // the function called; no_step at the deepest
  address at = 0;
  std::int64_t depth = 0;
};
std::vector<chain_step> chain_steps(const analysis &a);

// Where the chain of each unbounded function ends: the function that has no bound, or the first one of the cycle.
// no_step for the bounded.
std::vector<std::uint32_t> culprits(const analysis &a, const std::vector<chain_step> &steps);
// Why that function has no bound of its own, in words without its name.
std::string cause_of(const analysis &a, std::uint32_t culprit);

// The calls that close cycles, those that annotations add too; sorted by caller.
std::vector<call_edge> back_calls(const analysis &a);

// By linker name, demangled name with or without parameters, or "0x" address in the program. The program's own go
// before those of libraries of the same name. Empty: none.
std::vector<std::uint32_t> functions_named(const analysis &a, std::string_view name);
// The same; throws bad_input that suggests names near to it when there is none.
std::vector<std::uint32_t> functions_known(const analysis &a, std::string_view name);

// What the roots reach, themselves included; without roots all.
std::vector<bool> reached(const analysis &a, const std::vector<std::string> &roots);
// What options.roots and options.all_modules leave, as options.sort says.
std::vector<std::uint32_t> shown_functions(const analysis &a, const report_options &options);

// The need with what a signal takes; no_need stays.
std::int64_t charged(std::int64_t need, const report_options &options) noexcept;

std::string_view word_for(certainty c) noexcept;
std::string_view word_for(frame_bound b) noexcept;
std::string_view words_for(no_bound b) noexcept;

} // namespace nth::stack
