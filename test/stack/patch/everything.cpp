#include "everything.hpp"

#include "code/scan.hpp"
#include "nth/growth.h"
#include "patch/call_sites.hpp"
#include "patch/references.hpp"

#include <algorithm>
#include <map>

namespace nth::stack::test {

namespace {

constexpr std::uint32_t low = 1000, high = 5000;

class planner {
public:
  explicit planner(const module &m) : image_(m), unwind_(m), table_(m, unwind_) {
    facts_ = scan_module(m, unwind_, table_, {});
  }

  link_plan run() {
    add_entries();
    for (std::uint32_t f = 0; f < facts_.size(); ++f) {
      const function &from = table_.functions[f];
      if (image_.section_of(from.entry)->name == ".nth_stubs")
        continue;
      plan_.needs.push_back({from.entry, 64 + f, f % 5 == 0 ? NTH_NEED_UNBOUNDED + 0U : 0U,
                             f % 5 == 0 ? "as the test wants it " + std::to_string(f % 3) : ""});
      if (from.kind != function_kind::normal || !may_change(from.entry))
        continue;
      for (const call_site &c : facts_[f].calls)
        add_call(c);
    }
    plan_.thresholds = {low, high};
    return std::move(plan_);
  }

  std::vector<std::string> refused;

private:
  // What stubs themselves lead to must not lead to stubs.
  bool may_change(address entry) const {
    const std::uint32_t f = table_.at(entry);
    return f != no_function && !table_.functions[f].symbol.starts_with("nth_growth_") &&
           image_.section_of(entry)->name != ".nth_stubs";
  }

  std::uint32_t stub(planned_stub s) {
    s.need = plan_.stubs.size() % 2 == 0 ? low - 100 : high - 100;
    s.take = s.need + 64;
    s.arguments = 32;
    plan_.stubs.push_back(s);
    return static_cast<std::uint32_t>(plan_.stubs.size() - 1);
  }

  void add_entries() {
    std::vector<address> candidates;
    for (const function &f : table_.functions)
      if (f.kind == function_kind::normal && may_change(f.entry))
        candidates.push_back(f.entry);
    for (const function_references &each : find_references(image_, table_, candidates))
      if (each.obstacle.empty() && !each.places.empty())
        stub({each.function, 0, 0, 0, NTH_STUB_ENTRY, false, false});
      else if (!each.obstacle.empty())
        refused.push_back(table_.functions[table_.at(each.function)].name + ": " + each.obstacle);
  }

  void add_call(const call_site &c) {
    if (c.next != 0 && seen_.emplace(c.at, true).second && (c.kind == call_kind::indirect))
      plan_.sites.push_back({c.next, static_cast<std::uint32_t>(c.depth)});
    const call_place place = call_place_at(image_, c.at);
    if (place.form == call_form::fixed || !called_.emplace(c.at, true).second)
      return;
    planned_stub s;
    if (place.form == call_form::direct) {
      s.target = place.target;
      const bool known = may_change(s.target) || image_.plt_at(s.target) != nullptr;
      if (!known || (table_.at(s.target) != no_function &&
                     table_.functions[table_.at(s.target)].kind == function_kind::fragment))
        return;
    } else {
      const auto held = image_.pointer_at(place.target);
      s.slot = !held || table_.at(*held) == no_function;
      s.target = s.slot ? place.target : *held;
      if (!s.slot && (!may_change(s.target) || !image_.is_constant(place.target)))
        return;
    }
    const auto [known, fresh] = stubs_.emplace(std::pair(s.target, s.slot), 0);
    if (fresh)
      known->second = stub(s);
    plan_.calls.push_back({c.at, known->second});
  }

  const module &image_;
  unwind_table unwind_;
  function_table table_;
  std::vector<function_facts> facts_;
  std::map<address, bool> seen_, called_;
  std::map<std::pair<address, bool>, std::uint32_t> stubs_;
  link_plan plan_;
};

} // namespace

link_plan everything(const module &m, std::vector<std::string> *refused) {
  planner p(m);
  link_plan plan = p.run();
  if (refused != nullptr)
    *refused = std::move(p.refused);
  return plan;
}

} // namespace nth::stack::test
