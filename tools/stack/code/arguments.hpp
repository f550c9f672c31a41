// Which argument registers a function reads as it got them, and which may hold arguments where it calls through
// pointers: the lower and the upper bound of van der Veen et al., "A Tough Call: Mitigating Advanced Code-Reuse
// Attacks at the Binary Level", IEEE S&P 2016.
#pragma once

#include "code/depth.hpp"

namespace nth::stack {

// Of what the depth analysis has followed to its end: completes `f`, whose calls are there and sorted.
void find_arguments(const code_map &map, const depth_analysis &d, function_facts &f);

} // namespace nth::stack
