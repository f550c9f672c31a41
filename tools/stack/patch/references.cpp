#include "patch/references.hpp"

#include "image/cursor.hpp"
#include "image/doubles.hpp"
#include "patch/references_parts.hpp"

#include <algorithm>

#include <elf.h>
#include <fmt/format.h>

namespace nth::stack {

std::optional<std::int64_t> signed_at(const module &m, address a, unsigned bytes) noexcept {
  if (bytes == 8)
    return read_at<std::int64_t>(m.bytes_at(a), 0);
  const auto low = read_at<std::int32_t>(m.bytes_at(a), 0);
  return low ? std::optional<std::int64_t>(*low) : std::nullopt;
}

bool holds_no_references(const section &s) noexcept {
  switch (s.type) {
  case SHT_INIT_ARRAY:
  case SHT_FINI_ARRAY:
  case SHT_PREINIT_ARRAY:
  case SHT_NOTE:
  case SHT_NOBITS:
    return true;
  default:
    break;
  }
  if (!s.allocated)
    return true;
  for (const std::string_view each :
       {".eh_frame", ".eh_frame_hdr", ".nth_growth", ".nth_stubs", ".nth_stack", ".ctors", ".dtors",
        ".stapsdt.base", "__patchable_function_entries", "__mcount_loc"})
    if (s.name == each)
      return true;
  return s.name.starts_with(".gcc_except_table");
}

reference_finder::reference_finder(const module &m, const function_table &t,
                                   const std::vector<address> &functions, const module &with_relocations)
    : image_(m), table_(t), kept_(with_relocations) {
  for (const address a : functions) {
    index_.emplace(a, found_.size());
    found_.push_back({a, {}, {}});
  }
  for (const symbol &s : m.symbols) {
    if (s.name == "_GLOBAL_OFFSET_TABLE_")
      global_offsets_ = s.at;
    if (s.kind == symbol_kind::object && s.defined)
      tables_.push_back(s.at);
  }
}

address reference_finder::function_named(std::uint32_t symbol) const noexcept {
  if (symbol == no_symbol)
    return 0;
  const nth::stack::symbol &s = kept_.symbols[symbol];
  return s.defined && s.kind != symbol_kind::section && wanted(s.at) ? s.at : 0;
}

void reference_finder::add_in_file(address function, const reference &r) {
  found_[index_.at(function)].places.push_back(r);
}

void reference_finder::add(address function, reference_kind kind, address at, address field,
                           std::uint8_t size) {
  if (const section *s = image_.section_of(field))
    add_in_file(function, {s->offset + (field - s->begin), at, size, kind});
  else
    refuse(function, fmt::format("its address at {:#x} lies in no section", field));
}

// The first is told; others are as bad.
void reference_finder::refuse(address function, std::string why) {
  std::string &obstacle = found_[index_.at(function)].obstacle;
  if (obstacle.empty())
    obstacle = std::move(why);
}

void reference_finder::refuse_what_is_no_function() {
  for (function_references &each : found_) {
    const section *s = image_.section_of(each.function);
    if (table_.at(each.function) == no_function || s == nullptr || !s->executable)
      each.obstacle = "no function begins there";
    else if (table_.functions[table_.at(each.function)].kind != function_kind::normal)
      each.obstacle = "it is a part of other functions, or chooses one for the loader";
    else if (s->name == "nth_code")
      each.obstacle = "it is a function of libnth";
    else if (s->name == ".nth_stubs" || image_.plt_at(each.function) != nullptr)
      each.obstacle = "it is a stub itself";
  }
}

std::vector<function_references> reference_finder::take() {
  for (function_references &each : found_) {
    std::ranges::sort(each.places, {}, &reference::field);
    drop_doubles(each.places, &reference::field);
  }
  return std::move(found_);
}

std::vector<function_references> find_references(const module &m, const function_table &table,
                                                 const std::vector<address> &functions, const module &kept) {
  reference_finder finder(m, table, functions, kept);
  finder.refuse_what_is_no_function();
  finder.search_code();
  finder.search_data();
  finder.search_loader_words();
  finder.search_offset_table();
  finder.search_exports();
  finder.search_personalities();
  return finder.take();
}

std::vector<function_references> find_references(const module &m, const function_table &table,
                                                 const std::vector<address> &functions) {
  return find_references(m, table, functions, m);
}

std::string_view name_of(reference_kind k) noexcept {
  switch (k) {
  case reference_kind::code_relative:
    return "an instruction that computes it";
  case reference_kind::code_absolute:
    return "an instruction that has it as a constant";
  case reference_kind::data_absolute:
    return "a word in data";
  case reference_kind::data_relative:
    return "a distance in data";
  case reference_kind::relocation_addend:
    return "the addend of a relocation";
  case reference_kind::exported:
    return "an exported symbol";
  }
  return "";
}

} // namespace nth::stack
