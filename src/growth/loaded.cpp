// Functions that are loaded while the program runs: nobody knows what they need, so pointers to them lead through stubs
// that give them a segment with a guard page. There are as many as nth-stack has put into the program.
#include "base/spinlock.hpp"
#include "growth/object.hpp"
#include "growth/program.hpp"
#include "nth/growth.h"

#include <cstdint>
#include <cstring>

#include <dlfcn.h>
#include <link.h>

// A static program may have none.
#pragma weak dlsym

namespace nth::detail {

namespace {

const nth_growth_header *the_program;
spinlock lock;

struct question {
  std::uintptr_t code;
  bool first;
  bool foreign;
};

// The first object is the program.
int look(dl_phdr_info *object, std::size_t, void *asked) noexcept {
  auto *q = static_cast<question *>(asked);
  const bool program = q->first;
  q->first = false;
  if (!holds(*object, q->code, 1, PT_LOAD, PF_X))
    return 0;
  q->foreign = !program;
  return 1;
}

bool is_foreign_code(const void *p) noexcept {
  question q{reinterpret_cast<std::uintptr_t>(p), true, false};
  dl_iterate_phdr(look, &q);
  return q.foreign;
}

// jmp *word(%rip)
void **word_of(const nth_growth_stub &stub) noexcept {
  const char *jump = at_place<char>(the_program, stub.target);
  std::int32_t distance = 0;
  std::memcpy(&distance, jump + 2, sizeof distance);
  constexpr int length = 6;
  return reinterpret_cast<void **>(reinterpret_cast<std::uintptr_t>(jump) + length +
                                   static_cast<std::uintptr_t>(std::intptr_t{distance}));
}

void *stub_for(void *function) noexcept {
  const auto *stub = at_place<nth_growth_stub>(the_program, the_program->stub_at);
  const auto first = reinterpret_cast<std::uintptr_t>(at_place<char>(the_program, the_program->pool));
  lock_scope scope(lock);
  for (std::uint32_t i = 0; i < the_program->stubs; ++i) {
    if ((stub[i].flags & NTH_STUB_LOADED) == 0)
      continue;
    void **word = word_of(stub[i]);
    if (*word == nullptr)
      __atomic_store_n(word, function, __ATOMIC_RELEASE);
    if (*word == function)
      return reinterpret_cast<void *>(first + std::uintptr_t{i} * NTH_STUB_SIZE);
  }
  return function;
}

} // namespace

void note_program(const nth_growth_header *program) noexcept { the_program = program; }

extern "C" NTH_API void *nth_growth_dlsym(void *handle, const char *name) {
  void *found = dlsym(handle, name);
  return found != nullptr && the_program != nullptr && is_foreign_code(found) ? stub_for(found) : found;
}

} // namespace nth::detail
