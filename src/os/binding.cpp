#include "os/binding.hpp"

#include <cstdint>
#include <cstdlib>

#include <elf.h>
#include <link.h>

namespace nth::detail::os {

namespace {

struct question {
  std::uintptr_t code;
  bool lazy;
};

bool dynamic_section_is_lazy(const ElfW(Dyn) * entry) noexcept {
  bool has_calls = false;
  for (; entry->d_tag != DT_NULL; ++entry) {
    const auto value = entry->d_un.d_val;
    if (entry->d_tag == DT_BIND_NOW || (entry->d_tag == DT_FLAGS && (value & DF_BIND_NOW) != 0) ||
        (entry->d_tag == DT_FLAGS_1 && (value & DF_1_NOW) != 0))
      return false;
    has_calls = has_calls || (entry->d_tag == DT_PLTRELSZ && value != 0);
  }
  return has_calls;
}

int look(dl_phdr_info *object, std::size_t, void *asked) noexcept {
  auto *q = static_cast<question *>(asked);
  const ElfW(Phdr) *dynamic = nullptr;
  bool here = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object->dlpi_phdr[i];
    if (segment.p_type == PT_DYNAMIC)
      dynamic = &segment;
    else if (segment.p_type == PT_LOAD && q->code - (object->dlpi_addr + segment.p_vaddr) < segment.p_memsz)
      here = true;
  }
  if (!here)
    return 0;
  q->lazy =
      dynamic != nullptr &&
      dynamic_section_is_lazy(reinterpret_cast<const ElfW(Dyn) *>(object->dlpi_addr + dynamic->p_vaddr));
  return 1;
}

int look_for_code(dl_phdr_info *object, std::size_t, void *found) noexcept {
  for (int i = 0; i < object->dlpi_phnum; ++i)
    if (object->dlpi_phdr[i].p_type == PT_GNU_STACK && (object->dlpi_phdr[i].p_flags & PF_X) != 0) {
      *static_cast<bool *>(found) = true;
      return 1;
    }
  return 0;
}

} // namespace

bool wants_code_on_stacks() noexcept {
  bool found = false;
  dl_iterate_phdr(look_for_code, &found);
  return found;
}

bool binds_lazily(const void *code) noexcept {
  const char *now = std::getenv("LD_BIND_NOW");
  if (now != nullptr && now[0] != '\0')
    return false;
  question q{reinterpret_cast<std::uintptr_t>(code), false};
  dl_iterate_phdr(look, &q);
  return q.lazy;
}

} // namespace nth::detail::os
