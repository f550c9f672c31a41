// What changed between two reports in JSON.
#pragma once

#include "image/module.hpp"

#include <iosfwd>

namespace nth::stack {

struct reported_function {
  std::string name;
  std::string key; // by which the reports' functions are matched; "" for one without a symbol: its name moves
  std::optional<std::int64_t> frame;
  std::optional<std::int64_t> need;
  int certainty = 0; // 0 proved, 1 assumed, 2 unbounded
  std::string reason;
};

// Throws bad_input for what is no report of this tool.
std::vector<reported_function> read_report(const std::string &file);
std::vector<reported_function> parse_report(std::istream &in, const std::string &file_name);

// The worst first: what became unbounded, what became assumed, what grew; then what shrank or got surer; then new and
// removed functions. With roots, only functions of these names, each of which must be in one of the reports. How many
// got worse: their need grew, or is less certain.
std::size_t write_difference(std::ostream &out, const std::vector<reported_function> &before,
                             const std::vector<reported_function> &after,
                             const std::vector<std::string> &roots);

} // namespace nth::stack
