// Whether the needs of given roots stay within limits.
#pragma once

#include "report/report.hpp"

#include <optional>

namespace nth::stack {

struct root_limit {
  std::string name; // linker or demangled
  std::int64_t limit = 0;
  std::string where; // file and line
};

// A root a line, "name" or "name 2K"; '#' begins a comment. Without an own limit `limit` holds. Throws bad_input.
std::vector<root_limit> parse_roots(std::string_view text, std::string_view file_name,
                                    std::optional<std::int64_t> limit);
std::vector<root_limit> read_roots(const std::string &file, std::optional<std::int64_t> limit);

// A line for each root; its worst chain too where it fails: over its limit, unbounded or, if strict, assumed.
// How many failed. Throws bad_input for a root that is not there.
std::size_t check_roots(std::ostream &out, const analysis &a, const std::vector<root_limit> &roots,
                        bool strict, const report_options &options);

} // namespace nth::stack
