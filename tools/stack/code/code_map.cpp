#include "code/code_map.hpp"

#include "code/noreturn.hpp"

#include <algorithm>
#include <cstring>

namespace nth::stack {
namespace {

constexpr std::uint32_t section_with_bytes = 1; // SHT_PROGBITS

std::optional<address> value_of(const module &m, const relocation &r) noexcept {
  if (r.kind == relocation_kind::relative)
    return static_cast<address>(r.addend);
  if (r.kind != relocation_kind::absolute)
    return std::nullopt;
  if (r.symbol == no_symbol)
    return static_cast<address>(r.addend);
  const symbol &s = m.symbols[r.symbol];
  if (!s.defined || s.kind == symbol_kind::ifunc)
    return std::nullopt;
  return s.at + static_cast<address>(r.addend);
}

} // namespace

code_map::code_map(const module &m, const unwind_table &u, const function_table &f,
                   const scan_options &options)
    : image(m), unwind(u), table(f) {
  name_functions(0);
  collect_imports(options);
  renew_stubs();
  collect_labels();
  collect_objects();
}

// Not a variable of the program that only begins as a pointer to the function.
bool code_map::keeps_its_value(const relocation &r) const {
  const section *in = image.section_of(r.place);
  return r.jump_slot || image.is_constant(r.place) ||
         (in != nullptr && (in->name == ".got" || in->name == ".got.plt"));
}

callee_traits code_map::traits_of_import(const symbol &s, const scan_options &options) {
  callee_traits t;
  t.returns_twice = returns_twice(s.name);
  const std::optional<bool> known =
      options.import_never_returns ? options.import_never_returns(s) : std::nullopt;
  t.never_returns = known ? *known : never_returns(s.name);
  return t;
}

// Slots of imported functions, and of the module's own in whose place another module's is called.
void code_map::collect_imports(const scan_options &options) {
  for (const relocation &r : image.relocations) {
    if (!r.dynamic || r.symbol == no_symbol || !keeps_its_value(r))
      continue;
    const symbol &s = image.symbols[r.symbol];
    if (!s.defined) {
      slots_.emplace(r.place, traits_of_import(s, options));
    } else if (s.global && options.import_never_returns) {
      // Which of the two it is may have been settled when the module was linked: both must never return.
      const std::optional<bool> other = options.import_never_returns(s);
      if (other && !*other)
        slots_.emplace(r.place, traits_of_import(s, options));
    }
  }
}

void code_map::renew_stubs() {
  stubs_.resize(image.plt.size());
  for (std::size_t i = 0; i < stubs_.size(); ++i)
    stubs_[i] = callee_through(image.plt[i].slot);
}

void code_map::name_functions(std::size_t first) {
  functions_.resize(table.functions.size());
  for (std::size_t i = first; i < functions_.size(); ++i) {
    const function &f = table.functions[i];
    const auto add = [&](std::string_view name) {
      callee_traits &t = functions_[i];
      t.never_returns = t.never_returns || leaves_by_jump(name);
      t.returns_twice = t.returns_twice || returns_twice(name);
      t.keeps_registers = t.keeps_registers || probes_stack(name);
    };
    add(f.symbol);
    for (const std::string &alias : f.aliases)
      add(alias);
  }
}

void code_map::grow() { name_functions(functions_.size()); }

void code_map::collect_labels() {
  const auto add = [&](address a) {
    if (image.is_code(a) && table.at(a) == no_function)
      labels_.push_back(a);
  };
  for (const relocation &r : image.relocations)
    if (const auto v = value_of(image, r))
      add(*v);
  if (!image.position_independent)
    for (const section &s : image.sections) {
      if (!s.allocated || s.executable || s.type != section_with_bytes)
        continue;
      const std::span<const std::uint8_t> bytes = image.bytes_at(s.begin);
      const std::size_t size = std::min<std::size_t>(bytes.size(), s.size);
      for (std::size_t at = (8 - s.begin % 8) % 8; at + 8 <= size; at += 8) {
        address a = 0;
        std::memcpy(&a, &bytes[at], 8);
        add(a);
      }
    }
  std::sort(labels_.begin(), labels_.end());
  labels_.erase(std::unique(labels_.begin(), labels_.end()), labels_.end());
}

void code_map::collect_objects() {
  for (const symbol &s : image.symbols) {
    if (s.defined && s.kind == symbol_kind::object)
      objects_.push_back(s.at);
    if (s.name == "_GLOBAL_OFFSET_TABLE_" && s.defined)
      global_offsets = s.at;
  }
  std::sort(objects_.begin(), objects_.end());
  if (global_offsets != 0)
    return;
  for (const std::string_view name : {".got.plt", ".got"})
    for (const section &s : image.sections)
      if (s.name == name && global_offsets == 0)
        global_offsets = s.begin;
}

address code_map::next_object(address a) const noexcept {
  const auto next = std::upper_bound(objects_.begin(), objects_.end(), a);
  return next == objects_.end() ? ~address{0} : *next;
}

std::span<const address> code_map::labels(address begin, address end) const noexcept {
  const auto first = std::lower_bound(labels_.begin(), labels_.end(), begin);
  const auto last = std::lower_bound(first, labels_.end(), end);
  return {first, last};
}

std::optional<address> code_map::pointer_at(address a) const noexcept {
  const std::span<const relocation> there = image.relocations_in(a, a + 1);
  for (auto r = there.rbegin(); r != there.rend(); ++r)
    if (r->kind != relocation_kind::other)
      return value_of(image, *r);
  return image.read_word(a);
}

std::optional<address> code_map::pointer_in_data(address a) const noexcept {
  if (image.position_independent && image.relocations_in(a, a + 1).empty())
    return std::nullopt;
  return pointer_at(a);
}

callee_traits code_map::callee(address target) const noexcept {
  if (const std::uint32_t f = table.at(target); f < functions_.size())
    return functions_[f];
  if (const plt_stub *p = image.plt_at(target))
    return stubs_[static_cast<std::size_t>(p - image.plt.data())];
  return {};
}

callee_traits code_map::callee_through(address slot) const noexcept {
  const auto found = slots_.find(slot);
  if (found != slots_.end())
    return found->second;
  // A slot for a function of this module that nothing else can take the place of.
  const std::span<const relocation> there = image.relocations_in(slot, slot + 1);
  for (const relocation &r : there)
    if (r.dynamic && r.symbol != no_symbol && image.symbols[r.symbol].defined && keeps_its_value(r))
      return callee(image.symbols[r.symbol].at);
  return {};
}

bool code_map::set_never_returns(std::uint32_t function) {
  if (functions_[function].never_returns)
    return false;
  functions_[function].never_returns = true;
  renew_stubs();
  return true;
}

bool code_map::set_returns(std::uint32_t function) {
  if (!functions_[function].never_returns)
    return false;
  functions_[function].never_returns = false;
  renew_stubs();
  return true;
}

bool code_map::set_pops(std::uint32_t function, std::int64_t bytes) {
  if (functions_[function].pops == bytes)
    return false;
  functions_[function].pops = bytes;
  renew_stubs();
  return true;
}

bool code_map::in_data(address a) const noexcept {
  const auto holds = [&](const relocation &r) {
    const section *in = image.section_of(r.place);
    return (in == nullptr || !in->executable) && value_of(image, r) == a;
  };
  if (std::any_of(image.relocations.begin(), image.relocations.end(), holds))
    return true;
  if (image.position_independent)
    return false;
  const auto word = static_cast<std::uint32_t>(a);
  return std::any_of(image.sections.begin(), image.sections.end(), [&](const section &s) {
    if (!s.allocated || s.executable || s.type != section_with_bytes)
      return false;
    const std::span<const std::uint8_t> bytes = image.bytes_at(s.begin);
    const std::size_t size = std::min<std::size_t>(bytes.size(), s.size);
    for (std::size_t at = 0; at + sizeof word <= size; ++at)
      if (std::memcmp(&bytes[at], &word, sizeof word) == 0)
        return true;
    return false;
  });
}

} // namespace nth::stack
