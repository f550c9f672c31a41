#include "graph/targets_tables.hpp"
#include "graph/targets_taken.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <tuple>

namespace nth::stack {

namespace {

constexpr std::int64_t word_size = 8;
const std::vector<std::uint32_t> none;
constexpr std::size_t most_slots = 4096; // of one vtable; a run that is longer is an array of something else
// Of an object's part to its beginning, negated: what stands two words before a vtable's address point.
constexpr std::int64_t largest_offset_to_top = std::int64_t{1} << 24;

void add_at(std::vector<std::vector<std::uint32_t>> &by_slot, std::size_t slot, std::uint32_t node) {
  if (by_slot.size() <= slot)
    by_slot.resize(slot + 1);
  by_slot[slot].push_back(node);
}

void sort_slots(std::vector<std::vector<std::uint32_t>> &by_slot) {
  for (std::vector<std::uint32_t> &nodes : by_slot) {
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    nodes.shrink_to_fit();
  }
}

const std::vector<std::uint32_t> &slot_at(const std::vector<std::vector<std::uint32_t>> &by_slot,
                                          std::int64_t offset) {
  const std::int64_t slot = offset / word_size;
  if (offset < 0 || offset % word_size != 0 || slot >= static_cast<std::int64_t>(by_slot.size()))
    return none;
  return by_slot[static_cast<std::size_t>(slot)];
}

// Slots of imported functions, behind words that are zero: to the eye a vtable.
bool holds_slots(const section &s) noexcept { return s.name == ".got" || s.name.starts_with(".got."); }

address first_word(const section &s) noexcept { return (s.begin + 7) & ~address{7}; }

// Whether the code holds an instruction that loads an address in [begin, end] into a register.
bool loads_address_in(const module &m, const function &f, address begin, address end) {
  const std::span<const std::uint8_t> all = m.bytes_at(f.entry);
  const std::size_t size = std::min<std::size_t>(all.size(), f.end > f.entry ? f.end - f.entry : 0);
  constexpr std::size_t length = 7;
  for (std::size_t i = 0; i + length <= size; ++i) {
    // lea to(%rip), register; where addresses are fixed also mov $to, register of 8 or 4 bytes.
    const bool lea = (all[i] == 0x48 || all[i] == 0x4c) && all[i + 1] == 0x8d && (all[i + 2] & 0xc7) == 0x05;
    const bool wide = (all[i] == 0x48 || all[i] == 0x49) && all[i + 1] == 0xc7 && (all[i + 2] & 0xf8) == 0xc0;
    const bool narrow = (all[i] & 0xf8) == 0xb8;
    if (!lea && (m.position_independent || (!wide && !narrow)))
      continue;
    std::int32_t number = 0;
    std::memcpy(&number, &all[i + (lea || wide ? 3 : 1)], sizeof number);
    const address to = (lea ? f.entry + i + length : 0) + static_cast<address>(std::int64_t{number});
    if (to >= begin && to <= end)
      return true;
  }
  return false;
}

bool holds_starters(const section &s) {
  return s.type == SHT_INIT_ARRAY || s.type == SHT_FINI_ARRAY || s.type == SHT_PREINIT_ARRAY;
}

} // namespace

pointer_tables::pointer_tables(code_targets &targets)
    : targets_(targets), has_classes_(targets.whole().modules.size()),
      objects_(targets.whole().modules.size()) {
  const program &p = targets.whole();
  for (std::uint32_t m = 0; m < p.modules.size(); ++m) {
    const module &image = p.modules[m].image;
    has_classes_[m] = std::any_of(image.symbols.begin(), image.symbols.end(),
                                  [](const symbol &s) { return s.name.starts_with("_ZTV"); });
    for (const section &s : image.sections) {
      if (!s.allocated || s.executable || s.type != SHT_PROGBITS || s.name.starts_with(".eh_frame") ||
          holds_slots(s))
        continue;
      if (s.name == "__libc_IO_vtables")
        find_streams(m, s, words_of(m, s));
      else if (has_classes_[m] && image.is_constant(s.begin))
        find_vtables(m, first_word(s), words_of(m, s));
    }
  }
  sort_slots(by_slot_);
}

std::vector<pointer_tables::word> pointer_tables::words_of(std::uint32_t module, const section &s) const {
  const class module &m = targets_.whole().modules[module].image;
  const std::span<const std::uint8_t> bytes = m.bytes_at(s.begin);
  const address begin = first_word(s);
  const address end = s.begin + std::min<std::uint64_t>(s.size, bytes.size());
  std::vector<word> words(end > begin ? (end - begin) / 8 : 0);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::int64_t value = 0;
    std::memcpy(&value, &bytes[begin - s.begin + 8 * i], sizeof value);
    if (value == 0)
      words[i].kind = word_kind::zero;
    else if (value < 0 && value > -largest_offset_to_top)
      words[i].kind = word_kind::negative;
    else if (!m.position_independent && m.section_of(static_cast<address>(value)) != nullptr)
      words[i].kind = word_kind::data;
    else
      continue;
    if (words[i].kind == word_kind::data) {
      const callees c = code_in_word(targets_, module, begin + 8 * i);
      if (c.nodes.size() == 1)
        words[i] = {word_kind::code, c.nodes.front()};
    }
  }
  for (const relocation &r : m.relocations_in(begin, begin + 8 * words.size())) {
    if (!r.dynamic || (r.place - begin) % 8 != 0)
      continue;
    const callees c = code_in_word(targets_, module, r.place);
    word &w = words[(r.place - begin) / 8];
    w = c.nodes.empty() ? word{word_kind::data, no_node} : word{word_kind::code, c.nodes.front()};
  }
  return words;
}

// A vtable is: offset to top (0 or negative), pointer to the type's description (0 without RTTI), then functions.
// Destructors of abstract classes leave zeros among them. Other data may look so, above all like
// one without RTTI: its symbol, if it has one, tells.
void pointer_tables::find_vtables(std::uint32_t module, address begin, const std::vector<word> &words) {
  const auto kind = [&](std::size_t i) { return i < words.size() ? words[i].kind : word_kind::other; };
  const auto is_top = [&](std::size_t i) {
    return kind(i) == word_kind::zero || kind(i) == word_kind::negative;
  };
  const auto begins_at = [&](std::size_t i) { // the address point
    if (i < 2 || !is_top(i - 2))
      return false;
    const bool has_type = kind(i - 1) == word_kind::data;
    if (!has_type && kind(i - 1) != word_kind::zero)
      return false;
    const bool abstract = has_type && kind(i) == word_kind::zero && kind(i + 1) == word_kind::zero &&
                          kind(i + 2) == word_kind::code;
    if (kind(i) != word_kind::code && !abstract)
      return false;
    const object *o = object_at(module, begin + 8 * i);
    return o == nullptr || o->is_vtable;
  };
  for (std::size_t point = 2; point < words.size(); ++point) {
    if (!begins_at(point))
      continue;
    for (std::size_t i = point; i < words.size() && i - point < most_slots; ++i) {
      if (i > point + 2 && begins_at(i + 2))
        break; // the next one
      if (kind(i) == word_kind::code)
        add_at(by_slot_, i - point, words[i].node);
      else if (kind(i) != word_kind::zero)
        break;
    }
  }
}

// Each table begins with two words that stay zero, then functions.
void pointer_tables::find_streams(std::uint32_t module, const section &s, const std::vector<word> &words) {
  stream_table t{module, s.begin, s.begin + s.size, {}};
  std::size_t begin = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].kind == word_kind::code)
      add_at(t.by_slot, i - begin, words[i].node);
    else if (i + 2 < words.size() && words[i + 1].kind != word_kind::code &&
             words[i + 2].kind == word_kind::code)
      begin = i;
  }
  sort_slots(t.by_slot);
  streams_.push_back(std::move(t));
}

const std::vector<std::uint32_t> &pointer_tables::virtual_functions(std::int64_t offset) const {
  return slot_at(by_slot_, offset);
}

const std::vector<std::uint32_t> &pointer_tables::stream_functions(std::uint32_t module,
                                                                   const function &caller,
                                                                   std::int64_t offset) const {
  for (const stream_table &t : streams_)
    if (t.module == module &&
        loads_address_in(targets_.whole().modules[module].image, caller, t.begin, t.end))
      return slot_at(t.by_slot, offset);
  return none;
}

const pointer_tables::object *pointer_tables::object_at(std::uint32_t module, address a) {
  std::vector<object> &objects = objects_[module];
  if (objects.empty()) {
    for (const symbol &s : targets_.whole().modules[module].image.symbols)
      if (s.kind == symbol_kind::object && s.defined && s.size != 0)
        objects.push_back({s.at, s.size, s.name.starts_with("_ZTV") || s.name.starts_with("_ZTC")});
    objects.push_back({}); // made, even if there are none
    std::sort(objects.begin(), objects.end(), [](const object &x, const object &y) {
      return std::tie(x.at, x.size, x.is_vtable) < std::tie(y.at, y.size, y.is_vtable);
    });
  }
  const auto after = std::upper_bound(objects.begin(), objects.end(), a,
                                      [](address x, const object &o) { return x < o.at; });
  if (after == objects.begin())
    return nullptr;
  const object &o = *(after - 1);
  return a - o.at < o.size ? &o : nullptr;
}

// Of the object that holds a; 0: none.
std::uint64_t pointer_tables::bytes_left(std::uint32_t module, address a) {
  const object *o = object_at(module, a);
  return o == nullptr ? 0 : o->size - (a - o->at);
}

callees pointer_tables::entries(std::uint32_t module, const pointer_source &s) {
  callees all;
  if (s.stride == word_size && s.count == 0 && is_in_starters(module, s.base))
    return starters(module);
  const bool relative = s.stride == 4; // entries are 4 bytes wide and count from the table's beginning
  if (s.stride == 0 || (!relative && s.stride % 8 != 0)) {
    all.open = fmt::format("the table at {:#x} has entries of an unknown form", s.base);
    return all;
  }
  const address first = s.base + static_cast<address>(s.offset);
  const std::uint64_t count = s.count != 0 ? s.count : (bytes_left(module, first) + s.stride - 1) / s.stride;
  constexpr std::uint64_t most_entries = 65536;
  if (count == 0 || count > most_entries) {
    all.open = fmt::format("where the table at {:#x} ends is not known", s.base);
    return all;
  }
  std::vector<std::uint32_t> nodes;
  for (std::uint64_t i = 0; i < count && all.open.empty(); ++i) {
    const callees entry = relative ? relative_entry(module, s.base, first + i * s.stride)
                                   : word_entry(module, first + i * s.stride);
    nodes.insert(nodes.end(), entry.nodes.begin(), entry.nodes.end());
    all.open = entry.open;
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  all.nodes = std::move(nodes);
  return all;
}

// Code that runs through such an array backwards begins one word before it: in another array, or where no object is.
bool pointer_tables::is_in_starters(std::uint32_t module, address a) {
  const std::vector<section> &all = targets_.whole().modules[module].image.sections;
  const auto is_within = [&](address x) {
    return std::any_of(all.begin(), all.end(), [&](const section &s) {
      return holds_starters(s) && x >= s.begin && x - s.begin < s.size;
    });
  };
  return is_within(a) || (is_within(a + word_size) && bytes_left(module, a) == 0);
}

// Of which array is not told by an address between two: of all.
callees pointer_tables::starters(std::uint32_t module) const {
  callees all;
  for (const section &s : targets_.whole().modules[module].image.sections)
    for (std::uint64_t at = 0; holds_starters(s) && at + word_size <= s.size; at += word_size)
      add_callees(all, word_entry(module, s.begin + at));
  return all;
}

callees pointer_tables::word_entry(std::uint32_t module, address place) const {
  if (targets_.whole().modules[module].image.is_constant(place))
    return targets_.through(module, place);
  callees c;
  c.open = fmt::format("the table's word at {:#x} can be written", place);
  return c;
}

callees pointer_tables::relative_entry(std::uint32_t module, address base, address place) const {
  const class module &m = targets_.whole().modules[module].image;
  const std::span<const std::uint8_t> bytes = m.bytes_at(place);
  std::int32_t distance = 0;
  if (!m.is_constant(place) || bytes.size() < sizeof distance) {
    callees c;
    c.open = fmt::format("the table's word at {:#x} is not constant", place);
    return c;
  }
  std::memcpy(&distance, bytes.data(), sizeof distance);
  return targets_.at(module, base + static_cast<address>(static_cast<std::int64_t>(distance)));
}

} // namespace nth::stack
