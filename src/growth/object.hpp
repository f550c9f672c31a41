// The program and its libraries, as dl_iterate_phdr shows them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <link.h>

namespace nth::detail {

// Whether a segment of this type, with all these flags (PF_…), holds the bytes from p on.
inline bool holds(const dl_phdr_info &object, std::uintptr_t p, std::size_t bytes, std::uint32_t type,
                  std::uint32_t flags) noexcept {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr) &s = object.dlpi_phdr[i];
    const std::uintptr_t from = p - (object.dlpi_addr + s.p_vaddr);
    if (s.p_type == type && (s.p_flags & flags) == flags && from < s.p_memsz && bytes <= s.p_memsz - from)
      return true;
  }
  return false;
}

} // namespace nth::detail
