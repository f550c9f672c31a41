#include "report/profile.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

namespace nth::stack {

namespace {

constexpr std::size_t missing_shown = 10;

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

} // namespace

void write_profile(std::ostream &out, const analysis &a, const profile_result &p) {
  const profile_counts &c = p.counts;
  const std::uint64_t all = c.forward + c.backward + c.indirect;
  fmt::print(out, "run: {}\n", printable(p.command));
  fmt::print(out, "{:>22} {:>22} {:>22} {:>16} {:>16}\n", "forward calls", "backward calls", "indirect calls",
             "non-zero allocs", "zero allocs");
  const auto share = [&](std::uint64_t n) { return fmt::format("{} ({:.0f} %)", n, percent(n, all)); };
  fmt::print(out, "{:>22} {:>22} {:>22} {:>16} {:>16}\n", share(c.forward), share(c.backward),
             share(c.indirect), c.non_zero, c.zero);
  for (const profile_space &s : p.space)
    fmt::print(out,
               "{}: {}{} bytes ({}) in segments on the deepest path, {} ({}) in its frames ({:.0f} %), each "
               "recursion once around\n",
               shorten(a.graph.nodes[s.root].name, 60), s.at_least ? "at least " : "", s.allocated,
               human_size(s.allocated), s.needed, human_size(s.needed),
               percent(static_cast<std::uint64_t>(s.needed), static_cast<std::uint64_t>(s.allocated)));
  if (c.outside > 0)
    fmt::print(out, "{} calls from or of code that was not analysed\n", c.outside);
  if (p.missing.empty())
    return;
  fmt::print(out, "{} calls that the call graph does not have (signal handlers and the like enter so):\n",
             c.missing);
  for (std::size_t i = 0; i < std::min(missing_shown, p.missing.size()); ++i) {
    const missing_call &m = p.missing[i];
    fmt::print(out, "{:>12}  {} -> {}{}\n", m.count, shorten(a.graph.nodes[m.caller].name, 44),
               shorten(a.graph.nodes[m.callee].name, 44), m.at == 0 ? "" : ", at " + hex(m.at));
  }
  if (p.missing.size() > missing_shown)
    fmt::print(out, "{:>12}  more places\n", p.missing.size() - missing_shown);
}

std::string profile_as_json(const analysis &a, const profile_result &p) {
  const profile_counts &c = p.counts;
  std::string text = fmt::format(
      "{{\"command\":{},\"forward\":{},\"backward\":{},\"indirect\":{},\"non_zero_allocations\":"
      "{},\"zero_allocations\":{},\"outside\":{},\"not_in_graph\":{},\"space\":[",
      json_string(p.command), c.forward, c.backward, c.indirect, c.non_zero, c.zero, c.outside, c.missing);
  for (std::size_t i = 0; i < p.space.size(); ++i)
    text += fmt::format("{}{{\"root\":{},\"allocated\":{},\"needed\":{},\"at_least\":{}}}", i == 0 ? "" : ",",
                        json_string(a.graph.nodes[p.space[i].root].name), p.space[i].allocated,
                        p.space[i].needed, p.space[i].at_least);
  text += "],\"missing\":[";
  for (std::size_t i = 0; i < p.missing.size(); ++i) {
    const missing_call &m = p.missing[i];
    text += fmt::format("{}{{\"caller\":{},\"callee\":{},\"at\":\"{:#x}\",\"count\":{}}}", i == 0 ? "" : ",",
                        json_string(a.graph.nodes[m.caller].name), json_string(a.graph.nodes[m.callee].name),
                        m.at, m.count);
  }
  return text + "]}";
}

} // namespace nth::stack
