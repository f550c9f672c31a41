// What the run-time holds, by kind of object and by where it is (paper 001).
#pragma once

#include "nth/nth.h"

namespace nth::detail {

void read_counters(nth_counters &to) noexcept;
void read_stats(nth_stats &to) noexcept;
void write_stats(int fd) noexcept; // as one JSON object, on one line

} // namespace nth::detail
