#include "graph/targets_taken.hpp"

#include <algorithm>
#include <elf.h>
#include <filesystem>

namespace nth::stack {

namespace {

class taken_search {
public:
  explicit taken_search(code_targets &t) : targets(t), whole(t.whole()) {}

  taken_functions run() {
    for (std::uint32_t m = 0; m < whole.modules.size(); ++m) {
      taker = taker_of_data(m, nullptr);
      find_start(m);
      from_code(m);
      from_relocations(m);
      if (!whole.modules[m].image.position_independent)
        from_words(m);
    }
    taken_functions found;
    found.all.reserve(marks.size());
    for (std::uint32_t n = 0; n < marks.size(); ++n) {
      if (marks[n] == 0 || entered_by_plt(targets.nodes[n]))
        continue;
      found.all.push_back(n);
      if ((marks[n] & by_others) != 0 && !is_entry(n))
        found.but_start.push_back(n);
      const bool is_main = (marks[n] & ~unsigned{by_program}) == by_entry;
      if (!is_entry(n))
        found.but_entry.push_back(n);
      if (!is_entry(n) && !is_main)
        found.but_entry_and_main.push_back(n);
      if (!is_main || !main_is_handed_on)
        found.but_main.push_back(n);
      if ((marks[n] & by_program) != 0 && (marks[n] & by_others) != 0 && !is_entry(n))
        found.by_program.push_back(n);
    }
    find_binders(found);
    return found;
  }

private:
  enum class whose : std::uint8_t { others, users, data_of_program };
  enum mark : std::uint8_t { by_start = 1, by_others = 2, by_entry = 4, by_program = 8 };

  // The unwind table says that at the entry two words lie above the return address.
  [[nodiscard]] bool entered_by_plt(code_targets::function_place place) const {
    const analysed_module &m = whole.modules[place.module];
    const address entry = m.table.functions[place.function].entry;
    const unwind_entry *e = m.unwind.entry_of(entry);
    if (e == nullptr)
      return false;
    const cfa_row row = m.unwind.first_row(*e);
    constexpr std::int64_t pushed_by_plt = 24;
    return e->begin == entry && row.base == cfa_base::rsp && row.offset == pushed_by_plt;
  }

  // They end with a jump to the function that they found. A fragment may have such a frame, too, but no such jump.
  void find_binders(taken_functions &found) {
    const std::uint32_t interpreter = interpreter_of(whole);
    if (interpreter == no_node)
      return;
    const analysed_module &m = whole.modules[interpreter];
    for (std::uint32_t f = 0; f < m.facts.size(); ++f)
      if (entered_by_plt({interpreter, f}) &&
          std::any_of(m.facts[f].calls.begin(), m.facts[f].calls.end(),
                      [](const call_site &s) { return s.kind == call_kind::indirect_tail; }))
        found.binders.push_back(targets.node_of(interpreter, f));
    std::sort(found.binders.begin(), found.binders.end());
  }

  // Static programs take the entry's address for that of the first code; nobody calls what has no caller.
  [[nodiscard]] bool is_entry(std::uint32_t n) const {
    const analysed_module &m = whole.modules[targets.nodes[n].module];
    return !m.image.shared && m.table.functions[targets.nodes[n].function].entry == m.image.entry;
  }

  void take(const callees &c, mark how) {
    for (const std::uint32_t n : c.nodes) {
      if (marks.size() <= n)
        marks.resize(std::max<std::size_t>(n + 1, targets.nodes.size()), 0);
      const bool own = taker == whose::users || (taker == whose::data_of_program && !is_inner(n));
      marks[n] = static_cast<std::uint8_t>(marks[n] | how | (own ? unsigned{by_program} : 0U));
    }
  }

  // nth's own, or a part of a function, which is no more than a label.
  [[nodiscard]] bool is_inner(std::uint32_t n) const {
    const analysed_module &m = whole.modules[targets.nodes[n].module];
    const function &f = m.table.functions[targets.nodes[n].function];
    return f.kind == function_kind::fragment || is_code_of_nth(m.image, f.entry);
  }

  // Data of the program may be nth's; of its code it is known. What the loader alone reads is nobody's.
  [[nodiscard]] whose taker_of_data(std::uint32_t m, const section *within) const {
    const bool loader = within != nullptr && (within->name == ".got" || within->name == ".got.plt" ||
                                              within->name == ".fini_array" || within->name == ".dtors");
    return m == 0 && !loader ? whose::data_of_program : whose::others;
  }

  // The address itself; of an ifunc its implementations, for these are what the address becomes.
  void take_address(std::uint32_t m, address a, mark how) {
    const analysed_module &module = whole.modules[m];
    if (!module.image.is_code(a))
      return;
    // An address inside a function is a label, not what a pointer to a function holds.
    if (module.table.at(a) != no_function || module.image.plt_at(a) != nullptr)
      take(targets.at(m, a), how);
  }

  void take_resolver(std::uint32_t m, address a) {
    const std::uint32_t f = whole.modules[m].table.at(a);
    if (f != no_function)
      take({{targets.node_of(m, f)}, "", false}, by_start);
  }

  // Tables of the linker (symbols, relocations, hashes, notes) hold addresses that the program does not call.
  static bool holds_data(std::uint32_t type) {
    return type == SHT_PROGBITS || type == SHT_INIT_ARRAY || type == SHT_FINI_ARRAY ||
           type == SHT_PREINIT_ARRAY;
  }

  // Tables of unwinding name all functions that they are about.
  static bool describes_code(const section &s) {
    return s.name.starts_with(".eh_frame") || s.name.starts_with(".gcc_except");
  }

  static bool calls_constructors(const section &s) {
    return s.name == ".init_array" || s.name == ".preinit_array" || s.name == ".ctors";
  }

  void find_start(std::uint32_t m) {
    const module &image = whole.modules[m].image;
    entry_function = no_function;
    if (image.entry != 0 && !image.shared) {
      entry_function = whole.modules[m].table.at(image.entry);
      take_address(m, image.entry, by_start);
    }
    for (const section &s : image.sections) {
      if (s.name == ".init")
        take_address(m, s.begin, by_start);
      else if (s.name == ".fini")
        take_address(m, s.begin, by_others);
    }
    for (const symbol &s : image.symbols)
      if (s.kind == symbol_kind::ifunc && s.defined)
        take_resolver(m, s.at);
      // An undefined one with an address has a stub, and the stub's address is the function's everywhere.
      else if (s.dynamic && !s.defined && s.at != 0)
        take(targets.of_symbol(m, s, 0), by_others);
  }

  [[nodiscard]] bool calls_starter(std::uint32_t m, std::uint32_t f) const {
    const std::vector<call_site> &calls = whole.modules[m].facts[f].calls;
    return calls.size() == 1 && callees_named(m, calls.front(), "__libc_start_main");
  }

  [[nodiscard]] bool callees_named(std::uint32_t m, const call_site &s, std::string_view name) const {
    callees to;
    if (s.target != 0)
      to = targets.at(m, s.target);
    else if (s.source.origin == pointer_origin::slot)
      to = targets.through(m, s.source.base);
    const auto has_name = [&](std::uint32_t n) {
      const function &f = whole.modules[targets.nodes[n].module].table.functions[targets.nodes[n].function];
      return f.symbol == name || std::find(f.aliases.begin(), f.aliases.end(), name) != f.aliases.end();
    };
    return !to.nodes.empty() && std::all_of(to.nodes.begin(), to.nodes.end(), has_name);
  }

  void from_code(std::uint32_t m) {
    const analysed_module &module = whole.modules[m];
    for (std::uint32_t f = 0; f < module.facts.size(); ++f) {
      // The entry gives __libc_start_main the address of main; of old ones those of functions that call
      // constructors and destructors, too.
      const bool one_of_entry = f == entry_function && module.facts[f].taken.size() == 1;
      const mark how = one_of_entry ? by_entry : by_others;
      main_is_handed_on = main_is_handed_on || (one_of_entry && calls_starter(m, f));
      taker = m == 0 && !is_code_of_nth(module.image, module.table.functions[f].entry) ? whose::users
                                                                                       : whose::others;
      for (const address a : module.facts[f].taken)
        if (module.image.is_code(a))
          take_address(m, a, how);
        else
          take(code_in_word(targets, m, a), how);
    }
  }

  void from_relocations(std::uint32_t m) {
    const module &image = whole.modules[m].image;
    const section *within = nullptr;
    for (const relocation &r : image.relocations) {
      if (within == nullptr || r.place < within->begin || r.place - within->begin >= within->size)
        within = image.section_of(r.place);
      if (!r.dynamic &&
          (within == nullptr || !within->allocated || within->executable || describes_code(*within)))
        continue; // what code says is known from the code itself
      const mark how = within != nullptr && calls_constructors(*within) ? by_start : by_others;
      taker = taker_of_data(m, within);
      from_relocation(m, r, how);
    }
  }

  void from_relocation(std::uint32_t m, const relocation &r, mark how) {
    const module &image = whole.modules[m].image;
    switch (r.kind) {
    case relocation_kind::absolute:
      if (r.jump_slot || r.symbol >= image.symbols.size())
        return;
      take(targets.of_symbol(m, image.symbols[r.symbol], r.addend), how);
      return;
    case relocation_kind::relative:
      take_address(m, static_cast<address>(r.addend), how);
      return;
    case relocation_kind::irelative:
      // Code may have the address of the stub that jumps through the slot, and mean the function by it.
      take_resolver(m, static_cast<address>(r.addend));
      take(targets.implementations(m, static_cast<address>(r.addend)), how);
      return;
    case relocation_kind::pc_relative:
      from_relative_table(m, r, how);
      return;
    default:
      return;
    }
  }

  // `.long f - table` keeps f as a symbol, or as a section with the addend f + (place - table). The table's
  // beginning is not said: every function that some beginning in the same object makes it is taken.
  void from_relative_table(std::uint32_t m, const relocation &r, mark how) {
    const analysed_module &module = whole.modules[m];
    if (r.symbol >= module.image.symbols.size())
      return;
    const symbol &s = module.image.symbols[r.symbol];
    if (s.kind != symbol_kind::section) {
      take(targets.of_symbol(m, s, 0), how);
      return;
    }
    // Most of these are not meant: tables of jumps, at any distance from their beginning. What code reads from such a
    // table is known from the code.
    taker = whose::others;
    const address last = s.at + static_cast<address>(r.addend);
    constexpr address most_before = 4096;
    const section *within = module.image.section_of(r.place);
    const address before = within == nullptr ? 0 : std::min(r.place - within->begin, most_before);
    for (address back = 0; back <= before; back += 4)
      take_address(m, last - back, how);
  }

  // A program with fixed addresses has no relocations for pointers to itself: each word of 8 bytes, or of 4 for a
  // function that lies low enough, that is the beginning of one counts as a pointer to it.
  void from_words(std::uint32_t m) {
    const module &image = whole.modules[m].image;
    if (image.sections.empty()) // where its data lies is not said: any function may be meant
      for (std::uint32_t f = 0; f < whole.modules[m].table.functions.size(); ++f)
        take({{targets.node_of(m, f)}, "", false}, by_others);
    for (const section &s : image.sections) {
      if (!s.allocated || s.executable || !holds_data(s.type) || describes_code(s))
        continue;
      const mark how = calls_constructors(s) ? by_start : by_others;
      taker = taker_of_data(m, &s);
      const std::span<const std::uint8_t> bytes = image.bytes_at(s.begin);
      const std::uint64_t size = std::min<std::uint64_t>(s.size, bytes.size());
      // At any byte: a packed structure may hold it.
      std::uint64_t word = 0;
      for (std::uint64_t at = 0; at != size; ++at) {
        word = word >> 8 | std::uint64_t{bytes[at]} << 56;
        if (at >= 3)
          take_address(m, word >> 32, how);
        if (at >= 7 && word >> 32 != 0 && word >> 47 == 0)
          take_address(m, word, how);
      }
    }
  }

  code_targets &targets;
  const program &whole;
  std::vector<std::uint8_t> marks; // of nodes
  std::uint32_t entry_function = no_function;
  bool main_is_handed_on = false;
  whose taker = whose::others; // of what is being looked at
};

} // namespace

std::uint32_t interpreter_of(const program &p) {
  if (p.modules.empty())
    return no_node;
  std::string wanted;
  for (const analysed_module &m : p.modules)
    if (wanted.empty() && !m.image.interpreter.empty())
      wanted = std::filesystem::path(m.image.interpreter).filename();
  for (std::uint32_t m = 0; m < p.modules.size(); ++m) {
    const module &image = p.modules[m].image;
    if (image.name.starts_with("ld-linux") || image.name.starts_with("ld-musl") ||
        (!wanted.empty() && (image.name == wanted || std::filesystem::path(image.path).filename() == wanted)))
      return m;
  }
  return no_node;
}

bool is_code_of_nth(const module &m, address a) {
  const section *in = m.section_of(a);
  return in != nullptr && (in->name == "nth_code" || in->name == ".nth_stubs");
}

taken_functions find_taken(code_targets &targets) { return taken_search(targets).run(); }

callees code_in_word(code_targets &targets, std::uint32_t module, address place) {
  const analysed_module &m = targets.whole().modules[module];
  bool relocated = false;
  for (const relocation &r : m.image.relocations_in(place, place + 1)) {
    if (!r.dynamic)
      continue;
    relocated = true;
    if (r.kind == relocation_kind::relative)
      return m.table.at(static_cast<address>(r.addend)) == no_function
                 ? callees{}
                 : targets.at(module, static_cast<address>(r.addend));
    if (r.kind == relocation_kind::copy || r.kind == relocation_kind::other)
      return {};
  }
  if (relocated)
    return targets.through(module, place);
  const std::optional<std::uint64_t> word =
      m.image.position_independent ? std::nullopt : m.image.read_word(place);
  if (!word || (m.table.at(*word) == no_function && m.image.plt_at(*word) == nullptr))
    return {};
  return targets.at(module, *word);
}

} // namespace nth::stack
