// Symbols that were taken out of a stripped file into one of its own (Debian: packages that end in -dbg, -dbgsym).
#include "image/cursor.hpp"
#include "image/elf_file.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace nth::stack {

namespace {

std::span<const std::uint8_t> part_of(std::span<const std::uint8_t> bytes, const Elf64_Shdr &s) {
  if (s.sh_type == SHT_NOBITS || s.sh_offset > bytes.size() || s.sh_size > bytes.size() - s.sh_offset)
    return {};
  return bytes.subspan(s.sh_offset, s.sh_size);
}

std::vector<Elf64_Shdr> sections_of(std::span<const std::uint8_t> bytes) {
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  std::vector<Elf64_Shdr> sections;
  if (!header || !std::equal(header->e_ident, header->e_ident + SELFMAG, ELFMAG) ||
      header->e_shentsize != sizeof(Elf64_Shdr))
    return sections;
  for (std::uint16_t i = 0; i != header->e_shnum; ++i) {
    const auto s = read_at<Elf64_Shdr>(bytes, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!s)
      break;
    sections.push_back(*s);
  }
  return sections;
}

bool has_build_id(std::span<const std::uint8_t> note, const std::string &wanted) {
  std::string text;
  for (const std::uint8_t byte : note)
    text += fmt::format("{:02x}", byte);
  return text.ends_with(wanted);
}

} // namespace

bool read_split_symbols(module &m, std::span<const std::uint8_t> bytes) {
  const std::vector<Elf64_Shdr> sections = sections_of(bytes);
  constexpr std::uint64_t largest_note = 256;
  if (std::none_of(sections.begin(), sections.end(), [&](const Elf64_Shdr &s) {
        return s.sh_type == SHT_NOTE && s.sh_size <= largest_note &&
               has_build_id(part_of(bytes, s), m.build_id);
      }))
    return false;
  const auto table = std::find_if(sections.begin(), sections.end(),
                                  [](const Elf64_Shdr &s) { return s.sh_type == SHT_SYMTAB; });
  if (table == sections.end() || table->sh_link >= sections.size())
    return false;
  add_symbols(m, part_of(bytes, *table), part_of(bytes, sections[table->sh_link]), false);
  return true;
}

} // namespace nth::stack
