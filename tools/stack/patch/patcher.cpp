#include "patch/patcher.hpp"

#include "image/cursor.hpp"
#include "patch/apply.hpp"
#include "patch/call_sites.hpp"
#include "patch/references.hpp"
#include "patch/stub_code.hpp"
#include "patch/tables.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <elf.h>
#include <set>

#include <fmt/format.h>

namespace nth::stack {

namespace {

class patcher {
public:
  patcher(const module &m, const function_table &table, const link_plan &plan)
      : image_(m), table_(table), plan_(plan), pool_(find_pool(m)) {
    const auto all = m.file();
    bytes_.assign(all.begin(), all.end());
  }

  std::vector<std::uint8_t> run() {
    check_room();
    check_thresholds();
    fill_stubs();
    fill_tables();
    redirect_calls();
    redirect_references();
    if (pool_.entry != 0)
      std::memcpy(bytes_.data() + offsetof(Elf64_Ehdr, e_entry), &pool_.entry, sizeof pool_.entry);
    return std::move(bytes_);
  }

private:
  template <typename... Words>
  [[noreturn]] void refuse(fmt::format_string<Words...> text, Words &&...words) const {
    throw bad_input(fmt::format("{}: {}", image_.path, fmt::format(text, std::forward<Words>(words)...)));
  }

  [[nodiscard]] std::string named(address a) const {
    const std::uint32_t f = table_.containing(a);
    if (f == no_function)
      return fmt::format("{:#x}", a);
    const function &in = table_.functions[f];
    return a == in.entry ? in.name : fmt::format("{}+{:#x}", in.name, a - in.entry);
  }

  // Places in the file.
  [[nodiscard]] std::uint64_t offset(address a) const {
    const section *s = image_.section_of(a);
    if (s == nullptr)
      refuse("{:#x} lies in no section", a);
    return s->offset + (a - s->begin);
  }
  void put(address a, const void *from, std::size_t size) {
    if (size != 0)
      std::memcpy(bytes_.data() + offset(a), from, size);
  }
  template <typename T>
  void put_all(address a, const std::vector<T> &list) {
    put(a, list.data(), list.size() * sizeof(T));
  }
  [[nodiscard]] address table_at(std::int32_t from) const {
    return pool_.header_at + static_cast<address>(std::int64_t{from});
  }

  void check_room() {
    const pool_room needed = room_for(plan_);
    const nth_growth_header &h = pool_.header;
    if (needed.stubs > h.stub_room || needed.needs > h.need_room || needed.sites > h.site_room ||
        needed.text > h.text_room)
      refuse("the pool is too small: {} stubs, {} needs, {} sites and {} bytes of text are needed, it has "
             "room for {}, {}, "
             "{} and {}; link the program with a larger one",
             needed.stubs, needed.needs, needed.sites, needed.text, h.stub_room, h.need_room, h.site_room,
             h.text_room);
  }

  void check_thresholds() {
    const auto &t = plan_.thresholds;
    if (t.empty() || t.size() > NTH_STUB_LIMITS || !std::ranges::is_sorted(t, std::ranges::less_equal{}))
      refuse("the plan has {} thresholds; 1 to {} are possible, ascending", t.size(), NTH_STUB_LIMITS);
  }

  void fill_stubs() {
    const stub_surroundings around = {pool_.morestack, pool_.limits, pool_.branch_tracking};
    std::vector<nth_growth_stub> entries;
    for (std::size_t i = 0; i < plan_.stubs.size(); ++i) {
      const planned_stub &s = plan_.stubs[i];
      const auto limit = limit_for(plan_.thresholds, s.need);
      if (!limit)
        refuse("the stub of {} needs {} bytes, more than the highest threshold, {}", named(s.target), s.need,
               plan_.thresholds.back());
      if (!s.slot && !image_.is_code(s.target))
        refuse("the stub {} leads to {:#x}, which is no code", i, s.target);
      const stub_code code = make_stub(s, pool_.stub(i), *limit, around);
      if (code.target == 0)
        refuse("{} is more than 2 GiB from the section .nth_stubs; link the program smaller",
               named(s.target));
      put(pool_.stub(i), code.bytes.data(), code.bytes.size());
      entries.push_back({s.need, s.take, s.arguments, from_header(pool_, code.target), s.flags});
    }
    put_all(table_at(pool_.header.stub_at), entries);
  }

  void fill_tables() {
    const growth_tables tables = make_tables(plan_, pool_);
    put_all(table_at(pool_.header.need_at), tables.needs);
    put_all(table_at(pool_.header.site_at), tables.sites);
    put(table_at(pool_.header.text_at), tables.text.data(), tables.text.size());
    nth_growth_header h = pool_.header;
    h.filled = 1;
    h.limits = static_cast<std::uint32_t>(plan_.thresholds.size());
    std::ranges::copy(plan_.thresholds, h.thresholds);
    h.stubs = static_cast<std::uint32_t>(plan_.stubs.size());
    h.needs = static_cast<std::uint32_t>(tables.needs.size());
    h.sites = static_cast<std::uint32_t>(tables.sites.size());
    put(pool_.header_at, &h, sizeof h);
  }

  // Where it leads now is what its stub must lead to.
  void check_target(const call_redirect &call, const call_place &place) const {
    const planned_stub &stub = plan_.stubs[call.stub];
    if (stub.instead_of != 0 && place.target == stub.instead_of)
      return;
    const bool by_slot = place.form != call_form::direct;
    const auto now = by_slot && !stub.slot ? image_.pointer_at(place.target) : std::optional(place.target);
    if (stub.slot && !by_slot)
      refuse("the call at {:#x} in {} goes to {:#x} itself, its stub through a slot", call.at, named(call.at),
             place.target);
    if (by_slot && !stub.slot && !image_.is_constant(place.target))
      refuse("the call at {:#x} in {} goes through the word at {:#x}, which the program may change", call.at,
             named(call.at), place.target);
    if (now != stub.target)
      refuse("the call at {:#x} in {} leads to {}, its stub to {}", call.at, named(call.at),
             named(now.value_or(0)), named(stub.target));
  }

  void redirect_calls() {
    std::set<address> seen;
    for (const call_redirect &call : plan_.calls) {
      if (call.stub >= plan_.stubs.size())
        refuse("the call at {:#x} is planned to stub {}, of {}", call.at, call.stub, plan_.stubs.size());
      const call_place place = call_place_at(image_, call.at);
      if (place.form == call_form::fixed)
        refuse("the call at {:#x} in {} can't lead to a stub: {}", call.at, named(call.at), place.why);
      if (!seen.insert(call.at).second)
        refuse("the call at {:#x} in {} is planned to two stubs", call.at, named(call.at));
      check_target(call, place);
      const std::vector<std::uint8_t> code = redirected(image_, place, call.at, pool_.stub(call.stub));
      if (code.empty())
        refuse("the call at {:#x} in {} is more than 2 GiB from its stub", call.at, named(call.at));
      put(call.at, code.data(), code.size());
    }
  }

  void redirect_references() {
    std::vector<address> functions;
    std::vector<address> stubs;
    for (std::size_t i = 0; i < plan_.stubs.size(); ++i)
      if ((plan_.stubs[i].flags & NTH_STUB_ENTRY) != 0) {
        functions.push_back(plan_.stubs[i].target);
        stubs.push_back(pool_.stub(i));
      }
    const auto found = find_references(image_, table_, functions);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!found[i].obstacle.empty())
        refuse("pointers to {} can't lead to a stub: {}", named(functions[i]), found[i].obstacle);
      for (const reference &r : found[i].places)
        shift(r, stubs[i] - functions[i]);
    }
  }

  void shift(const reference &r, std::uint64_t distance) {
    std::int64_t value = 0;
    const std::uint64_t here = r.field;
    if (r.size == 4)
      value = read_at<std::int32_t>(bytes_, here).value_or(0);
    else
      value = read_at<std::int64_t>(bytes_, here).value_or(0);
    value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + distance);
    // An absolute address of 4 bytes may be meant with or without a sign: below 2 GiB both are the same.
    if (r.size == 4 && value != static_cast<std::int32_t>(value))
      refuse("the stub is too far away for {} at {:#x}", name_of(r.kind), r.at);
    std::memcpy(bytes_.data() + here, &value, r.size);
  }

  const module &image_;
  const function_table &table_;
  const link_plan &plan_;
  program_pool pool_;
  std::vector<std::uint8_t> bytes_;
};

} // namespace

std::vector<std::uint8_t> patch(const module &m, const function_table &table, const link_plan &plan) {
  return patcher(m, table, plan).run();
}

} // namespace nth::stack
