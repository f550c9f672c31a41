#include "report/report.hpp"
#include "report/text.hpp"
#include "report/view.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

namespace nth::stack {

namespace {

constexpr std::size_t name_width = 44;

std::string padded(std::string_view s, std::size_t width) {
  const std::size_t used = width_of(s);
  return std::string(s) + std::string(used < width ? width - used : 0, ' ');
}

std::string bytes_or(std::int64_t bytes, std::string_view none) {
  return bytes == no_need ? std::string(none) : fmt::format("{}", bytes);
}

std::string why(const analysis &a, std::uint32_t node) {
  const node_need &n = a.needs.needs[node];
  if (n.sure == certainty::unbounded)
    return printable(n.reason);
  if (n.sure == certainty::proved || n.assumptions.empty())
    return "";
  const std::string first = printable(a.needs.assumptions[n.assumptions.front()]);
  const std::size_t more = n.assumptions.size() - 1;
  if (n.more_assumptions)
    return fmt::format("{} (and more than {} others)", first, more);
  return more == 0 ? first : fmt::format("{} (and {} more)", first, more);
}

void write_line(std::ostream &out, const analysis &a, const report_options &options, std::uint32_t i) {
  const call_node &node = a.graph.nodes[i];
  const node_need &n = a.needs.needs[i];
  const bool own = a.module_names.empty() || node.module == a.module_names.front();
  const std::string module = own ? "" : " [" + printable(node.module) + "]";
  const std::size_t room = width_of(module) + 8 < name_width ? name_width - width_of(module) : 8;
  const std::string frame = node.bound == frame_bound::unbounded ? "-" : fmt::format("{}", node.frame);
  std::string line = fmt::format(
      "{} {:>8} {:>9} {:>9}  {:<9}  {:<6}  {}", padded(shorten(node.name, room) + module, name_width), frame,
      bytes_or(charged(n.need, options), "-"), bytes_or(charged(n.segment, options), "-"), word_for(n.sure),
      n.may_block ? "yes" : "", why(a, i));
  line.erase(line.find_last_not_of(' ') + 1);
  out << line << '\n';
}

double percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void write_summary(std::ostream &out, const analysis &a, const report_options &options,
                   const std::vector<std::uint32_t> &shown) {
  std::size_t exact = 0;
  std::size_t sure[3] = {};
  std::uint32_t largest = no_step;
  for (const std::uint32_t i : shown) {
    exact += a.graph.nodes[i].bound == frame_bound::exact ? 1 : 0;
    ++sure[static_cast<int>(a.needs.needs[i].sure)];
    if (a.needs.needs[i].need != no_need &&
        (largest == no_step || a.needs.needs[i].need > a.needs.needs[largest].need))
      largest = i;
  }
  fmt::print(out,
             "\n{} functions, {:.1f} % with exact frames; need proved for {:.1f} %, assumed for {:.1f} %, "
             "unbounded for {:.1f} %\n",
             shown.size(), percent(exact, shown.size()), percent(sure[0], shown.size()),
             percent(sure[1], shown.size()), percent(sure[2], shown.size()));
  if (largest != no_step) {
    const std::int64_t need = charged(a.needs.needs[largest].need, options);
    fmt::print(out, "largest bounded need: {} bytes ({}), {}\n", need, human_size(need),
               shorten(a.graph.nodes[largest].name, 80));
  }
  if (options.signal_charge > 0)
    fmt::print(out, "each need and segment has {} bytes for a signal in it\n", options.signal_charge);
  const call_counts c =
      count_calls(a.graph, a.needs,
                  options.all_modules || a.module_names.empty() ? std::string_view()
                                                                : std::string_view(a.module_names.front()));
  fmt::print(out, "{} procedures, {} call sites: {} back edges, {} forward edges, {} indirect calls\n",
             c.procedures, c.call_sites, c.back_edges, c.forward_edges, c.indirect_calls);
}

void write_counts_line(std::ostream &out, std::string_view name, const call_counts &c) {
  fmt::print(out, "{} {:>10} {:>10} {:>10} {:>13} {:>14} {:>8} {:>8} {:>9}\n", padded(shorten(name, 28), 28),
             c.procedures, c.call_sites, c.back_edges, c.forward_edges, c.indirect_calls, c.proved, c.assumed,
             c.unbounded);
}

void write_links(std::ostream &out, const analysis &a, const std::vector<chain_link> &chain) {
  std::int64_t sum = 0;
  fmt::print(out, "{:>10} {:>10}  {:<44} {}\n", "bytes", "in all", "function", "call at");
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const call_node &node = a.graph.nodes[chain[i].node];
    sum += chain[i].depth;
    const std::string name = padded(shorten(node.name, 44), 44);
    const std::string where = i + 1 < chain.size()
                                  ? fmt::format("{} {}", printable(node.module), hex(chain[i].at))
                                  : fmt::format("{}, deepest", printable(node.module));
    fmt::print(out, "{:>10} {:>10}  {} {}\n", chain[i].depth, sum, name, where);
  }
}

} // namespace

void write_table(std::ostream &out, const analysis &a, const report_options &options) {
  const std::vector<std::uint32_t> shown = shown_functions(a, options);
  const std::size_t lines = options.top == 0 ? shown.size() : std::min(options.top, shown.size());
  fmt::print(out, "{} {:>8} {:>9} {:>9}  {:<9}  {:<6}  {}\n", padded("function", name_width), "frame", "need",
             "segment", "certainty", "blocks", "why");
  for (std::size_t i = 0; i < lines; ++i)
    write_line(out, a, options, shown[i]);
  if (lines < shown.size())
    fmt::print(out, "… and {} more\n", shown.size() - lines);
  write_summary(out, a, options, shown);
}

void write_counts(std::ostream &out, const analysis &a, const report_options &options) {
  fmt::print(out, "{:<28} {:>10} {:>10} {:>10} {:>13} {:>14} {:>8} {:>8} {:>9}\n", "program", "procedures",
             "call sites", "back edges", "forward edges", "indirect calls", "proved", "assumed", "unbounded");
  for (std::size_t i = 0; i < (options.all_modules ? a.module_names.size() : 1); ++i) {
    const std::string_view name = a.module_names.empty() ? std::string_view() : a.module_names[i];
    write_counts_line(out, name, count_calls(a.graph, a.needs, name));
  }
  if (options.all_modules && a.module_names.size() > 1)
    write_counts_line(out, "all", count_calls(a.graph, a.needs, ""));
}

void write_chain(std::ostream &out, const analysis &a, std::uint32_t node) {
  const node_need &n = a.needs.needs[node];
  write_links(out, a, worst_chain(a.graph, a.needs, node));
  for (const std::uint32_t assumption : n.assumptions)
    fmt::print(out, "rests on: {}\n", printable(a.needs.assumptions[assumption]));
  if (n.more_assumptions)
    fmt::print(out, "rests on: others, not listed\n");
}

void write_chain(std::ostream &out, const analysis &a, std::string_view name) {
  for (const std::uint32_t node : functions_known(a, name)) {
    const node_need &n = a.needs.needs[node];
    fmt::print(out, "{}: ", shorten(a.graph.nodes[node].name, 100));
    if (n.need == no_need)
      fmt::print(out, "unbounded: {}\n", printable(n.reason));
    else
      fmt::print(out, "{} bytes ({}), {}\n", n.need, human_size(n.need), word_for(n.sure));
    write_chain(out, a, node);
  }
}

void write_blocking_chain(std::ostream &out, const analysis &a, std::string_view name) {
  for (const std::uint32_t node : functions_known(a, name)) {
    const std::vector<chain_link> chain = blocking_chain(a.graph, a.needs, node);
    fmt::print(out, "{}: {}\n", shorten(a.graph.nodes[node].name, 100),
               chain.empty() ? "calls nothing that blocks, as far as its calls are known" : "may block, by");
    if (!chain.empty())
      write_links(out, a, chain);
  }
}

} // namespace nth::stack
