// Analyses made by hand that the tests of reports share.
#pragma once

#include "report/report.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <sstream>

namespace nth::stack {

inline std::uint32_t add_function(analysis &a, std::string name, std::int64_t frame,
                                  std::string module = "prog") {
  call_node n;
  n.name = name;
  n.symbol = std::move(name);
  n.module = std::move(module);
  n.entry = 0x1000 + 0x100 * a.graph.nodes.size();
  n.frame = n.touched = frame;
  a.graph.nodes.push_back(std::move(n));
  return static_cast<std::uint32_t>(a.graph.nodes.size() - 1);
}

// With the whole frame of the caller below it, as it is where nothing is pushed for the call.
inline void add_call(analysis &a, std::uint32_t caller, std::uint32_t callee,
                     edge_kind kind = edge_kind::direct, std::uint32_t assumption = 0, bool cold = false) {
  call_node &n = a.graph.nodes[caller];
  ++n.call_sites;
  n.indirect_sites += kind == edge_kind::indirect ? 1 : 0;
  const address at = n.entry + 0x10 * n.call_sites;
  a.graph.edges.push_back({caller, callee, n.frame, at, kind, cold, assumption});
}

inline void finish(analysis &a) {
  a.program = "./prog";
  a.modules = {"./prog", "/lib/libx.so.1"};
  a.module_names = {"prog", "libx.so.1"};
  a.graph.sort();
  a.needs = solve(a.graph, {});
}

// Figure 1(c) of the paper: segments 64, 48, 32, 32, 16; back edges D -> B and E -> E.
inline analysis figure_1() {
  analysis a;
  const auto start = add_function(a, "start", 16);
  const auto b = add_function(a, "B", 16);
  const auto c = add_function(a, "C", 32);
  const auto d = add_function(a, "D", 16);
  const auto e = add_function(a, "E", 16);
  add_call(a, start, b);
  add_call(a, b, c);
  add_call(a, b, d);
  add_call(a, d, b);
  add_call(a, d, e);
  add_call(a, e, e);
  finish(a);
  return a;
}

// Some of everything: names of any bytes, an assumption, a frame without bound, a call of something unknown, a cycle, a
// library, a set of callees, a long chain, a thing that is cold.
inline analysis menagerie(std::uint32_t functions = 40) {
  analysis a;
  a.graph.assumptions.emplace_back("a call through the first word of an object is a virtual one");
  const auto main = add_function(a, "main", 48);
  const auto odd = add_function(a, "odd\"name\\N</script><b>\xff\xc3(", 64);
  const auto cpp = add_function(a,
                                "std::map<int, std::string, std::less<int> >::operator[](int "
                                "const&)::{lambda(auto:1)#1}::operator()<long>",
                                32);
  const auto vla = add_function(a, "takes_array", 24);
  a.graph.nodes[vla].bound = frame_bound::unbounded;
  a.graph.nodes[vla].reason = no_bound::dynamic_allocation;
  a.graph.nodes[vla].reason_at = 0x1234;
  const auto open = add_function(a, "calls_anything", 16);
  const auto even = add_function(a, "is_even", 40);
  const auto uneven = add_function(a, "is_odd", 56);
  const auto write = add_function(a, "write_all", 80, "libx.so.1");
  const auto set = add_function(a, "any of 2 functions", 0, "");
  a.graph.nodes[set].is_set = true;
  add_call(a, main, odd);
  add_call(a, main, vla);
  add_call(a, odd, set, edge_kind::indirect, 1);
  add_call(a, cpp, write, edge_kind::direct, 0, true);
  a.graph.edges.push_back({set, cpp, 0, 0, edge_kind::tail});
  a.graph.edges.push_back({set, write, 0, 0, edge_kind::tail});
  a.graph.open.push_back({open, 0x1444, 16, true, "a pointer of unknown origin: any function"});
  add_call(a, main, open);
  add_call(a, even, uneven);
  add_call(a, uneven, even);
  std::uint32_t before = write;
  for (std::uint32_t i = 9; i < functions; ++i) {
    const auto next = add_function(a, "step_" + std::to_string(i), 16 + 8 * (i % 50));
    if (i % 100 != 9)
      add_call(a, next, before);
    before = next;
  }
  a.missing = {"libgone.so.2"};
  finish(a);
  return a;
}

template <typename F>
std::string text_of(F write) {
  std::ostringstream out;
  write(out);
  return out.str();
}

inline std::string message_of(const std::function<void()> &refused) {
  try {
    refused();
  } catch (const bad_input &error) {
    return error.what();
  }
  ADD_FAILURE() << "was not refused";
  return "";
}

} // namespace nth::stack
