// What a user gets to see of an analysis: a table, JSON, Graphviz, a page; checks against limits; differences.
#pragma once

#include "graph/solve.hpp"
#include "report/profile.hpp"

#include <iosfwd>
#include <optional>

namespace nth::stack {

struct analysis {
  std::string program;                   // path as given
  std::vector<std::string> modules;      // paths, the program first
  std::vector<std::string> module_names; // of each of these: call_node::module of its functions
  std::vector<std::string> missing;
  std::vector<std::string> warnings;
  call_graph graph;
  need_table needs;
  std::optional<profile_result> profile; // of a run
};

enum class sort_order : std::uint8_t { need, frame, name };

struct report_options {
  std::vector<std::string> roots; // only these and what they call; empty: all functions
  bool all_modules = false;       // functions of shared libraries too
  sort_order sort = sort_order::need;
  std::size_t top = 0; // lines of the table at most; 0: all
  std::int64_t signal_charge =
      0; // bytes that a signal handler may take on the same stack: part of each need shown
};

void write_table(std::ostream &out, const analysis &a, const report_options &options);
void write_json(std::ostream &out, const analysis &a, const report_options &options);
void write_graphviz(std::ostream &out, const analysis &a, const report_options &options);
void write_page(std::ostream &out, const analysis &a,
                const report_options &options); // one HTML file, no network

// Table 1 of the paper: a line for the program, with all_modules one for each module and for all together.
void write_counts(std::ostream &out, const analysis &a, const report_options &options);
// The calls that make the need of each function of that name, and what it rests on; the calls by which it may block.
void write_chain(std::ostream &out, const analysis &a, std::uint32_t node);
void write_chain(std::ostream &out, const analysis &a, std::string_view name);
void write_blocking_chain(std::ostream &out, const analysis &a, std::string_view name);

} // namespace nth::stack
