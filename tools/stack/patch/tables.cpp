#include "patch/tables.hpp"

#include "patch/apply.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

namespace nth::stack {

namespace {

// Texts one behind the other, equal ones once; the empty one first.
class text_table {
public:
  std::uint32_t add(const std::string &s) {
    const auto [at, fresh] = places_.emplace(s, static_cast<std::uint32_t>(text.size()));
    if (fresh)
      text.append(s.c_str(), std::char_traits<char>::length(s.c_str()) + 1);
    return at->second;
  }

  std::string text = std::string(1, '\0');

private:
  std::map<std::string, std::uint32_t> places_ = {{"", 0}};
};

std::unordered_map<address, std::size_t> entry_stubs(const link_plan &plan) {
  std::unordered_map<address, std::size_t> of;
  for (std::size_t i = 0; i < plan.stubs.size(); ++i)
    if ((plan.stubs[i].flags & NTH_STUB_ENTRY) != 0 && !of.emplace(plan.stubs[i].target, i).second)
      throw bad_input(
          fmt::format("two stubs at the entry of {:#x} are planned; one is possible", plan.stubs[i].target));
  return of;
}

} // namespace

std::int32_t from_header(const program_pool &pool, address a) {
  const auto distance = static_cast<std::int64_t>(a - pool.header_at);
  if (distance != static_cast<std::int32_t>(distance))
    throw bad_input(
        fmt::format("{:#x} is more than 2 GiB from the section .nth_growth; link the program smaller", a));
  return static_cast<std::int32_t>(distance);
}

pool_room room_for(const link_plan &plan) {
  const auto entries = entry_stubs(plan);
  pool_room room;
  text_table text;
  room.stubs = static_cast<std::uint32_t>(plan.stubs.size());
  room.sites = static_cast<std::uint32_t>(plan.sites.size());
  for (const planned_need &n : plan.needs) {
    room.needs += entries.contains(n.function) ? 2 : 1;
    text.add(n.reason);
  }
  room.text = static_cast<std::uint32_t>(text.text.size());
  return room;
}

growth_tables make_tables(const link_plan &plan, const program_pool &pool) {
  const auto entries = entry_stubs(plan);
  growth_tables t;
  text_table text;
  for (const planned_need &n : plan.needs) {
    t.needs.push_back({from_header(pool, n.function), n.need, n.flags, text.add(n.reason)});
    if (const auto stub = entries.find(n.function); stub != entries.end()) {
      t.needs.push_back(t.needs.back());
      t.needs.back().function = from_header(pool, pool.stub(stub->second));
    }
  }
  for (const planned_site &s : plan.sites)
    t.sites.push_back({from_header(pool, s.return_to), s.depth});
  std::ranges::sort(t.needs, {}, &nth_growth_need::function);
  std::ranges::sort(t.sites, {}, &nth_growth_site::return_to);
  const auto need = std::ranges::adjacent_find(t.needs, {}, &nth_growth_need::function);
  const auto site = std::ranges::adjacent_find(t.sites, {}, &nth_growth_site::return_to);
  if (need != t.needs.end())
    throw bad_input(fmt::format("two needs of {:#x} are planned",
                                pool.header_at + static_cast<address>(std::int64_t{need->function})));
  if (site != t.sites.end())
    throw bad_input(fmt::format("two depths of the call that returns to {:#x} are planned",
                                pool.header_at + static_cast<address>(std::int64_t{site->return_to})));
  t.text = std::move(text.text);
  return t;
}

} // namespace nth::stack
