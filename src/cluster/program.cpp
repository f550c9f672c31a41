#include "cluster/program.hpp"

#include "cluster/negotiate.hpp"
#include "iso/heap.hpp"
#include "memory/stack.hpp"
#include "nth/nth.h"
#include "thread/descriptor.hpp"

#include <cstdio>
#include <cstring>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

// Of the run-time libraries of C++, where the program has them: the address says which object gave them.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the names are the C++ ABI's and the unwinder's
void __cxa_throw() __attribute__((weak));
void _Unwind_RaiseException() __attribute__((weak));
// NOLINTEND(readability-identifier-naming)
}

namespace nth::detail::cluster {

namespace {

// FNV-1a (Fowler, Noll, Vo).
struct hash {
  std::uint64_t value{0xcbf2'9ce4'8422'2325};
  __attribute__((no_sanitize("address"))) // it goes over what lies between variables, too
  void
  add(const void *data, std::size_t bytes) noexcept {
    const auto *p = static_cast<const unsigned char *>(data);
    for (std::size_t i = 0; i < bytes; ++i)
      value = (value ^ p[i]) * 0x100'0000'01b3;
  }
  void add(std::uint64_t word) noexcept { add(&word, sizeof word); }
};

struct wish {
  char *buffer;
  std::size_t size;
};

bool find_build_id(const char *notes, std::size_t bytes, const wish &to) noexcept {
  constexpr std::size_t word = sizeof(ElfW(Word));
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
    const auto *n = reinterpret_cast<const ElfW(Nhdr) *>(notes + at);
    const std::size_t name = at + sizeof *n;
    const std::size_t content = name + (n->n_namesz + word - 1) / word * word;
    if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == sizeof "GNU" &&
        std::memcmp(notes + name, "GNU", sizeof "GNU") == 0) {
      std::size_t used = 0;
      for (std::size_t i = 0; i < n->n_descsz && used + 3 <= to.size; ++i, used += 2)
        std::snprintf(to.buffer + used, to.size - used, "%02x",
                      static_cast<unsigned char>(notes[content + i]));
      return true;
    }
    at = content + (n->n_descsz + word - 1) / word * word;
  }
  return false;
}

// The first object is the program.
int describe_first(dl_phdr_info *info, std::size_t, void *context) noexcept {
  const auto &to = *static_cast<wish *>(context);
  const auto begin_of = [info](const ElfW(Phdr) & h) {
    return reinterpret_cast<const char *>(info->dlpi_addr + h.p_vaddr);
  };
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &h = info->dlpi_phdr[i];
    if (h.p_type == PT_NOTE && find_build_id(begin_of(h), h.p_memsz, to))
      return 1;
  }
  hash all;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &h = info->dlpi_phdr[i];
    if (h.p_type == PT_LOAD && (h.p_flags & PF_W) == 0)
      all.add(begin_of(h), h.p_filesz);
  }
  std::snprintf(to.buffer, to.size, "contents %016lx", all.value);
  return 1;
}

int load_address(dl_phdr_info *info, std::size_t, void *context) noexcept {
  *static_cast<std::uintptr_t *>(context) = info->dlpi_addr;
  return 1;
}

#if !defined(NTH_ASAN) && !defined(NTH_TSAN)
// The file of the shared library that `function` lies in; null: it is the program's own, or there is none.
const char *library_of(const void *function) noexcept {
  Dl_info object;
  void *map = nullptr;
  if (function == nullptr || dladdr1(function, &object, &map, RTLD_DL_LINKMAP) == 0)
    return nullptr;
  const auto *m = static_cast<const link_map *>(map);
  return m->l_name != nullptr && m->l_name[0] != '\0' ? m->l_name : nullptr;
}
#endif

} // namespace

// NOLINTNEXTLINE(readability-non-const-parameter): it is written to, by describe_first
void describe_program(char *buffer, std::size_t size) noexcept {
  wish to{buffer, size};
  dl_iterate_phdr(describe_first, &to);
}

bool is_fixed_program(char *why, std::size_t size) noexcept {
  constexpr char advice[] = "link it with the flags of `pkg-config --libs nth-cluster`";
  std::uintptr_t base = 0;
  dl_iterate_phdr(load_address, &base);
  if (base != 0) {
    std::snprintf(why, size,
                  "the program is position-independent, so its addresses differ from rank to rank; %s",
                  advice);
    return false;
  }
#if !defined(NTH_ASAN) &&                                                                                    \
    !defined(NTH_TSAN) // whose libraries have functions of these names, and lie elsewhere anyway
  const struct {
    const char *what;
    const void *function;
  } parts[] = {
      {"the C++ library", reinterpret_cast<const void *>(&__cxa_throw)},
      {"libgcc", reinterpret_cast<const void *>(&_Unwind_RaiseException)},
  };
  for (const auto &part : parts) {
    if (const char *file = library_of(part.function)) {
      std::snprintf(why, size,
                    "the program has %s from a shared library, %s, whose addresses differ from rank to "
                    "rank; %s",
                    part.what, file, advice);
      return false;
    }
  }
#endif
  return true;
}

std::uint64_t layout_hash() noexcept {
  hash h;
  h.add(NTH_VERSION_MAJOR << 16 | NTH_VERSION_MINOR << 8 | NTH_VERSION_PATCH);
  h.add(sizeof(nth_desc) | offsetof(nth_desc, succ) << 8 | offsetof(nth_desc, ndep) << 16 |
        offsetof(nth_desc, args) << 24);
  h.add(sizeof(stack_top) | offsetof(stack_top, segments) << 8 | offsetof(stack_top, above) << 16 |
        offsetof(stack_top, thread) << 24);
  h.add(region_count | smallest_class_log2 << 8 | stack_regions << 16);
  h.add(message_bytes(0));
  h.add(iso::layout_word());
  return h.value;
}

} // namespace nth::detail::cluster
