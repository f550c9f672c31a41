// What a file is, its segments and its sections.
#include "image/cursor.hpp"
#include "image/elf_file.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace nth::stack {

namespace {

constexpr std::uint64_t page_size = 4096;
constexpr std::size_t most_warnings = 50;
constexpr std::uint64_t longest_path = 4096;
constexpr std::uint64_t longest_section_name = 512;
constexpr std::uint64_t most_segments = 1 << 16;
constexpr std::uint32_t most_notes = 64;
constexpr std::uint64_t largest_note = 1 << 16;

[[noreturn]] void refuse(const module &m, std::string_view what) {
  throw bad_input(fmt::format("{}: {}", m.path, what));
}

bool begins_with(std::span<const std::uint8_t> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::equal(text.begin(), text.end(), bytes.begin());
}

void refuse_what_is_no_elf(const module &m, std::span<const std::uint8_t> bytes) {
  if (begins_with(bytes, ELFMAG))
    return;
  if (bytes.empty())
    refuse(m, "is empty; give an executable or a shared library");
  if (begins_with(bytes, "#!"))
    refuse(m, "is a script; give the program that runs it");
  if (begins_with(bytes, "!<arch>\n") || begins_with(bytes, "!<thin>\n"))
    refuse(m, "is an archive of object files; give a program or shared library that is linked with it");
  if (begins_with(bytes, "/*") || begins_with(bytes, "OUTPUT_FORMAT") || begins_with(bytes, "INPUT"))
    refuse(m, "is a linker script; give the shared library that it names");
  refuse(m, "is no ELF file; give an executable or a shared library for x86-64 Linux");
}

void refuse_other_machines(const module &m, const unsigned char *ident, std::uint16_t machine) {
  const bool little = ident[EI_DATA] == ELFDATA2LSB;
  if (ident[EI_CLASS] == ELFCLASS32 && little && machine == EM_X86_64)
    refuse(m, "is for x32; only files for x86-64 with 64-bit pointers can be analysed");
  if (ident[EI_CLASS] == ELFCLASS32)
    refuse(m, "is a 32-bit file; only files for x86-64 can be analysed");
  if (ident[EI_CLASS] != ELFCLASS64)
    refuse(m, fmt::format("has the unknown ELF class {}; is it damaged?", ident[EI_CLASS]));
  if (!little)
    refuse(m, "is a big-endian file; only files for x86-64 can be analysed");
  if (machine != EM_X86_64)
    refuse(m, fmt::format("is for another machine (e_machine {}); only files for x86-64 can be analysed",
                          machine));
}

std::span<const std::uint8_t> part_of_file(const elf_file &f, std::uint64_t offset, std::uint64_t size) {
  cursor c(f.bytes, offset);
  return c.piece(size);
}

void read_note(module &m, elf_file &f, byte_range where, std::uint64_t alignment) {
  if (++f.notes > most_notes)
    return;
  const std::uint64_t unit = alignment == 8 ? 8 : 4;
  cursor c(part_of_file(f, where.offset, std::min(where.size, largest_note)));
  while (!c.at_end() && m.build_id.empty()) {
    const auto note = c.take<Elf64_Nhdr>();
    const auto name = c.piece(note.n_namesz);
    c.skip(-c.at() % unit);
    const auto text = c.piece(note.n_descsz);
    c.skip(-c.at() % unit);
    if (note.n_type == NT_GNU_BUILD_ID && begins_with(name, ELF_NOTE_GNU) && text.size() <= 64)
      for (const std::uint8_t byte : text)
        m.build_id += fmt::format("{:02x}", byte);
  }
}

void add_segment(module &m, elf_file &f, const Elf64_Phdr &p) {
  segment s{p.p_vaddr, p.p_memsz, p.p_offset, p.p_filesz, (p.p_flags & PF_X) != 0, (p.p_flags & PF_W) != 0};
  if (s.memory_size == 0)
    return;
  if (s.begin + s.memory_size < s.begin) {
    warn(m, fmt::format("the segment at {:#x} is larger than memory; left out", s.begin));
    return;
  }
  s.file_size = std::min(s.file_size, s.memory_size);
  const std::uint64_t left = f.bytes.size() - std::min<std::uint64_t>(s.offset, f.bytes.size());
  if (s.file_size > left)
    refuse(m, fmt::format(
                  "is cut short: the segment at {:#x} ends {} bytes after the file; copy or build it again",
                  s.begin, s.file_size - left));
  f.segments.push_back(s);
}

void sort_segments(module &m, elf_file &f) {
  std::ranges::stable_sort(f.segments, {}, &segment::begin);
  std::vector<segment> apart;
  for (const segment &s : f.segments) {
    if (!apart.empty() && s.begin - apart.back().begin < apart.back().memory_size)
      warn(m, fmt::format("the segment at {:#x} overlaps the one before; left out", s.begin));
    else
      apart.push_back(s);
  }
  f.segments = std::move(apart);
}

} // namespace

void warn(module &m, std::string text) {
  if (m.warnings.size() < most_warnings)
    m.warnings.push_back(fmt::format("{}: {}", m.path, text));
  else if (m.warnings.size() == most_warnings)
    m.warnings.push_back(fmt::format("{}: and more", m.path));
}

void read_header(module &m, elf_file &f) {
  refuse_what_is_no_elf(m, f.bytes);
  // e_machine lies at the same place in files of 32 and 64 bits.
  const auto start = read_at<Elf32_Ehdr>(f.bytes, 0);
  const auto header = read_at<Elf64_Ehdr>(f.bytes, 0);
  if (start)
    refuse_other_machines(m, start->e_ident, start->e_machine);
  if (!header)
    refuse(m, "ends within its ELF header; get it anew");
  f.header = *header;
  switch (f.header.e_type) {
  case ET_EXEC:
    break;
  case ET_DYN:
    m.position_independent = true;
    break;
  case ET_REL:
    refuse(m, "is an object file; link it, and give the program or shared library");
  case ET_CORE:
    refuse(m, "is a core dump; give the program that left it");
  default:
    refuse(m, fmt::format("has the unknown ELF type {}; is it damaged?", f.header.e_type));
  }
  m.entry = f.header.e_entry;
}

void read_segments(module &m, elf_file &f) {
  std::uint64_t count = f.header.e_phnum;
  if (count == PN_XNUM) // then the first section header has it
    count = read_at<Elf64_Shdr>(f.bytes, f.header.e_shoff).value_or(Elf64_Shdr{}).sh_info;
  if (f.header.e_phentsize != sizeof(Elf64_Phdr) && count != 0)
    refuse(m, "has program headers of an unknown size; is it damaged?");
  if (count > most_segments)
    refuse(m, fmt::format("has {} program headers; is it damaged?", count));
  cursor c(f.bytes, f.header.e_phoff);
  for (std::uint64_t i = 0; i != count; ++i) {
    const auto p = c.take<Elf64_Phdr>();
    if (c.failed())
      refuse(m, "is cut short: its table of segments ends after the file does; copy or build it again");
    f.segment_headers.push_back(p);
    if (p.p_type == PT_LOAD) {
      add_segment(m, f, p);
    } else if (p.p_type == PT_INTERP && m.interpreter.empty()) {
      m.interpreter = cursor(part_of_file(f, p.p_offset, std::min(p.p_filesz, longest_path))).text();
    } else if (p.p_type == PT_GNU_RELRO) {
      // Whole pages, as ld.so protects them.
      f.relro_begin = p.p_vaddr & -page_size;
      f.relro_end = (p.p_vaddr + p.p_memsz) & -page_size;
    } else if (p.p_type == PT_GNU_EH_FRAME) {
      m.unwind_header = p.p_vaddr;
    } else if (p.p_type == PT_NOTE) {
      read_note(m, f, {p.p_offset, p.p_filesz}, p.p_align);
    }
  }
  if (f.segments.empty())
    refuse(m, "has no segments that could be loaded; give an executable or a shared library");
  sort_segments(m, f);
}

void read_sections(module &m, elf_file &f) {
  if (f.header.e_shoff == 0)
    return;
  const auto first = read_at<Elf64_Shdr>(f.bytes, f.header.e_shoff);
  if (!first || f.header.e_shentsize != sizeof(Elf64_Shdr)) {
    warn(m, "the table of sections lies outside the file or has entries of an unknown size; left out");
    return;
  }
  // Numbers too large for the ELF header are in the first section header.
  const std::uint64_t count = f.header.e_shnum != 0 ? f.header.e_shnum : first->sh_size;
  const std::uint64_t names_at = f.header.e_shstrndx != SHN_XINDEX ? f.header.e_shstrndx : first->sh_link;
  if (count > (f.bytes.size() - f.header.e_shoff) / sizeof(Elf64_Shdr)) {
    warn(m, "the table of sections ends after the file does: is it cut short? left out");
    return;
  }
  cursor c(f.bytes, f.header.e_shoff);
  for (std::uint64_t i = 0; i != count; ++i)
    f.section_headers.push_back(c.take<Elf64_Shdr>());
  const auto names = names_at < count ? f.contents(f.section_headers[names_at]) : f.bytes.first(0);

  for (std::uint64_t i = 1; i < count; ++i) {
    const Elf64_Shdr &h = f.section_headers[i];
    const std::string_view name = text_at(names, h.sh_name, longest_section_name);
    if (h.sh_type == SHT_NULL)
      continue;
    if (h.sh_addr + h.sh_size < h.sh_addr ||
        (h.sh_type != SHT_NOBITS &&
         (h.sh_offset > f.bytes.size() || h.sh_size > f.bytes.size() - h.sh_offset))) {
      warn(m, fmt::format("section {} ('{}') lies outside the file; left out", i, name));
      f.section_headers[i].sh_type = SHT_NULL;
      continue;
    }
    const section s{name,
                    h.sh_addr,
                    h.sh_size,
                    h.sh_offset,
                    h.sh_type,
                    (h.sh_flags & SHF_ALLOC) != 0,
                    (h.sh_flags & SHF_EXECINSTR) != 0,
                    (h.sh_flags & SHF_WRITE) != 0};
    if (s.allocated && s.executable && s.type == SHT_NOBITS && s.size != 0)
      refuse(m, "holds debug information without code; give the file that it was split from");
    m.sections.push_back(s);
    // .tbss takes no room between its neighbours.
    if (s.allocated && s.size != 0 && !((h.sh_flags & SHF_TLS) != 0 && s.type == SHT_NOBITS))
      f.by_address.push_back(static_cast<std::uint32_t>(m.sections.size() - 1));
    if (h.sh_type == SHT_SYMTAB && f.symtab == 0)
      f.symtab = static_cast<std::uint32_t>(i);
    if (h.sh_type == SHT_DYNSYM && f.dynsym == 0)
      f.dynsym = static_cast<std::uint32_t>(i);
    if (h.sh_type == SHT_NOTE)
      read_note(m, f, {h.sh_offset, h.sh_size}, h.sh_addralign);
  }
  std::ranges::stable_sort(f.by_address, {}, [&](std::uint32_t i) { return m.sections[i].begin; });
}

std::span<const std::uint8_t> elf_file::contents(const Elf64_Shdr &s) const noexcept {
  if (s.sh_type == SHT_NOBITS || s.sh_type == SHT_NULL)
    return {};
  cursor c(bytes, s.sh_offset);
  return c.piece(s.sh_size);
}

} // namespace nth::stack
