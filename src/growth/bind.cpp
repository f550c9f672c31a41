#include "growth/bind.hpp"

#include "growth/object.hpp"
#include "growth/program.hpp"

#include <cstdint>
#include <cstring>
#include <utility>

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

// A static program may have none, and has no libraries.
#pragma weak dlsym
#pragma weak dlvsym
#pragma weak dlerror

namespace nth::detail {

namespace {

// What of the dynamic section of the program, or of a library, this needs.
struct library {
  std::uintptr_t base;
  const ElfW(Sym) *symbols = nullptr;
  const char *strings = nullptr;
  const ElfW(Rela) *calls = nullptr;
  std::size_t call_bytes = 0;
  const ElfW(Rela) *places = nullptr; // other relocations
  std::size_t place_bytes = 0;
  const ElfW(Half) *versions = nullptr;
  const ElfW(Verneed) *needed = nullptr;
  std::size_t needed_count = 0;
  bool own_first = false; // -Bsymbolic
};

// glibc has made addresses of these, but in the kernel's page of functions.
template <class T>
const T *at(const library &l, std::uintptr_t p) noexcept {
  return reinterpret_cast<const T *>(p < l.base ? p + l.base : p);
}

library read_library(std::uintptr_t base, const ElfW(Dyn) * d) noexcept {
  library l{base};
  for (; d->d_tag != DT_NULL; ++d) {
    switch (d->d_tag) {
    case DT_SYMTAB:
      l.symbols = at<ElfW(Sym)>(l, d->d_un.d_ptr);
      break;
    case DT_STRTAB:
      l.strings = at<char>(l, d->d_un.d_ptr);
      break;
    case DT_JMPREL:
      l.calls = at<ElfW(Rela)>(l, d->d_un.d_ptr);
      break;
    case DT_PLTRELSZ:
      l.call_bytes = d->d_un.d_val;
      break;
    case DT_RELA:
      l.places = at<ElfW(Rela)>(l, d->d_un.d_ptr);
      break;
    case DT_RELASZ:
      l.place_bytes = d->d_un.d_val;
      break;
    case DT_VERSYM:
      l.versions = at<ElfW(Half)>(l, d->d_un.d_ptr);
      break;
    case DT_VERNEED:
      l.needed = at<ElfW(Verneed)>(l, d->d_un.d_ptr);
      break;
    case DT_VERNEEDNUM:
      l.needed_count = d->d_un.d_val;
      break;
    case DT_SYMBOLIC:
      l.own_first = true;
      break;
    case DT_FLAGS:
      l.own_first = l.own_first || (d->d_un.d_val & DF_SYMBOLIC) != 0;
      break;
    default:
      break;
    }
  }
  return l;
}

// The version of `symbol` that the library asks for; null: any.
const char *version_of(const library &l, std::size_t symbol) noexcept {
  constexpr unsigned hidden = 0x8000;
  if (l.versions == nullptr || l.needed == nullptr)
    return nullptr;
  const unsigned wanted = l.versions[symbol] & ~hidden;
  const auto *file = l.needed;
  for (std::size_t i = 0; i < l.needed_count; ++i) {
    const auto *one =
        reinterpret_cast<const ElfW(Vernaux) *>(reinterpret_cast<const char *>(file) + file->vn_aux);
    for (unsigned k = 0; k < file->vn_cnt; ++k) {
      if ((one->vna_other & ~hidden) == wanted)
        return l.strings + one->vna_name;
      one = reinterpret_cast<const ElfW(Vernaux) *>(reinterpret_cast<const char *>(one) + one->vna_next);
    }
    file = reinterpret_cast<const ElfW(Verneed) *>(reinterpret_cast<const char *>(file) + file->vn_next);
  }
  return nullptr;
}

// A definition without a version, as those that are put before a library's own by LD_PRELOAD.
bool has_no_version(const void *function) noexcept {
  Dl_info object;
  void *entry = nullptr;
  void *map = nullptr;
  if (dladdr1(function, &object, &entry, RTLD_DL_SYMENT) == 0 || entry == nullptr ||
      dladdr1(function, &object, &map, RTLD_DL_LINKMAP) == 0)
    return true;
  const library l = read_library(static_cast<link_map *>(map)->l_addr, static_cast<link_map *>(map)->l_ld);
  constexpr unsigned hidden = 0x8000, global = 1;
  return l.versions == nullptr ||
         (l.versions[static_cast<const ElfW(Sym) *>(entry) - l.symbols] & ~hidden) <= global;
}

// As the loader does it: the first definition that has this version or, unlike for dlvsym, none.
void *look_up(const char *name, const char *version) noexcept {
  void *const any = dlsym(RTLD_DEFAULT, name);
  void *const exact = version != nullptr && dlvsym != nullptr ? dlvsym(RTLD_DEFAULT, name, version) : nullptr;
  if (any == nullptr || exact == nullptr || any == exact)
    return exact != nullptr ? exact : any;
  Dl_info of_any, of_exact;
  const bool elsewhere =
      dladdr(any, &of_any) != 0 && dladdr(exact, &of_exact) != 0 && of_any.dli_fbase != of_exact.dli_fbase;
  return elsewhere && has_no_version(any) ? any : exact;
}

// Whether a slot still leads into the table of first calls, at what pushes the number of its relocation.
constexpr std::size_t unbound_bytes = 16; // read at most
bool is_unbound(std::uintptr_t code, std::uint32_t number) noexcept {
  constexpr unsigned char landing[] = {0xf3, 0x0f, 0x1e, 0xfa}; // endbr64
  constexpr unsigned char push = 0x68;
  const auto *p = reinterpret_cast<const unsigned char *>(code);
  if (std::memcmp(p, landing, sizeof landing) == 0)
    p += sizeof landing;
  return p[0] == push && std::memcmp(p + 1, &number, sizeof number) == 0;
}

void bind_calls(const dl_phdr_info &object, const library &l) noexcept {
  for (std::size_t i = 0; i < l.call_bytes / sizeof *l.calls; ++i) {
    const ElfW(Rela) &r = l.calls[i];
    if (ELF64_R_TYPE(r.r_info) != R_X86_64_JUMP_SLOT)
      continue;
    auto *slot = reinterpret_cast<std::uintptr_t *>(l.base + r.r_offset);
    const std::uintptr_t now = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (!holds(object, now, unbound_bytes, PT_LOAD, PF_X) || !is_unbound(now, static_cast<std::uint32_t>(i)))
      continue;
    const std::size_t symbol = ELF64_R_SYM(r.r_info);
    if (l.own_first && l.symbols[symbol].st_shndx != SHN_UNDEF)
      continue;
    const char *name = l.strings + l.symbols[symbol].st_name;
    const char *version = version_of(l, symbol);
    if (name == nullptr)
      continue;
    void *const found = look_up(name, version);
    if (found != nullptr) // else its first call fails, as ever
      __atomic_store_n(slot, reinterpret_cast<std::uintptr_t>(found), __ATOMIC_RELAXED);
  }
}

// Writes where the loader may have taken the right to write away.
void write_slot(const dl_phdr_info &object, std::uintptr_t place, std::uintptr_t value) noexcept {
  const bool closed = holds(object, place, sizeof value, PT_GNU_RELRO, 0);
  constexpr std::uintptr_t page = 4096;
  void *const begin = reinterpret_cast<void *>(place & ~(page - 1));
  if (closed && mprotect(begin, page, PROT_READ | PROT_WRITE) != 0)
    return;
  __atomic_store_n(reinterpret_cast<std::uintptr_t *>(place), value, __ATOMIC_RELAXED);
  if (closed)
    static_cast<void>(mprotect(begin, page, PROT_READ));
}

// Calls of longjmp, and pointers to it: they are to mark the segments that they leave.
void lead_jumps(const dl_phdr_info &object, const library &l, const ElfW(Rela) * all,
                std::size_t bytes) noexcept {
  if (all == nullptr)
    return;
  for (std::size_t i = 0; i < bytes / sizeof *all; ++i) {
    const unsigned type = ELF64_R_TYPE(all[i].r_info);
    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64)
      continue;
    const ElfW(Sym) &symbol = l.symbols[ELF64_R_SYM(all[i].r_info)];
    if (symbol.st_shndx != SHN_UNDEF)
      continue;
    for (const char *name : {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"})
      if (std::strcmp(l.strings + symbol.st_name, name) == 0)
        write_slot(object, l.base + all[i].r_offset, reinterpret_cast<std::uintptr_t>(&nth_growth_longjmp));
  }
}

int bind_object(dl_phdr_info *object, std::size_t, void *first) noexcept {
  const bool is_program = std::exchange(*static_cast<bool *>(first), false);
  // A shared libnth goes on by the C library's.
  const bool is_own = holds(*object, reinterpret_cast<std::uintptr_t>(&bind_libraries), 1, PT_LOAD, PF_X);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &s = object->dlpi_phdr[i];
    if (s.p_type != PT_DYNAMIC)
      continue;
    const library l =
        read_library(object->dlpi_addr, reinterpret_cast<const ElfW(Dyn) *>(object->dlpi_addr + s.p_vaddr));
    if (l.symbols == nullptr || l.strings == nullptr)
      continue;
    if (l.calls != nullptr && !is_program)
      bind_calls(*object, l);
    if (is_own && !is_program)
      continue;
    lead_jumps(*object, l, l.calls, l.call_bytes);
    lead_jumps(*object, l, l.places, l.place_bytes);
  }
  return 0;
}

} // namespace

void bind_libraries() noexcept {
  if (dlsym == nullptr)
    return;
  if (void *const jump = dlsym(RTLD_DEFAULT, "siglongjmp"))
    nth_detail_siglongjmp = reinterpret_cast<void (*)(sigjmp_buf, int)>(jump);
  bool first = true;
  dl_iterate_phdr(bind_object, &first);
  if (dlerror != nullptr)
    static_cast<void>(dlerror()); // of names that were not found
}

} // namespace nth::detail
