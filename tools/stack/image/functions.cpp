#include "image/functions.hpp"

#include "image/doubles.hpp"
#include "image/function_names.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace nth::stack {

namespace {

constexpr int most_labels = 64; // between a function's begin and what lies in it

bool is_function(const symbol &s) { return s.kind == symbol_kind::function || s.kind == symbol_kind::ifunc; }

// Stubs of the PLT have unwind entries, but are nobody's functions. The first one has no slot of its own: it calls
// the dynamic linker, and begins with push *GOT(%rip).
bool in_plt(const module &m, address a) {
  if (m.plt_at(a) != nullptr)
    return true;
  if (const section *s = m.section_of(a); s != nullptr)
    return s->name.starts_with(".plt") || s->name == ".iplt";
  const auto code = m.bytes_at(a);
  if (code.size() < 9 || code[0] != 0xff || code[1] != 0x35)
    return false;
  const auto jump = code.subspan(code[6] == 0xf2 ? 7 : 6);
  return jump[0] == 0xff && jump[1] == 0x25;
}

address code_end(const module &m, address a) {
  const section *s = m.section_of(a);
  return s != nullptr ? s->begin + s->size : a + m.bytes_at(a).size();
}

// Of several functions of one name: who is asked for without version, then who can be asked for at all.
int lookup_rank(const symbol &s) {
  if (!s.global)
    return 2;
  return s.hidden ? 1 : 0;
}

} // namespace

function_table::function_table(const module &m, const unwind_table &u) {
  collect_symbols(m);
  frames_.reserve(u.entries.size());
  for (const unwind_entry &e : u.entries)
    frames_.push_back({e.begin, e.end});

  std::vector<seed> all = seeds(m, u);
  functions.reserve(all.size());
  for (std::size_t i = 0; i != all.size(); ++i) {
    function f = make(all[i], m);
    if (!all[i].must_return && is_fragment(f, u))
      f.kind = function_kind::fragment;
    set_end(f, all[i].end, i + 1 != all.size() ? all[i + 1].entry : 0, m);
    by_entry_.emplace(f.entry, static_cast<std::uint32_t>(i));
    order_.push_back(static_cast<std::uint32_t>(i));
    functions.push_back(std::move(f));
  }
  index_names(m);
}

// gcc's foo.cold are always reached by jumps; foo.cold.1 is such a part of older gcc's, or a function that clang made
// of one, and nameless code may be anything: of these the unwind tables tell whether a frame is there already.
bool function_table::is_fragment(const function &f, const unwind_table &u) const {
  const cold_part cold = f.exported ? cold_part::no : is_cold_part(f.symbol);
  if (cold == cold_part::yes)
    return true;
  if (cold == cold_part::no && !symbols_at(f.entry).empty())
    return false;
  const unwind_entry *e = u.entry_of(f.entry);
  if (e == nullptr || e->begin != f.entry)
    return cold == cold_part::numbered;
  const cfa_row row = u.first_row(*e);
  return row.base != cfa_base::unknown && (row.base != cfa_base::rsp || row.offset != 8);
}

void function_table::collect_symbols(const module &m) {
  for (std::uint32_t i = 0; i != m.symbols.size(); ++i) {
    const symbol &s = m.symbols[i];
    if (s.defined && !s.name.empty() && (is_function(s) || s.kind == symbol_kind::none) && m.is_code(s.at))
      symbols_.push_back({s.at, i});
  }
  std::ranges::stable_sort(symbols_, {}, &symbol_place::at);
}

std::span<const function_table::symbol_place> function_table::symbols_at(address a) const noexcept {
  const auto begin = std::ranges::lower_bound(symbols_, a, {}, &symbol_place::at);
  const auto end = std::ranges::upper_bound(symbols_, a, {}, &symbol_place::at);
  return {begin, end};
}

// Of a function whose symbol tells its size: its code may have several unwind entries.
bool function_table::inside_symbol(address a, const module &m) const noexcept {
  auto before = std::ranges::lower_bound(symbols_, a, {}, &symbol_place::at);
  for (int looked_at = 0; before != symbols_.begin() && looked_at != most_labels; ++looked_at) {
    const symbol &s = m.symbols[(--before)->index];
    if (is_function(s))
      return s.size > a - s.at;
  }
  return false;
}

// Sorted by entry, one for each.
std::vector<function_table::seed> function_table::seeds(const module &m, const unwind_table &u) const {
  std::vector<seed> all;
  for (const symbol_place &p : symbols_) {
    const symbol &s = m.symbols[p.index];
    if (is_function(s) && !in_plt(m, s.at))
      all.push_back({s.at, s.at + std::min(s.size, code_end(m, s.at) - s.at), false});
  }
  for (const unwind_entry &e : u.entries)
    if (!e.signal_frame && !in_plt(m, e.begin) &&
        (!symbols_at(e.begin).empty() || !inside_symbol(e.begin, m)))
      all.push_back({e.begin, e.end, false});
  if (m.is_code(m.entry))
    all.push_back({m.entry, 0, true});
  for (const address a : m.run_by_loader)
    all.push_back({a, 0, true});

  std::ranges::stable_sort(all, {}, &seed::entry);
  std::vector<seed> merged;
  for (const seed &s : all) {
    if (merged.empty() || merged.back().entry != s.entry) {
      merged.push_back(s);
      continue;
    }
    merged.back().end = std::max(merged.back().end, s.end);
    merged.back().must_return |= s.must_return;
  }
  return merged;
}

function function_table::make(const seed &s, const module &m) const {
  function f;
  f.entry = s.entry;
  name_candidate best;
  const auto here = symbols_at(s.entry);
  const bool any_function =
      std::ranges::any_of(here, [&](const symbol_place &p) { return is_function(m.symbols[p.index]); });
  for (const symbol_place &p : here) {
    const symbol &named = m.symbols[p.index];
    if (any_function && !is_function(named))
      continue;
    if (named.kind == symbol_kind::ifunc)
      f.kind = function_kind::resolver;
    f.exported |= named.dynamic && named.global;
    f.aliases.emplace_back(named.name);
    const name_candidate candidate{named.name, named.global};
    if (best.symbol.empty() || better_name(candidate, best))
      best = candidate;
  }
  if (best.symbol.empty()) {
    f.name = fmt::format("{}+{:#x}", m.name, s.entry);
    return f;
  }
  f.symbol = best.symbol;
  f.name = demangle(best.symbol);
  std::ranges::sort(f.aliases);
  drop_doubles(f.aliases);
  std::erase(f.aliases, f.symbol);
  return f;
}

// Known from a symbol or from an unwind entry, its own or the one that it lies in; `next` is 0 at the last.
void function_table::set_end(function &f, address known_end, address next, const module &m) const {
  if (known_end <= f.entry) {
    auto after = std::ranges::upper_bound(frames_, f.entry, {}, &extent::begin);
    if (after != frames_.begin() && (--after)->end > f.entry)
      known_end = after->end;
  }
  f.has_size = known_end > f.entry;
  f.end = f.has_size ? known_end : code_end(m, f.entry);
  if (next != 0 && next < f.end) {
    f.end = next;
    f.cut_short = f.has_size;
  }
}

void function_table::index_names(const module &m) {
  for (int rank = 0; rank != 3; ++rank)
    for (const symbol_place &p : symbols_) {
      const symbol &s = m.symbols[p.index];
      if (lookup_rank(s) != rank)
        continue;
      if (const std::uint32_t f = at(s.at); f != no_function)
        by_name_.emplace(s.name, f);
    }
}

bool function_table::add(address entry, const module &m) {
  if (!m.is_code(entry) || by_entry_.contains(entry) || in_plt(m, entry))
    return false;
  const auto place =
      std::ranges::upper_bound(order_, entry, {}, [&](std::uint32_t i) { return functions[i].entry; });
  const address next = place != order_.end() ? functions[*place].entry : 0;
  function f = make({entry, 0, true}, m);
  address known_end = 0;
  if (place != order_.begin()) {
    function &before = functions[*(place - 1)];
    if (entry < before.end) { // it begins within another one, and ends where that did
      known_end = before.has_size ? before.end : 0;
      before.end = entry;
      before.cut_short = before.has_size;
    }
  }
  set_end(f, known_end, next, m);
  const auto index = static_cast<std::uint32_t>(functions.size());
  by_entry_.emplace(entry, index);
  order_.insert(place, index);
  for (const symbol_place &p : symbols_at(entry))
    by_name_.emplace(m.symbols[p.index].name, index);
  functions.push_back(std::move(f));
  return true;
}

std::uint32_t function_table::at(address entry) const noexcept {
  const auto found = by_entry_.find(entry);
  return found != by_entry_.end() ? found->second : no_function;
}

std::uint32_t function_table::containing(address a) const noexcept {
  auto after = std::ranges::upper_bound(order_, a, {}, [&](std::uint32_t i) { return functions[i].entry; });
  if (after == order_.begin())
    return no_function;
  const std::uint32_t index = *--after;
  return a < functions[index].end ? index : no_function;
}

std::uint32_t function_table::named(std::string_view symbol_name) const noexcept {
  const auto found = by_name_.find(symbol_name);
  return found != by_name_.end() ? found->second : no_function;
}

} // namespace nth::stack
