#include "growth/refuse.hpp"

#include "base/error.hpp"
#include "thread/limits.hpp"
#include "thread/roomy.hpp"

#include <cstring>
#include <dlfcn.h>

namespace nth::detail {

const void *function_behind(const void *code) noexcept {
  const auto place = reinterpret_cast<std::uintptr_t>(code);
  const nth_growth_header *program = nth_detail_program;
  if (program == nullptr)
    return code;
  const auto pool = reinterpret_cast<std::uintptr_t>(at_place<char>(program, program->pool));
  if (place - pool < std::uintptr_t{program->stubs} * NTH_STUB_SIZE)
    code = at_place<char>(program, stub_of(program, place).target);
  Dl_info object;
  if (dladdr(code, &object) == 0)
    return code;
  // Of the procedure linkage table: [endbr64] [bnd] jmp *word(%rip)
  constexpr unsigned char landing[] = {0xf3, 0x0f, 0x1e, 0xfa}, jump[] = {0xff, 0x25};
  constexpr unsigned char bound = 0xf2;
  const auto *p = static_cast<const unsigned char *>(code);
  if (std::memcmp(p, landing, sizeof landing) == 0)
    p += sizeof landing;
  if (*p == bound)
    ++p;
  if (std::memcmp(p, jump, sizeof jump) != 0)
    return code;
  std::int32_t distance = 0;
  std::memcpy(&distance, p + sizeof jump, sizeof distance);
  const void *found = nullptr;
  std::memcpy(&found, p + sizeof jump + sizeof distance + distance, sizeof found);
  return found != nullptr ? found : code;
}

[[gnu::cold]] void no_segment(worker *w, const growth_frame *f, const nth_growth_stub &s, unsigned r,
                              std::size_t enough) noexcept {
  set_all_limits(w, 0); // an error handler has stubs of its own
  const void *target = function_behind(f->target);
  const std::uint32_t need = s.need;
  roomy(w, [=] {
    char name[160];
    describe_function(target, name, sizeof name);
    if (r >= stack_regions)
      misuse(
          NTH_ENOMEM,
          "no segment of stack for a call of %s: with the frame of its caller, which may hold its arguments, "
          "it "
          "needs %zu bytes, more than a stack of the largest class that the thread may have; choose a larger "
          "NTH_STACK_SIZE, or keep large objects out of that frame",
          name, enough);
    else
      misuse(NTH_ENOMEM,
             "no segment of stack for a call of %s, which needs %u bytes more than are left: %ld stacks are "
             "in use, "
             "and there is no memory for one of %lu bytes; raise the limit on memory, or block fewer threads",
             name, need, the_stacks.allocated(), 256UL << r);
  });
  end_program(nth_last_error()); // there is nothing to return to
}

[[gnu::cold]] void too_many_segments(worker *w, const growth_frame *f, const stack_top *top) noexcept {
  set_all_limits(w, 0);
  const void *target = function_behind(f->target);
  const nth_desc *thread = top->thread;
  roomy(w, [=] {
    char name[160], root[160] = "the main one";
    describe_function(target, name, sizeof name);
    if (thread != nullptr)
      describe_function(function_behind(reinterpret_cast<const void *>(thread->root)), root, sizeof root);
    misuse(
        NTH_ENOMEM,
        "thread %p, root %s, calls %s, and its segments of stack are as many as NTH_STACK_MOST allows, %zu "
        "bytes: a "
        "recursion that does not end? If it is meant to be so deep, raise NTH_STACK_MOST",
        static_cast<const void *>(thread), root, name,
        std::size_t{the_limits.most_units} << smallest_class_log2);
  });
  end_program(nth_last_error());
}

} // namespace nth::detail
