// What the loader, libraries and the unwinder know of functions.
#include "patch/references_parts.hpp"

#include "image/cursor.hpp"
#include "image/eh_frame.hpp"

#include <algorithm>
#include <cstddef>

#include <elf.h>
#include <fmt/format.h>

namespace nth::stack {

namespace {

constexpr std::uint32_t android_table = 0x60000002; // SHT_ANDROID_RELA

std::span<const std::uint8_t> contents(const module &m, const section &s) {
  const auto bytes = m.bytes_at(s.begin);
  return bytes.first(std::min<std::size_t>(bytes.size(), s.size));
}

} // namespace

// The addend decides; the word in the file may hold the same or nothing.
void reference_finder::add_from_loader_table(const section &s, std::vector<address> &places) {
  cursor c(contents(image_, s));
  for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= s.size; at += sizeof(Elf64_Rela)) {
    const auto r = c.take<Elf64_Rela>();
    const auto type = ELF64_R_TYPE(r.r_info);
    if (c.failed() || (type != R_X86_64_RELATIVE && type != R_X86_64_RELATIVE64))
      continue;
    places.push_back(r.r_offset);
    const auto value = static_cast<address>(r.r_addend);
    const section *in = image_.section_of(r.r_offset);
    if (!wanted(value) || (in != nullptr && in->type != SHT_NOBITS && holds_no_references(*in)))
      continue;
    if (in != nullptr && in->executable) {
      refuse(value, fmt::format("the loader changes code that has its address, at {:#x}", r.r_offset));
      continue;
    }
    add_in_file(value, {s.offset + at + offsetof(Elf64_Rela, r_addend), r.r_offset, 8,
                        reference_kind::relocation_addend});
    if (image_.read_word(r.r_offset) == value)
      add(value, reference_kind::data_absolute, r.r_offset, r.r_offset, 8);
  }
}

void reference_finder::search_loader_words() {
  std::vector<address> by_addend;
  for (const section &s : image_.sections) {
    if (s.allocated && s.type == SHT_RELA)
      add_from_loader_table(s, by_addend);
    if (s.type == android_table)
      for (const function_references &each : found_)
        refuse(each.function, "the program's relocations are packed as Android has them");
  }
  std::ranges::sort(by_addend);
  for (const relocation &r : image_.relocations) {
    if (!r.dynamic)
      continue;
    if (r.kind == relocation_kind::relative && !std::ranges::binary_search(by_addend, r.place)) {
      // Packed: the word itself has what is added to.
      const auto value = static_cast<address>(r.addend);
      const section *in = image_.section_of(r.place);
      if (wanted(value) && in != nullptr && !holds_no_references(*in))
        add(value, reference_kind::data_absolute, r.place, r.place, 8);
    } else if (const address named = r.kind == relocation_kind::absolute && r.addend != 0 &&
                                             r.symbol != no_symbol && image_.symbols[r.symbol].defined
                                         ? image_.symbols[r.symbol].at
                                         : 0;
               wanted(named)) {
      refuse(named, fmt::format("the loader writes an address some bytes from it to {:#x}", r.place));
    }
  }
}

// Its words have no relocations where addresses are fixed, and hold nothing but addresses and distances of thread-local
// data, which are below all addresses of code.
void reference_finder::search_offset_table() {
  if (image_.position_independent)
    return;
  for (const section &s : image_.sections) {
    if (s.name != ".got" && s.name != ".got.plt")
      continue;
    for (address at = s.begin; at + 8 <= s.begin + s.size; at += 8) {
      const auto all = image_.relocations_in(at, at + 1);
      const bool loader_writes = std::ranges::any_of(all, [](const relocation &r) { return r.dynamic; });
      const auto value = image_.read_word(at);
      if (!loader_writes && value && wanted(*value))
        add(*value, reference_kind::data_absolute, at, at, 8);
    }
  }
}

// Libraries, dlsym and the loader's own words find the function by these: with the stub's address there pointers
// from all sides are equal.
void reference_finder::search_exports() {
  for (const section &s : image_.sections) {
    if (s.type != SHT_DYNSYM)
      continue;
    cursor c(contents(image_, s));
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= s.size; at += sizeof(Elf64_Sym)) {
      const auto each = c.take<Elf64_Sym>();
      const auto type = ELF64_ST_TYPE(each.st_info);
      if (!c.failed() && each.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_NOTYPE) &&
          wanted(each.st_value))
        add_in_file(each.st_value, {s.offset + at + offsetof(Elf64_Sym, st_value), each.st_value, 8,
                                    reference_kind::exported});
    }
  }
}

void reference_finder::search_personalities() {
  for (const cie &c : read_eh_frame(image_).cies)
    if (wanted(c.personality))
      refuse(c.personality, "the unwinder calls it by its address in .eh_frame");
}

} // namespace nth::stack
