// The multigraph of calls (paper 002, section 2.1, figure 1(a)): nodes with frames, edges with the caller's depth at
// the call site. Made from a program by build_call_graph; by hand in tests.
#pragma once

#include "code/facts.hpp"

#include <map>

namespace nth::stack {

enum class edge_kind : std::uint8_t { direct, tail, indirect, indirect_tail, lazy_binding };

struct call_edge {
  std::uint32_t caller = 0;
  std::uint32_t callee = 0;
  std::int64_t depth = 0; // as call_site::depth
  address at = 0;         // in the caller's module
  edge_kind kind = edge_kind::direct;
  bool cold = false;
  std::uint32_t assumption =
      0; // index in call_graph::assumptions by which this set of callees is known; 0: proved
};

// A call whose callees are not known at all: its caller is unbounded unless annotated.
struct open_call {
  std::uint32_t caller = 0;
  address at = 0;
  std::int64_t depth = 0;
  bool indirect = false; // through a pointer: an annotation of its targets may stand in for it
  std::string why;       // "pointer from memory: any function", "libfoo.so.1 is not there", …
};

struct call_node {
  std::string name;                 // demangled
  std::string symbol;               // linker's
  std::vector<std::string> aliases; // its other names, the linker's and demangled
  std::string module;
  address entry = 0;
  std::int64_t frame = 8;
  std::int64_t touched = 8;
  frame_bound bound = frame_bound::exact;
  no_bound reason = no_bound::none;
  address reason_at = 0;
  bool address_taken = false;
  bool is_set =
      false; // stands for "any of its callees" (calls out of it have depth 0): takes no stack itself
  std::uint32_t call_sites = 0;     // call instructions, tail jumps to functions too
  std::uint32_t indirect_sites = 0; // of these, through pointers
};

struct call_graph {
  std::vector<call_node> nodes;
  std::vector<call_edge> edges;                // sorted by caller, then by address
  std::vector<open_call> open;                 // sorted by caller
  std::vector<std::string> assumptions = {""}; // in words; [0] is "none"

  [[nodiscard]] std::span<const call_edge> calls_of(std::uint32_t node) const noexcept;
  void sort();                           // after edges were added; also makes what calls_of needs
  std::vector<std::uint32_t> first_edge; // one more than nodes
};

} // namespace nth::stack
