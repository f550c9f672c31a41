// Stubs and tables.
#include "patch/verify_parts.hpp"

#include "image/cursor.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace nth::stack {

void verifier::check_stubs() {
  if (plan_.stubs.size() > pool_.header.stub_room || pool_.stubs != blank_.stubs)
    wrong("the pool is not where it was, or smaller");
  for (std::size_t i = 0; i < plan_.stubs.size(); ++i) {
    called_.push_back(check_stub(i));
    allow(pool_.stub(i), NTH_STUB_SIZE);
  }
}

// Decoded to what doc/small-stacks.md has; returns what __morestack is to call.
address verifier::check_stub(std::size_t i) const {
  const planned_stub &stub = plan_.stubs[i];
  const auto expect = [&](bool right, std::string_view what) {
    if (!right)
      wrong(fmt::format("stub {} has no {} where one belongs", i, what));
  };
  address at = pool_.stub(i);
  if (blank_.branch_tracking) {
    constexpr std::uint32_t endbr64 = 0xfa1e0ff3;
    expect(read_at<std::uint32_t>(after_.bytes_at(at), 0) == endbr64, "endbr64");
    at += 4;
  }
  instruction way;
  address called = stub.target;
  const auto expect_morestack = [&] {
    const instruction more = next_at(at);
    expect(more.kind == op::call && more.target() == blank_.morestack, "call of __morestack");
    const instruction last = next_at(at);
    expect(last.kind == op::ret && last.length == 1, "ret"); // ret $n takes arguments away
  };
  if (stub.longjmp) {
    expect_morestack();
    called = stub.slot ? at : stub.target;
    if (!stub.slot)
      return called;
    way = next_at(at);
    expect(way.kind == op::jump_indirect, "jump through its slot");
  } else {
    check_limit(i, next_at(at));
    way = next_at(at);
    expect(way.kind == op::branch && way.when == (stub.slot ? condition::below : condition::above_equal),
           "branch");
    if (stub.slot) {
      const address behind = way.target();
      called = at;
      way = next_at(at);
      expect(way.kind == op::jump_indirect && at == behind, "jump through its slot");
    }
    expect_morestack();
  }
  const bool fixed = way.memory.base == reg::none && way.memory.index == reg::none && !way.memory.segment;
  const address leads_to = stub.slot ? static_cast<address>(way.memory.displacement) : way.target();
  expect(leads_to == stub.target && (!stub.slot || fixed), "way to its target");
  expect(at <= pool_.stub(i + 1), "end");
  return called;
}

void verifier::check_limit(std::size_t i, const instruction &comparison) const {
  const bool compares = comparison.kind == op::cmp && comparison.to == reg::rsp &&
                        comparison.memory.segment && comparison.memory.size == 8 &&
                        comparison.memory.base == reg::none && comparison.memory.index == reg::none &&
                        read_at<std::uint16_t>(after_.bytes_at(comparison.at), 0) == 0x4864; // %fs, 8 bytes
  const std::int64_t index = (comparison.memory.displacement - blank_.limits) / 8;
  const bool whole = (comparison.memory.displacement - blank_.limits) % 8 == 0;
  if (!compares || !whole || index < 0 || index >= pool_.header.limits)
    wrong(fmt::format("stub {} does not compare rsp with a limit", i));
  if (pool_.header.thresholds[index] < plan_.stubs[i].need)
    wrong(fmt::format("stub {} compares with the limit of {} bytes and needs {}", i,
                      pool_.header.thresholds[index], plan_.stubs[i].need));
}

void verifier::check_header() {
  const nth_growth_header &h = pool_.header;
  const nth_growth_header &b = blank_.header;
  const bool same_room = h.stub_room == b.stub_room && h.need_room == b.need_room &&
                         h.site_room == b.site_room && h.text_room == b.text_room && h.pool == b.pool &&
                         h.stub_at == b.stub_at && h.need_at == b.need_at && h.site_at == b.site_at &&
                         h.text_at == b.text_at;
  auto thresholds = plan_.thresholds;
  thresholds.resize(NTH_STUB_LIMITS);
  if (h.filled != 1 || !same_room || h.stubs != plan_.stubs.size() || h.sites != plan_.sites.size() ||
      h.limits != plan_.thresholds.size() || !std::ranges::equal(thresholds, h.thresholds))
    wrong("the header of its tables differs");
  allow(pool_.header_at, sizeof h);
}

template <typename T>
std::vector<T> verifier::table_of(std::int32_t from_header, std::uint32_t count) {
  const address at = pool_.header_at + static_cast<address>(std::int64_t{from_header});
  cursor c(after_.bytes_at(at));
  std::vector<T> all;
  for (std::uint32_t i = 0; i < count; ++i)
    all.push_back(c.take<T>());
  allow(at, count * sizeof(T));
  return all;
}

void verifier::check_need(const std::vector<nth_growth_need> &table, const planned_need &n, address a) const {
  const auto here = static_cast<std::int32_t>(static_cast<std::int64_t>(a - pool_.header_at));
  const auto found = std::ranges::lower_bound(table, here, {}, &nth_growth_need::function);
  const auto texts =
      after_.bytes_at(pool_.header_at + static_cast<address>(std::int64_t{pool_.header.text_at}));
  const auto room = texts.first(std::min<std::size_t>(texts.size(), pool_.header.text_room));
  if (found == table.end() || found->function != here || found->need != n.need || found->flags != n.flags ||
      found->reason >= room.size() || (n.reason.empty() && found->reason != 0) ||
      text_at(room, found->reason, room.size()) != n.reason)
    wrong(fmt::format("the table of needs does not have that of {:#x}", a));
}

void verifier::check_tables() {
  const nth_growth_header &h = pool_.header;
  const auto stubs = table_of<nth_growth_stub>(h.stub_at, h.stubs);
  const auto needs = table_of<nth_growth_need>(h.need_at, h.needs);
  const auto sites = table_of<nth_growth_site>(h.site_at, h.sites);
  table_of<char>(h.text_at, h.text_room);
  for (std::size_t i = 0; i < stubs.size(); ++i) {
    const planned_stub &s = plan_.stubs[i];
    if (stubs[i].need != s.need || stubs[i].take != s.take || stubs[i].arguments != s.arguments ||
        stubs[i].flags != s.flags ||
        pool_.header_at + static_cast<address>(std::int64_t{stubs[i].target}) != called_[i])
      wrong(fmt::format("the table of stubs does not have stub {}", i));
  }
  const auto out_of_order = [](const auto &table, auto key) {
    return std::ranges::adjacent_find(table, std::ranges::greater_equal{}, key) != table.end();
  };
  if (out_of_order(needs, &nth_growth_need::function) || out_of_order(sites, &nth_growth_site::return_to))
    wrong("a table is not sorted");
  std::size_t told = plan_.needs.size();
  for (const planned_need &n : plan_.needs) {
    check_need(needs, n, n.function);
    for (std::size_t i = 0; i < plan_.stubs.size(); ++i)
      if (plan_.stubs[i].target == n.function && (plan_.stubs[i].flags & NTH_STUB_ENTRY) != 0) {
        check_need(needs, n, pool_.stub(i));
        ++told;
      }
  }
  if (told != needs.size())
    wrong("the table of needs has more than was planned");
  for (const planned_site &s : plan_.sites) {
    const auto here = static_cast<std::int32_t>(static_cast<std::int64_t>(s.return_to - pool_.header_at));
    const auto found = std::ranges::lower_bound(sites, here, {}, &nth_growth_site::return_to);
    if (found == sites.end() || found->return_to != here || found->depth != s.depth)
      wrong(fmt::format("the table of calls does not have the one that returns to {:#x}", s.return_to));
  }
}

} // namespace nth::stack
