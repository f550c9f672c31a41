// Alone in its file, so that a test may bring an answer of its own.
#include "thread/dispatch.hpp"
#include "thread/needs.hpp"

namespace nth::detail {

bool may_call_in_place(const nth_desc *child, std::uintptr_t room) noexcept {
  constexpr long for_the_call = 256; // frames between the creator's and the child's
  const need_entry *e = the_needs.find(child->root);
  return e != nullptr && !e->may_block && e->need + for_the_call <= static_cast<long>(room);
}

} // namespace nth::detail
