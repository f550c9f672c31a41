// Whatever was not to change.
#include "patch/verify_parts.hpp"

#include "image/cursor.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <elf.h>
#include <fmt/format.h>

namespace nth::stack {

namespace {

struct headers {
  explicit headers(const module &m) {
    file = read_at<Elf64_Ehdr>(m.file(), 0).value_or(Elf64_Ehdr{});
    cursor s(m.file(), file.e_shoff);
    for (unsigned i = 0; i != file.e_shnum; ++i)
      sections.push_back(s.take<Elf64_Shdr>());
    cursor p(m.file(), file.e_phoff);
    for (unsigned i = 0; i != file.e_phnum; ++i)
      segments.push_back(p.take<Elf64_Phdr>());
  }

  Elf64_Ehdr file{};
  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Phdr> segments;
};

bool loaded(const Elf64_Shdr &s) noexcept { return (s.sh_flags & SHF_ALLOC) != 0; }

std::span<const std::uint8_t> contents(const module &m, const Elf64_Shdr &s) {
  if (s.sh_type == SHT_NOBITS || s.sh_type == SHT_NULL)
    return {};
  cursor c(m.file(), s.sh_offset);
  return c.piece(s.sh_size);
}

bool same(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool names_a_section(const Elf64_Shdr &s) noexcept {
  return s.sh_type == SHT_RELA || (s.sh_flags & SHF_INFO_LINK) != 0;
}

} // namespace

void verifier::allow(address a, std::uint64_t size) {
  const section *s = before_.section_of(a);
  if (s != nullptr)
    allowed_.push_back({s->offset + (a - s->begin), s->offset + (a - s->begin) + size});
}

// All bytes of segments: what lies between sections, too.
void verifier::check_loaded_bytes() {
  const headers was(before_);
  const headers is(after_);
  Elf64_Ehdr file = is.file;
  if (file.e_entry != (blank_.entry != 0 ? blank_.entry : was.file.e_entry))
    wrong("it begins elsewhere");
  file.e_entry = was.file.e_entry;
  file.e_shoff = was.file.e_shoff;
  file.e_shnum = was.file.e_shnum;
  file.e_shstrndx = was.file.e_shstrndx;
  if (std::memcmp(&file, &was.file, sizeof file) != 0)
    wrong("its ELF header differs");
  allowed_.push_back({0, sizeof file});
  // Numbers of sections, which check_sections() looks at.
  for (const Elf64_Shdr &s : was.sections)
    for (std::uint64_t at = 0; s.sh_type == SHT_DYNSYM && at < s.sh_size; at += sizeof(Elf64_Sym)) {
      const std::uint64_t number = s.sh_offset + at + offsetof(Elf64_Sym, st_shndx);
      allowed_.push_back({number, number + sizeof(Elf64_Sym::st_shndx)});
    }
  std::ranges::sort(allowed_, {}, &file_range::begin);
  for (const Elf64_Phdr &p : was.segments) {
    if (p.p_type != PT_LOAD)
      continue;
    std::uint64_t at = p.p_offset;
    const std::uint64_t end = p.p_offset + p.p_filesz;
    const auto check = [&](std::uint64_t to) {
      for (; at < to; ++at)
        if (read_at<std::uint8_t>(before_.file(), at) != read_at<std::uint8_t>(after_.file(), at))
          wrong(fmt::format("the byte at {:#x} has changed", p.p_vaddr + (at - p.p_offset)));
    };
    for (const file_range &r : allowed_) {
      check(std::min(r.begin, end));
      at = std::max(at, r.end);
    }
    check(end);
  }
}

void verifier::check_sections() const {
  const headers was(before_);
  const headers is(after_);
  std::vector<std::uint32_t> numbers; // now, of the sections before
  std::uint32_t count = 0;
  for (const Elf64_Shdr &s : was.sections)
    numbers.push_back(s.sh_type == SHT_RELA && !loaded(s) ? 0 : count++);
  if (count != is.sections.size() || numbers[was.file.e_shstrndx] != is.file.e_shstrndx)
    wrong("it has other sections");
  for (std::size_t i = 0; i < was.sections.size(); ++i) {
    Elf64_Shdr expected = was.sections[i];
    if (expected.sh_type == SHT_RELA && !loaded(expected))
      continue;
    const Elf64_Shdr &now = is.sections[numbers[i]];
    expected.sh_link = numbers[expected.sh_link];
    if (names_a_section(expected))
      expected.sh_info = numbers[expected.sh_info];
    if (!loaded(expected))
      expected.sh_offset = now.sh_offset;
    if (std::memcmp(&expected, &now, sizeof now) != 0)
      wrong(fmt::format("the header of section {} differs", numbers[i]));
    if (expected.sh_type == SHT_SYMTAB || expected.sh_type == SHT_DYNSYM)
      check_symbols(contents(before_, was.sections[i]), contents(after_, now), numbers, loaded(expected));
    else if (!loaded(expected) && !same(contents(before_, was.sections[i]), contents(after_, now)))
      wrong(fmt::format("section {} differs", numbers[i]));
  }
}

void verifier::check_symbols(std::span<const std::uint8_t> was, std::span<const std::uint8_t> is,
                             const std::vector<std::uint32_t> &numbers, bool dynamic) const {
  for (std::uint64_t at = 0; at < was.size(); at += sizeof(Elf64_Sym)) {
    auto expected = read_at<Elf64_Sym>(was, at);
    const auto now = read_at<Elf64_Sym>(is, at);
    if (!expected || !now)
      wrong("a table of symbols is cut short");
    if (expected->st_shndx < SHN_LORESERVE)
      expected->st_shndx = static_cast<std::uint16_t>(numbers.at(expected->st_shndx));
    // Of loaded symbols the value is looked at by check_loaded_bytes(): it may be that of a stub.
    if (dynamic)
      expected->st_value = now->st_value;
    if (std::memcmp(&*expected, &*now, sizeof *now) != 0)
      wrong(fmt::format("symbol {} differs", at / sizeof(Elf64_Sym)));
  }
}

} // namespace nth::stack
