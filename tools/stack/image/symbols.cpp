// .symtab and .dynsym, with versions.
#include "image/cursor.hpp"
#include "image/elf_file.hpp"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

namespace nth::stack {

namespace {

constexpr std::uint64_t longest_name = 1 << 16;
constexpr std::uint64_t longest_version = 256;
constexpr std::uint16_t version_hidden = 0x8000;

symbol_kind kind_of(unsigned char type) {
  switch (type) {
  case STT_FUNC:
    return symbol_kind::function;
  case STT_GNU_IFUNC:
    return symbol_kind::ifunc;
  case STT_OBJECT:
  case STT_COMMON:
    return symbol_kind::object;
  case STT_TLS:
    return symbol_kind::tls;
  case STT_SECTION:
  case STT_FILE:
    return symbol_kind::section;
  default:
    return symbol_kind::none;
  }
}

// Names as views: made texts later, so their sum must stay in proportion to the file even if a million of them
// point to the same long text.
class name_table {
public:
  explicit name_table(std::span<const std::uint8_t> strings)
      : strings_(strings), left_(strings.size() * 16 + 4096) {}

  std::string_view at(std::uint64_t offset) {
    const std::string_view name = text_at(strings_, offset, std::min(longest_name, left_));
    left_ -= name.size();
    if (name.empty() && offset < strings_.size() && strings_[offset] != 0)
      cut = true;
    return name;
  }

  bool cut = false;

private:
  std::span<const std::uint8_t> strings_;
  std::uint64_t left_;
};

symbol make_symbol(const Elf64_Sym &raw, std::string_view name, bool dynamic) {
  symbol s;
  s.name = name;
  s.at = raw.st_value;
  s.size = raw.st_size;
  s.kind = kind_of(ELF64_ST_TYPE(raw.st_info));
  s.defined = raw.st_shndx != SHN_UNDEF;
  s.global = ELF64_ST_BIND(raw.st_info) != STB_LOCAL;
  s.weak = ELF64_ST_BIND(raw.st_info) == STB_WEAK;
  s.dynamic = dynamic;
  return s;
}

// .symtab writes a version into the name.
void split_version(symbol &s) {
  const auto at = s.name.find('@');
  if (at == std::string_view::npos || at == 0)
    return;
  s.hidden = s.name.substr(at, 2) != "@@";
  s.version = s.name.substr(at + (s.hidden ? 1 : 2));
  s.name = s.name.substr(0, at);
}

// As many as the hash table leads to. ld gives it no undefined symbols, others find those by relocations.
std::uint64_t count_by_gnu_hash(const module &m, address at) {
  cursor c(m.bytes_at(at));
  const auto buckets = c.take<std::uint32_t>();
  const auto first = c.take<std::uint32_t>();
  const auto words = c.take<std::uint32_t>();
  c.skip(4 + std::uint64_t{words} * 8);
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i != buckets && !c.failed(); ++i)
    last = std::max(last, c.take<std::uint32_t>());
  if (c.failed() || last < first)
    return c.failed() ? 0 : first;
  c.skip((std::uint64_t{last} - first) * 4);
  for (; !c.failed(); ++last)
    if ((c.take<std::uint32_t>() & 1u) != 0)
      return std::uint64_t{last} + 1;
  return 0;
}

std::uint64_t count_by_hash(const module &m, address at) {
  cursor c(m.bytes_at(at));
  c.skip(4);
  return c.take<std::uint32_t>();
}

std::uint64_t count_by_relocations(const module &m, address at, std::uint64_t size) {
  std::uint64_t count = 0;
  cursor c(m.bytes_at(at));
  for (std::uint64_t i = 0; i != size / sizeof(Elf64_Rela) && !c.failed(); ++i)
    count = std::max<std::uint64_t>(count, ELF64_R_SYM(c.take<Elf64_Rela>().r_info) + 1);
  return count;
}

// Bytes of .dynsym, whose size nothing but a section states.
std::uint64_t size_of_dynamic_symbols(const module &m, const elf_file &f) {
  const dynamic_table &d = f.dynamic;
  for (const section &s : m.sections)
    if (s.type == SHT_DYNSYM && s.begin == d.symbols)
      return s.size;
  std::uint64_t count = std::max(count_by_relocations(m, d.relocations, d.relocations_size),
                                 count_by_relocations(m, d.plt_relocations, d.plt_relocations_size));
  if (d.gnu_hash != 0)
    count = std::max(count, count_by_gnu_hash(m, d.gnu_hash));
  if (d.hash != 0)
    count = std::max(count, count_by_hash(m, d.hash));
  return count * sizeof(Elf64_Sym);
}

using version_names = std::unordered_map<std::uint16_t, std::string_view>;

// Lists linked by offsets: they lead forward only, but could visit the same bytes often.
constexpr int most_version_steps = 1 << 17;

void add_needed_versions(const module &m, address at, std::span<const std::uint8_t> strings,
                         version_names &names) {
  const auto bytes = m.bytes_at(at);
  std::uint64_t from = 0;
  int steps = 0;
  for (auto need = read_at<Elf64_Verneed>(bytes, 0); need; need = read_at<Elf64_Verneed>(bytes, from)) {
    std::uint64_t next = from + need->vn_aux;
    for (std::uint32_t i = 0; i != need->vn_cnt; ++i) {
      const auto aux = read_at<Elf64_Vernaux>(bytes, next);
      if (!aux || ++steps > most_version_steps)
        break;
      names.emplace(static_cast<std::uint16_t>(aux->vna_other & ~version_hidden),
                    text_at(strings, aux->vna_name, longest_version));
      if (aux->vna_next == 0)
        break;
      next += aux->vna_next;
    }
    if (need->vn_next == 0 || ++steps > most_version_steps)
      break;
    from += need->vn_next;
  }
}

void add_defined_versions(const module &m, address at, std::span<const std::uint8_t> strings,
                          version_names &names) {
  const auto bytes = m.bytes_at(at);
  std::uint64_t from = 0;
  int steps = 0;
  for (auto def = read_at<Elf64_Verdef>(bytes, 0); def; def = read_at<Elf64_Verdef>(bytes, from)) {
    const auto aux = read_at<Elf64_Verdaux>(bytes, from + def->vd_aux);
    if (aux && (def->vd_flags & VER_FLG_BASE) == 0) // the base is the library's own name
      names.emplace(def->vd_ndx, text_at(strings, aux->vda_name, longest_version));
    if (def->vd_next == 0 || ++steps > most_version_steps)
      break;
    from += def->vd_next;
  }
}

void add_versions(module &m, const elf_file &f, std::span<const std::uint8_t> strings) {
  if (f.dynamic.versions == 0)
    return;
  version_names names;
  if (f.dynamic.versions_needed != 0)
    add_needed_versions(m, f.dynamic.versions_needed, strings, names);
  if (f.dynamic.versions_defined != 0)
    add_defined_versions(m, f.dynamic.versions_defined, strings, names);
  cursor c(m.bytes_at(f.dynamic.versions));
  c.skip(2);
  for (std::size_t i = f.first_dynamic_symbol; i != m.symbols.size() && !c.failed(); ++i) {
    const auto index = c.take<std::uint16_t>();
    const auto found = names.find(static_cast<std::uint16_t>(index & ~version_hidden));
    if (found == names.end())
      continue;
    m.symbols[i].version = found->second;
    m.symbols[i].hidden = (index & version_hidden) != 0;
  }
}

std::span<const std::uint8_t> strings_of(const elf_file &f, const Elf64_Shdr &table) {
  if (table.sh_link >= f.section_headers.size())
    return {};
  return f.contents(f.section_headers[table.sh_link]);
}

} // namespace

void add_symbols(module &m, std::span<const std::uint8_t> table, std::span<const std::uint8_t> strings,
                 bool dynamic) {
  name_table names(strings);
  const std::size_t count = table.size() / sizeof(Elf64_Sym);
  m.symbols.reserve(m.symbols.size() + count);
  cursor c(table);
  c.skip(std::min(table.size(), sizeof(Elf64_Sym))); // entry 0 is none
  for (std::size_t i = 1; i < count; ++i) {
    const auto raw = c.take<Elf64_Sym>();
    symbol s = make_symbol(raw, names.at(raw.st_name), dynamic);
    if (!dynamic)
      split_version(s);
    m.symbols.push_back(s);
  }
  if (names.cut)
    warn(m, "names of symbols lie outside their table, or have no end; left out");
}

void read_symbols(module &m, elf_file &f) {
  m.stripped = f.symtab == 0;
  if (f.symtab != 0) {
    const Elf64_Shdr &table = f.section_headers[f.symtab];
    add_symbols(m, f.contents(table), strings_of(f, table), false);
  }
  f.first_dynamic_symbol = static_cast<std::uint32_t>(m.symbols.size());
  if (f.dynamic.symbols == 0)
    return;
  auto table = m.bytes_at(f.dynamic.symbols);
  auto strings = m.bytes_at(f.dynamic.strings);
  const std::uint64_t size = size_of_dynamic_symbols(m, f);
  if (size > table.size())
    warn(m, "the dynamic symbols end after their segment does; those after it are left out");
  table = table.first(std::min<std::uint64_t>(size, table.size()));
  if (f.dynamic.strings_size != 0)
    strings = strings.first(std::min<std::uint64_t>(f.dynamic.strings_size, strings.size()));
  add_symbols(m, table, strings, true);
  add_versions(m, f, strings);
}

} // namespace nth::stack
