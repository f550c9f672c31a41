// The steps in which a module is read from its file, and what they keep. The structures of elf.h are read by hand
// rather than through libelf: every offset and count is checked here, in the one place that knows the file's size.
#pragma once

#include "image/module.hpp"

#include <elf.h>

namespace nth::stack {

struct segment { // PT_LOAD
  address begin = 0;
  std::uint64_t memory_size = 0;
  std::uint64_t offset = 0;
  std::uint64_t file_size = 0; // at most memory_size, all of it in the file
  bool executable = false;
  bool writable = false;
};

struct pointer_array {
  address begin = 0;
  std::uint64_t size = 0;
};

// What PT_DYNAMIC says; 0: it does not.
struct dynamic_table {
  bool present = false;
  address symbols = 0, strings = 0, hash = 0, gnu_hash = 0;
  address versions = 0, versions_needed = 0, versions_defined = 0;
  address relocations = 0, plt_relocations = 0, packed_relocations = 0, android_relocations = 0;
  std::uint64_t strings_size = 0, relocations_size = 0, plt_relocations_size = 0, packed_relocations_size = 0,
                android_relocations_size = 0;
  address init = 0, fini = 0;
  pointer_array arrays[3]; // of initializers and what runs at exit
};

struct byte_range {
  std::uint64_t offset = 0, size = 0;
};

struct elf_file {
  std::span<const std::uint8_t> bytes;
  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> segment_headers;
  std::vector<Elf64_Shdr> section_headers; // as numbered in the file; empty where there are none
  std::vector<segment> segments;           // sorted by address, none overlaps the next
  std::vector<std::uint32_t> by_address;   // allocated sections, as indexes in module::sections
  dynamic_table dynamic;
  address relro_begin = 0, relro_end = 0;
  std::uint32_t symtab = 0;               // number of the section; 0: none
  std::uint32_t dynsym = 0;               // the same
  std::uint32_t first_dynamic_symbol = 0; // in module::symbols

  std::uint32_t notes = 0; // looked at so far

  // What the file holds of a section; empty for .bss and for what lies outside the file.
  [[nodiscard]] std::span<const std::uint8_t> contents(const Elf64_Shdr &s) const noexcept;
};

// In this order. The first throws bad_input, the others leave out what makes no sense and warn.
void read_header(module &m, elf_file &f);
void read_segments(module &m, elf_file &f);
void read_sections(module &m, elf_file &f);
void read_dynamic(module &m, elf_file &f);
void read_symbols(module &m, elf_file &f);
void read_relocations(module &m, elf_file &f);
void read_initializers(module &m, const elf_file &f);
void find_plt(module &m, const elf_file &f);

// Of .symtab or .dynsym.
void add_symbols(module &m, std::span<const std::uint8_t> table, std::span<const std::uint8_t> strings,
                 bool dynamic);
// Those of the .symtab of a file that was split from m; false: it has none, or is not of m. `bytes` live as long as m.
bool read_split_symbols(module &m, std::span<const std::uint8_t> bytes);

// A damaged file could give one for each of its bytes.
void warn(module &m, std::string text);

} // namespace nth::stack
