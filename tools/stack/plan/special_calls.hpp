// Calls of the C library with which a stub must do something else than others, or nothing at all.
#pragma once

#include "graph/call_graph.hpp"

namespace nth::stack {

struct special_call {
  // A stub must never stand there: it returns twice, and the second time the segment would be gone; or it takes the
  // frame that it returns to for its caller's.
  bool never = false;
  // NTH_STUB_LONGJMP and its like: it leaves segments behind, so it always enters __morestack, which settles that.
  std::uint32_t flags = 0;
  // What the program calls instead: a name of src/growth/x86_64/morestack.S.
  std::string_view in_place;

  [[nodiscard]] bool always() const noexcept { return flags != 0 || !in_place.empty(); }
};

// By the names that the linker has of the function.
special_call special_call_of(const call_node &callee) noexcept;

// A shared library that leaves functions by setcontext or swapcontext, where no stub stands. (libnth sees to longjmp.)
bool jumps_by_itself(const module &library);

} // namespace nth::stack
