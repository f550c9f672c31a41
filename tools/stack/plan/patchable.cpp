#include "patch/call_sites.hpp"
#include "patch/references.hpp"
#include "plan/make_plan.hpp"
#include "plan/special_calls.hpp"

#include <fmt/format.h>

namespace nth::stack {

namespace {

class patchable_finder {
public:
  patchable_finder(const patched_program &program, const call_graph &g) : program_(program), g_(g) {}

  patchable_places run() {
    places_.calls.assign(g_.edges.size(), false);
    places_.entries.assign(g_.nodes.size(), false);
    places_.always.assign(g_.edges.size(), false);
    for (std::size_t e = 0; e < g_.edges.size(); ++e)
      look_at_call(e);
    look_at_entries();
    return std::move(places_);
  }

private:
  void look_at_call(std::size_t index) {
    const call_edge &e = g_.edges[index];
    const call_site *s = program_.call_of(e);
    if (s == nullptr || (never(e.callee) && !special_call_of(g_.nodes[e.callee]).always()))
      return;
    const special_call special = special_call_of(g_.nodes[e.callee]);
    const bool needs_settling = special.always();
    loads_ = loads_ || special.in_place == "nth_call_dlsym";
    const call_place place = call_place_at(program_.image(), e.at);
    const bool by_slot = place.form == call_form::call_by_slot || place.form == call_form::jump_by_slot;
    // A pointer in memory may change; a word of the GOT does not.
    const bool fixed = by_slot ? s->source.origin == pointer_origin::slot && in_got(place.target)
                               : place.form == call_form::direct && s->target != 0;
    places_.calls[index] = fixed;
    places_.always[index] = needs_settling && fixed;
    if (needs_settling && !fixed && e.kind != edge_kind::indirect && e.kind != edge_kind::indirect_tail)
      throw bad_input(fmt::format("{}: the call of {} at {:#x} must go through a stub, which can't be: {}",
                                  program_.image().name, g_.nodes[e.callee].name, e.at, place.why));
  }

  [[nodiscard]] bool in_got(address slot) const {
    const section *in = program_.image().section_of(slot);
    return in != nullptr && (in->name == ".got" || in->name == ".got.plt");
  }

  // Functions that look at their return address, or take it off, would find __morestack's. Those of
  // libraries ask it which object they are called from, and that is the program all the same.
  [[nodiscard]] bool never(std::uint32_t node) const {
    const function_facts *facts = program_.facts_of(node);
    return special_call_of(g_.nodes[node]).never || g_.nodes[node].reason == no_bound::pops_arguments ||
           (facts != nullptr &&
            (facts->pops > 0 || (facts->reads_return_address && program_.is_patched(node))));
  }
  // dlsym finds what is exported.
  [[nodiscard]] bool may_have_pointers(std::uint32_t n) const {
    const std::uint32_t f = program_.function_of(n);
    return g_.nodes[n].address_taken ||
           (loads_ && f != no_function && program_.executable().table.functions[f].exported);
  }

  void look_at_entries() {
    std::vector<std::uint32_t> nodes;
    std::vector<address> entries;
    for (std::uint32_t n = 0; n < g_.nodes.size(); ++n) {
      if (!may_have_pointers(n) || !program_.is_patched(n) || never(n) ||
          special_call_of(g_.nodes[n]).always())
        continue;
      const function &f = program_.executable().table.functions[program_.function_of(n)];
      if (f.kind != function_kind::normal)
        continue;
      nodes.push_back(n);
      entries.push_back(f.entry);
    }
    const std::vector<function_references> found =
        find_references(program_.image(), program_.executable().table, entries);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      places_.entries[nodes[i]] = found[i].obstacle.empty();
  }

  const patched_program &program_;
  const call_graph &g_;
  patchable_places places_;
  bool loads_ = false; // code may look up functions by name
};

} // namespace

patchable_places find_patchable(const patched_program &program, const call_graph &g) {
  return patchable_finder(program, g).run();
}

} // namespace nth::stack
