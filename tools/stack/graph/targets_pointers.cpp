#include "graph/targets_pointers.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace nth::stack {

namespace {

constexpr std::array<std::pair<belief, std::string_view>, 10> sentences = {{
    {nothing_loaded, "no code is loaded and no function looked up by name while the program runs (dlopen, "
                     "dlsym, name services, iconv)"},
    {start_is_once,
     "the entry is called by nobody; main, constructors and resolvers of ifuncs by start-up code "
     "alone"},
    {virtual_calls,
     "a call through the first word of an object is a virtual one: it reaches what the vtables of "
     "these modules hold at its offset"},
    {stream_tables, "streams of stdio have libc's own tables of functions"},
    {bound_at_start, "calls are bound when the program starts: link with -z now, or set LD_BIND_NOW=1"},
    {not_in_missing, "libraries that were not found define nothing that another module defines"},
    {unchanged_slots, "start-up code leaves pointers that lie in memory protected after relocation as the "
                      "linker set them"},
    {program_survives, "the program does not die here: abort, failed assertions and checks of heap and stack "
                       "are not reached"},
    {called_by_type, "functions are called through pointers by the C calling convention, with all arguments "
                     "that they take"},
    {own_pointers,
     "the program calls through pointers functions whose address it has itself, not such as libraries hand "
     "it"},
}};

// _start calls __libc_start_main, that calls what calls main and the constructors.
constexpr unsigned starter_depth = 3;

} // namespace

std::string words_of(std::uint32_t beliefs) {
  std::string all;
  for (const std::pair<belief, std::string_view> &s : sentences)
    if ((beliefs & s.first) != 0)
      all.append(all.empty() ? "" : "; ").append(s.second);
  return all;
}

pointer_targets::pointer_targets(code_targets &targets, const build_options &options)
    : targets_(targets), options_(options), taken_(find_taken(targets)), tables_(targets),
      signatures_(targets), interpreter_(interpreter_of(targets.whole())),
      closed_(!targets.whole().modules.empty() && !targets.whole().modules.front().image.shared &&
              targets.whole().missing.empty()) {
  find_starters();
  const std::vector<analysed_module> &modules = targets.whole().modules;
  if (modules.size() == 1 && !modules.front().image.stripped) {
    const function_table &t = modules.front().table;
    loads_ = t.named("_dl_open") != no_function || t.named("dlopen") != no_function ||
             t.named("_dl_map_object") != no_function;
  }
}

// The entry of the program and what it calls directly, a few calls deep; the dynamic linker as a whole.
void pointer_targets::find_starters() {
  const program &p = targets_.whole();
  for (std::uint32_t m = 0; m < p.modules.size(); ++m)
    if (!p.modules[m].image.shared && p.modules[m].image.entry != 0) {
      const callees entry = targets_.at(m, p.modules[m].image.entry);
      starters_.insert(starters_.end(), entry.nodes.begin(), entry.nodes.end());
    }
  std::size_t from = 0;
  for (unsigned depth = 0; depth < starter_depth; ++depth) {
    const std::size_t to = starters_.size();
    for (; from < to; ++from) {
      const code_targets::function_place place = targets_.nodes[starters_[from]];
      for (const call_site &s : p.modules[place.module].facts[place.function].calls) {
        callees next;
        if (s.target != 0)
          next = targets_.at(place.module, s.target);
        else if (s.source.origin == pointer_origin::slot)
          next = targets_.through(place.module, s.source.base);
        for (const std::uint32_t n : next.nodes)
          if (std::find(starters_.begin(), starters_.end(), n) == starters_.end())
            starters_.push_back(n);
      }
    }
  }
  std::sort(starters_.begin(), starters_.end());
  ends_in_main_ = std::any_of(starters_.begin(), starters_.end(), [&](std::uint32_t n) {
    const function_facts &f = p.modules[targets_.nodes[n].module].facts[targets_.nodes[n].function];
    return !f.returns && std::any_of(f.calls.begin(), f.calls.end(), [](const call_site &s) {
      return s.kind == call_kind::indirect && s.source.origin == pointer_origin::unknown;
    });
  });
}

bool pointer_targets::starts(std::uint32_t node) const {
  return targets_.nodes[node].module == interpreter_ ||
         std::binary_search(starters_.begin(), starters_.end(), node);
}

bool pointer_targets::set_at_start(std::uint32_t module, address place) const {
  const class module &m = targets_.whole().modules[module].image;
  const section *in = m.section_of(place);
  return (in == nullptr || in->writable) &&
         (module == interpreter_ || (interpreter_ == no_node && !m.shared));
}

pointer_callees pointer_targets::any(std::uint32_t module, std::uint32_t function) const {
  pointer_callees c;
  if (!closed_) {
    c.to.open = targets_.whole().missing.empty()
                    ? "a pointer of unknown origin: any function of the program that loads this library"
                    : "a pointer of unknown origin: any function, also of libraries that were not found";
    return c;
  }
  if (loads_)
    c.beliefs |= nothing_loaded;
  const bool start = starts(targets_.node_of(module, function));
  const bool believed = options_.believe_start && (!start || module != interpreter_);
  if (believed)
    c.beliefs |= start_is_once;
  if (!start && module == 0 && options_.believe_own_pointers) {
    c.beliefs |= own_pointers;
    c.set = &taken_.by_program;
  } else if (!start)
    c.set = believed ? &taken_.but_start : &taken_.but_main;
  else if (!believed)
    c.set = &taken_.all;
  else // Who calls main calls exit() then.
    c.set = ends_in_main_ && targets_.whole().modules[module].facts[function].returns
                ? &taken_.but_entry_and_main
                : &taken_.but_entry;
  return c;
}

pointer_callees pointer_targets::from_slot(std::uint32_t module, std::uint32_t function, address slot) {
  const class module &m = targets_.whole().modules[module].image;
  const section *in = m.section_of(slot);
  const bool got =
      in != nullptr && (in->name == ".got" || in->name == ".got.plt"); // the loader alone writes there
  if (!got && !m.is_constant(slot))
    return any(module, function);
  for (const relocation &r : m.relocations_in(slot, slot + 1))
    if (r.dynamic && r.kind == relocation_kind::other)
      return any(module,
                 function); // a descriptor of thread-local storage: code of the dynamic linker, taken there
  pointer_callees c;
  c.fixed = got;
  if (!got && set_at_start(module, slot)) {
    c.to = code_in_word(targets_, module, slot);
    if (!options_.believe_tables || c.to.nodes.empty())
      return any(module, function);
    c.beliefs |= unchanged_slots;
  } else {
    c.to = targets_.through(module, slot);
  }
  return c;
}

pointer_callees pointer_targets::from_table(std::uint32_t module, std::uint32_t function,
                                            const pointer_source &s) {
  pointer_callees c;
  c.to = tables_.entries(module, s);
  if (!c.to.open.empty() || c.to.nodes.empty())
    return any(module, function);
  if (set_at_start(module, s.base)) {
    if (!options_.believe_tables)
      return any(module, function);
    c.beliefs |= unchanged_slots;
  }
  return c;
}

pointer_callees pointer_targets::of(std::uint32_t module, std::uint32_t function, const call_site &s) {
  pointer_callees c = find(module, function, s);
  // What the tables of streams hold at one offset has one type.
  if (c.set == nullptr || !options_.believe_signatures || (c.beliefs & stream_tables) != 0)
    return c;
  const std::vector<std::uint32_t> *fitting = signatures_.fitting(*c.set, module, function, s);
  if (fitting->size() == c.set->size())
    return c;
  c.set = fitting;
  c.beliefs |= called_by_type;
  return c;
}

pointer_callees pointer_targets::find(std::uint32_t module, std::uint32_t function, const call_site &s) {
  pointer_callees c;
  switch (s.source.origin) {
  case pointer_origin::slot:
    return from_slot(module, function, s.source.base);
  case pointer_origin::own:
    c.to = targets_.at(module, s.source.base);
    return c;
  case pointer_origin::table:
    return from_table(module, function, s.source);
  case pointer_origin::field:
    if (closed_ && options_.believe_tables && tables_.has_classes(module))
      c.set = &tables_.virtual_functions(s.source.offset);
    c.beliefs = virtual_calls | (loads_ ? nothing_loaded : 0U);
    break;
  case pointer_origin::member:
    if (options_.believe_tables)
      c.set = &tables_.stream_functions(module, targets_.whole().modules[module].table.functions[function],
                                        s.source.offset);
    c.beliefs = stream_tables;
    break;
  case pointer_origin::unknown:
    break;
  }
  return c.set == nullptr || c.set->empty() ? any(module, function) : c;
}

} // namespace nth::stack
