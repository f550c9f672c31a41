// What the program headers tell the loader: PT_DYNAMIC, and what runs before main.
#include "image/cursor.hpp"
#include "image/doubles.hpp"
#include "image/elf_file.hpp"

#include <algorithm>

namespace nth::stack {

namespace {

// Of packed relocations, before and besides DT_RELR (LLVM, BinaryFormat/DynamicTags.def).
constexpr std::int64_t dt_android_rela = 0x60000011;
constexpr std::int64_t dt_android_relasz = 0x60000012;
constexpr std::int64_t dt_android_relr = 0x6fffe000;
constexpr std::int64_t dt_android_relrsz = 0x6fffe001;

constexpr std::size_t most_libraries = 4096;
constexpr std::uint64_t most_entries = 1 << 16;
constexpr std::uint64_t longest_name = 4096;
constexpr std::uint64_t most_initializers = 1 << 20;

struct text_entries { // offsets in the table of strings, which may come after them
  std::vector<std::uint64_t> needed, rpaths, runpaths;
  std::uint64_t name = 0;
};

struct dynamic_state {
  text_entries texts;
  std::uint64_t flags_1 = 0;
  bool debug = false;
};

void take_entry(module &m, dynamic_table &d, dynamic_state &state, const Elf64_Dyn &entry) {
  const std::uint64_t value = entry.d_un.d_val;
  switch (entry.d_tag) {
  case DT_NEEDED:
    state.texts.needed.push_back(value);
    break;
  case DT_RPATH:
    state.texts.rpaths.push_back(value);
    break;
  case DT_RUNPATH:
    state.texts.runpaths.push_back(value);
    break;
  case DT_SONAME:
    state.texts.name = value;
    break;
  case DT_SYMTAB:
    d.symbols = value;
    break;
  case DT_STRTAB:
    d.strings = value;
    break;
  case DT_STRSZ:
    d.strings_size = value;
    break;
  case DT_HASH:
    d.hash = value;
    break;
  case DT_GNU_HASH:
    d.gnu_hash = value;
    break;
  case DT_VERSYM:
    d.versions = value;
    break;
  case DT_VERNEED:
    d.versions_needed = value;
    break;
  case DT_VERDEF:
    d.versions_defined = value;
    break;
  case DT_RELA:
    d.relocations = value;
    break;
  case DT_RELASZ:
    d.relocations_size = value;
    break;
  case DT_JMPREL:
    d.plt_relocations = value;
    break;
  case DT_PLTRELSZ:
    d.plt_relocations_size = value;
    break;
  case DT_RELR:
  case dt_android_relr:
    d.packed_relocations = value;
    break;
  case DT_RELRSZ:
  case dt_android_relrsz:
    d.packed_relocations_size = value;
    break;
  case dt_android_rela:
    d.android_relocations = value;
    break;
  case dt_android_relasz:
    d.android_relocations_size = value;
    break;
  case DT_INIT:
    d.init = value;
    break;
  case DT_FINI:
    d.fini = value;
    break;
  case DT_PREINIT_ARRAY:
    d.arrays[0].begin = value;
    break;
  case DT_PREINIT_ARRAYSZ:
    d.arrays[0].size = value;
    break;
  case DT_INIT_ARRAY:
    d.arrays[1].begin = value;
    break;
  case DT_INIT_ARRAYSZ:
    d.arrays[1].size = value;
    break;
  case DT_FINI_ARRAY:
    d.arrays[2].begin = value;
    break;
  case DT_FINI_ARRAYSZ:
    d.arrays[2].size = value;
    break;
  case DT_BIND_NOW:
    m.bound_now = true;
    break;
  case DT_FLAGS:
    m.bound_now = m.bound_now || (value & DF_BIND_NOW) != 0;
    break;
  case DT_FLAGS_1:
    state.flags_1 = value;
    m.bound_now = m.bound_now || (value & DF_1_NOW) != 0;
    break;
  case DT_DEBUG:
    state.debug = true;
    break;
  default:
    break;
  }
}

// A program may be a shared object by its type (PIE); only linkers of the last years mark it as such.
bool is_library(const module &m, const dynamic_state &state) {
  if (!m.position_independent || (state.flags_1 & DF_1_PIE) != 0)
    return false;
  return state.texts.name != 0 || (m.interpreter.empty() && !state.debug);
}

void add_initializer(module &m, address a) {
  // 0 and -1 end or begin arrays by old custom.
  if (m.is_code(a) && m.run_by_loader.size() < most_initializers)
    m.run_by_loader.push_back(a);
}

void add_array(module &m, address begin, std::uint64_t size) {
  size = std::min<std::uint64_t>(size, m.bytes_at(begin).size());
  for (address place = begin; place - begin + 8 <= size; place += 8)
    if (const auto a = m.pointer_at(place))
      add_initializer(m, *a);
}

} // namespace

void read_dynamic(module &m, elf_file &f) {
  const auto header = std::ranges::find(f.segment_headers, std::uint32_t{PT_DYNAMIC}, &Elf64_Phdr::p_type);
  if (header == f.segment_headers.end()) {
    m.bound_now = true; // nothing is left to bind
    m.shared = is_library(m, {});
    return;
  }
  f.dynamic.present = true;
  dynamic_state state;
  cursor c(m.bytes_at(header->p_vaddr));
  for (std::uint64_t i = 0;; ++i) {
    const auto entry = c.take<Elf64_Dyn>();
    if (c.failed() || i == most_entries) {
      warn(m, "the dynamic section has no end");
      break;
    }
    if (entry.d_tag == DT_NULL)
      break;
    take_entry(m, f.dynamic, state, entry);
  }
  // A static program that moves itself (static-pie) has this segment, but nobody to bind lazily.
  m.shared = is_library(m, state);
  if (state.texts.needed.empty() && m.interpreter.empty() && !m.shared)
    m.bound_now = true;

  const auto strings = m.bytes_at(f.dynamic.strings);
  const auto text = [&](std::uint64_t at) { return std::string(text_at(strings, at, longest_name)); };
  for (const std::uint64_t at : state.texts.needed)
    if (m.needed.size() < most_libraries && !text(at).empty())
      m.needed.push_back(text(at));
  m.run_paths_inherited = state.texts.runpaths.empty();
  for (const std::uint64_t at : m.run_paths_inherited ? state.texts.rpaths : state.texts.runpaths)
    if (m.run_paths.size() < most_libraries && !text(at).empty())
      m.run_paths.push_back(text(at));
  if (!text(state.texts.name).empty())
    m.name = text(state.texts.name);
}

void read_initializers(module &m, const elf_file &f) {
  add_initializer(m, f.dynamic.init);
  add_initializer(m, f.dynamic.fini);
  for (const auto &array : f.dynamic.arrays)
    add_array(m, array.begin, array.size);
  if (!f.dynamic.present) { // static: found by the symbols around these sections
    for (const section &s : m.sections) {
      if (s.type == SHT_INIT_ARRAY || s.type == SHT_FINI_ARRAY || s.type == SHT_PREINIT_ARRAY)
        add_array(m, s.begin, s.size);
      else if (s.name == ".init" || s.name == ".fini")
        add_initializer(m, s.begin);
    }
  }
  std::ranges::sort(m.run_by_loader);
  drop_doubles(m.run_by_loader);
}

} // namespace nth::stack
