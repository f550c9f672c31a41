// The tables that libnth reads (nth/growth.h), from a plan.
#pragma once

#include "patch/program_pool.hpp"

namespace nth::stack {

struct growth_tables {
  std::vector<nth_growth_need> needs; // sorted, as sites are
  std::vector<nth_growth_site> sites;
  std::string text;
};

// Functions with an entry stub have a need under both addresses; the stubs' are taken from `pool`. Throws bad_input.
growth_tables make_tables(const link_plan &plan, const program_pool &pool);

// From the header; throws bad_input if it is too far for the tables.
std::int32_t from_header(const program_pool &pool, address a);

} // namespace nth::stack
