// Relocations: those that the loader applies, packed ones too, and those that the linker kept.
#include "image/cursor.hpp"
#include "image/doubles.hpp"
#include "image/elf_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace nth::stack {

namespace {

relocation_kind kind_of(std::uint32_t type) {
  switch (type) {
  case R_X86_64_64:
  case R_X86_64_GLOB_DAT:
  case R_X86_64_JUMP_SLOT:
  case R_X86_64_32:
  case R_X86_64_32S:
  // From the GOT's begin: not the address itself, but it comes from these.
  case R_X86_64_GOTOFF64:
  case R_X86_64_PLTOFF64:
    return relocation_kind::absolute;
  case R_X86_64_RELATIVE:
  case R_X86_64_RELATIVE64:
    return relocation_kind::relative;
  case R_X86_64_IRELATIVE:
    return relocation_kind::irelative;
  case R_X86_64_PC32:
  case R_X86_64_PLT32:
  case R_X86_64_PC64:
    return relocation_kind::pc_relative;
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX:
  case R_X86_64_GOTPCREL64:
  case R_X86_64_GOT32:
  case R_X86_64_GOT64:
  case R_X86_64_GOTPLT64:
    return relocation_kind::got;
  case R_X86_64_COPY:
    return relocation_kind::copy;
  default:
    return relocation_kind::other;
  }
}

std::uint8_t size_of(std::uint32_t type) {
  switch (type) {
  case R_X86_64_32:
  case R_X86_64_32S:
  case R_X86_64_PC32:
  case R_X86_64_PLT32:
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX:
  case R_X86_64_GOT32:
    return 4;
  default:
    return kind_of(type) == relocation_kind::other || kind_of(type) == relocation_kind::copy ? 0 : 8;
  }
}

class reader {
public:
  reader(module &m, const elf_file &f) : module_(m), file_(f), most_(f.bytes.size() / 4) {}

  void dynamic_table(std::span<const std::uint8_t> bytes, std::uint64_t size) {
    if (size > bytes.size())
      warn(module_, "a table of relocations ends after its segment does; those after it are left out");
    size = std::min<std::uint64_t>(size, bytes.size());
    table(bytes.first(size), file_.first_dynamic_symbol, module_.symbols.size(), true);
  }

  void table(std::span<const std::uint8_t> bytes, std::size_t first_symbol, std::size_t end_symbol,
             bool dynamic) {
    if (bytes.empty() || !seen_.emplace(bytes.data()).second)
      return;
    cursor c(bytes);
    std::uint64_t bad = 0;
    module_.relocations.reserve(
        std::min<std::size_t>(module_.relocations.size() + bytes.size() / sizeof(Elf64_Rela), most_));
    const symbol_range symbols{first_symbol, end_symbol};
    for (std::size_t i = 0; i != bytes.size() / sizeof(Elf64_Rela); ++i)
      if (!entry(c.take<Elf64_Rela>(), symbols, dynamic, bad))
        break;
    warn_of(bad);
  }

  // A word is an address, or (lowest bit set) says which of the next 63 words after the last are relocated too.
  void packed_table(std::span<const std::uint8_t> bytes, std::uint64_t size) {
    cursor c(bytes.first(std::min<std::uint64_t>(size, bytes.size())));
    address next = 0;
    while (!c.at_end()) {
      auto word = c.take<std::uint64_t>();
      if (c.failed())
        break;
      if ((word & 1u) == 0) {
        if (!packed(word))
          return;
        next = word + 8;
        continue;
      }
      for (word >>= 1; word != 0; word &= word - 1)
        if (!packed(next + 8 * static_cast<unsigned>(std::countr_zero(word))))
          return;
      next += 63 * 8;
    }
  }

  // What lld makes with --pack-dyn-relocs=android: groups of relocations that share a distance, a type or an addend, all
  // numbers in LEB128 (bionic, tools/relocation_packer; LLVM, AndroidPackedRelocationSection).
  void android_table(std::span<const std::uint8_t> bytes, std::uint64_t size) {
    if (size == 0)
      return;
    constexpr std::array<char, 4> magic = {'A', 'P', 'S', '2'};
    cursor c(bytes.first(std::min<std::uint64_t>(size, bytes.size())));
    if (c.take<std::array<char, 4>>() != magic)
      return warn(module_,
                  "its packed relocations (DT_ANDROID_RELA) are of a kind that is not known; left out");
    const symbol_range symbols{file_.first_dynamic_symbol, module_.symbols.size()};
    std::uint64_t bad = 0;
    auto left = static_cast<std::uint64_t>(c.signed_leb128());
    Elf64_Rela raw = {};
    raw.r_offset = static_cast<std::uint64_t>(c.signed_leb128());
    while (left != 0 && left <= most_ &&
           !c.failed()) { // a group of equals takes a few bytes, whatever its size
      android_group g = group_of(c);
      if (g.size == 0 || g.size > left)
        break;
      left -= g.size;
      raw.r_addend = g.has_addends ? sum(raw.r_addend, g.addend) : 0;
      for (; g.size != 0 && !c.failed(); --g.size) {
        raw.r_offset += g.one_distance ? g.distance : static_cast<std::uint64_t>(c.signed_leb128());
        raw.r_info = g.one_info ? g.info : static_cast<std::uint64_t>(c.signed_leb128());
        if (g.has_addends && !g.one_addend)
          raw.r_addend = sum(raw.r_addend, c.signed_leb128());
        if (!c.failed() && !entry(raw, symbols, true, bad))
          return warn_of(bad);
      }
    }
    if (left != 0 || c.failed())
      warn(module_,
           "its packed relocations (DT_ANDROID_RELA) are damaged; those after the damage are left out");
    warn_of(bad);
  }

private:
  struct symbol_range {
    std::size_t first, end;
  };
  struct android_group {
    std::uint64_t size = 0;
    bool one_info = false, one_distance = false, one_addend = false, has_addends = false;
    std::uint64_t distance = 0, info = 0;
    std::int64_t addend = 0;
  };

  static std::int64_t sum(std::int64_t a, std::int64_t b) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }

  static android_group group_of(cursor &c) {
    android_group g;
    g.size = static_cast<std::uint64_t>(c.signed_leb128());
    const auto flags = static_cast<std::uint64_t>(c.signed_leb128());
    g.one_info = (flags & 1U) != 0;
    g.one_distance = (flags & 2U) != 0;
    g.one_addend = (flags & 4U) != 0;
    g.has_addends = (flags & 8U) != 0;
    if (g.one_distance)
      g.distance = static_cast<std::uint64_t>(c.signed_leb128());
    if (g.one_info)
      g.info = static_cast<std::uint64_t>(c.signed_leb128());
    if (g.has_addends && g.one_addend)
      g.addend = c.signed_leb128();
    return g;
  }

  void warn_of(std::uint64_t bad) {
    if (bad != 0)
      warn(module_, fmt::format("{} relocations name symbols that are not there; left out", bad));
  }

  // False: there are too many.
  bool entry(const Elf64_Rela &raw, const symbol_range &symbols, bool dynamic, std::uint64_t &bad) {
    const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(raw.r_info));
    if (type == R_X86_64_NONE)
      return true;
    relocation r{raw.r_offset, raw.r_addend, no_symbol, kind_of(type), dynamic, false, size_of(type)};
    r.jump_slot = type == R_X86_64_JUMP_SLOT;
    if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT)
      r.addend = 0; // the loader does not look at it
    if (const std::uint64_t index = ELF64_R_SYM(raw.r_info); index != 0) {
      if (index - 1 >= symbols.end - symbols.first) {
        ++bad;
        return true;
      }
      r.symbol = static_cast<std::uint32_t>(symbols.first + index - 1);
    }
    return add(r);
  }

  bool packed(address place) {
    const auto addend = module_.read_word(place);
    if (!addend) {
      warn(module_, fmt::format("a packed relocation at {:#x} is outside of all data; left out", place));
      return true;
    }
    return add(
        {place, static_cast<std::int64_t>(*addend), no_symbol, relocation_kind::relative, true, false, 8});
  }

  // Tables may overlap, and packed ones tell 63 places in 8 bytes; but no honest file has more than this.
  bool add(const relocation &r) {
    if (module_.relocations.size() < most_) {
      module_.relocations.push_back(r);
      return true;
    }
    warn(module_, "has more relocations than a file of its size can; the rest is left out");
    return false;
  }

  module &module_;
  const elf_file &file_;
  std::size_t most_;
  std::set<const std::uint8_t *> seen_;
};

auto order_of(const relocation &r) { return std::tuple(r.place, r.dynamic, r.symbol, r.addend, r.kind); }

} // namespace

void read_relocations(module &m, elf_file &f) {
  reader r(m, f);
  const dynamic_table &d = f.dynamic;
  r.dynamic_table(m.bytes_at(d.relocations), d.relocations_size);
  r.dynamic_table(m.bytes_at(d.plt_relocations), d.plt_relocations_size);
  r.packed_table(m.bytes_at(d.packed_relocations), d.packed_relocations_size);
  r.android_table(m.bytes_at(d.android_relocations), d.android_relocations_size);

  const auto &headers = f.section_headers;
  for (const Elf64_Shdr &h : headers) {
    if (h.sh_type != SHT_RELA)
      continue;
    if ((h.sh_flags & SHF_ALLOC) != 0) {
      // A static program has these alone, for its ifuncs.
      if (!d.present)
        r.table(f.contents(h), f.first_dynamic_symbol, m.symbols.size(), true);
      continue;
    }
    if (h.sh_link != f.symtab || f.symtab == 0 || h.sh_info >= headers.size())
      continue;
    const Elf64_Shdr &target = headers[h.sh_info];
    if ((target.sh_flags & SHF_ALLOC) == 0)
      continue; // debug information
    const section *s = m.section_of(target.sh_addr);
    if (s == nullptr || s->name != ".eh_frame")
      r.table(f.contents(h), 0, f.first_dynamic_symbol, false);
  }
  std::ranges::sort(m.relocations, {}, order_of);
  drop_doubles(m.relocations, order_of);
}

} // namespace nth::stack
