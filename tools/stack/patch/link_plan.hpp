// What is to become of a linked program: which calls and which addresses of functions lead to stubs, and what the tables
// for libnth say. Made from the analysis of the very file that is patched: all addresses are those of that file.
#pragma once

#include "image/module.hpp"

namespace nth::stack {

// include/nth/growth.h has these by name (nth_growth_stub, …): the fields are the same, as addresses and texts.
struct planned_stub {
  address target =
      0; // a function, or a stub of the PLT; with `slot` the word that `call *slot(%rip)` loads from
  std::uint32_t need = 0;
  std::uint32_t take = 0;
  std::uint32_t arguments = 0;
  std::uint32_t flags = 0; // NTH_STUB_…
  bool longjmp = false;    // always enters __morestack, which goes on to the target
  bool slot = false;
  address instead_of = 0;      // what calls that lead to it lead to now, a function or slot; 0: the target
  std::string_view in_place{}; // its name, where it stands in place of that
  std::string name{};          // for reports
};

struct call_redirect {
  address at = 0; // of the instruction; see call_sites.hpp
  std::uint32_t stub = 0;
};

struct planned_need {
  address function = 0; // its stub gets an entry of its own, if it has NTH_STUB_ENTRY
  std::uint32_t need = 0;
  std::uint32_t flags = 0; // NTH_NEED_…
  std::string reason;
};

struct planned_site {
  address return_to = 0;
  std::uint32_t depth = 0;
};

struct link_plan {
  // All references to the target of one with NTH_STUB_ENTRY lead to it; at most one such stub for a target.
  std::vector<planned_stub> stubs;
  std::vector<call_redirect> calls;
  std::vector<planned_need> needs; // in any order, as sites are
  std::vector<planned_site> sites;
  std::vector<std::uint32_t> thresholds; // ascending, at most NTH_STUB_LIMITS
};

} // namespace nth::stack
