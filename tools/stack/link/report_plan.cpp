#include "link/report_plan.hpp"

#include "nth/growth.h"
#include "report/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <fstream>
#include <unordered_map>

namespace nth::stack {

namespace {

using json = nlohmann::ordered_json;

class plan_report {
public:
  plan_report(const planned_program &p, const ld_command &c) : p_(p), c_(c) {
    for (std::uint32_t n = 0; n < p.graph.nodes.size(); ++n)
      if (p.patched[n])
        node_at_.try_emplace(p.graph.nodes[n].entry, n);
  }

  void in_words() const {
    std::size_t entries = 0;
    std::size_t guarded = 0;
    std::size_t unbounded = 0;
    for (const planned_stub &s : p_.plan.stubs) {
      entries += has(s.flags, NTH_STUB_ENTRY) ? 1 : 0;
      guarded += has(s.flags, NTH_STUB_GUARDED) ? 1 : 0;
    }
    for (const planned_need &n : p_.plan.needs)
      unbounded += has(n.flags, NTH_NEED_UNBOUNDED) ? 1 : 0;
    fmt::print(stderr,
               "nth-stack: {}: {} stubs ({} at entries, {} to what has no bound), {} calls redirected, {} "
               "roots ({} without a bound), limits {}\n",
               c_.output, p_.plan.stubs.size(), entries, guarded, p_.plan.calls.size(), p_.plan.needs.size(),
               unbounded, fmt::join(p_.plan.thresholds, " "));
    if (!p_.weights.empty())
      fmt::print(stderr, "nth-stack: {}: {:.0f} of {:.0f} calls of the profile lead through stubs\n",
                 c_.output, through_stubs(), all_calls());
    bool any = false;
    for (const planned_need &n : p_.plan.needs)
      if (const std::string name = name_at(n.function);
          has(n.flags, NTH_NEED_UNBOUNDED) && !is_no_root(name)) {
        fmt::print(stderr, "nth-stack: {} has no bound: {}\n", name, printable(n.reason));
        any = true;
      }
    if (any && p_.shared_cxx)
      fmt::print(
          stderr,
          "nth-stack: {}: it calls through pointers that may lead into the shared libstdc++, which is not "
          "patched; -static-libstdc++ -static-libgcc makes that a part of the program\n",
          c_.output);
  }

  [[nodiscard]] json as_json() const {
    json j;
    j["program"] = c_.output;
    j["segment"] = c_.options.segment;
    j["limits"] = p_.plan.thresholds;
    if (!p_.weights.empty())
      j["profile"] = {{"calls", all_calls()}, {"through_stubs", through_stubs()}};
    for (const planned_stub &s : p_.plan.stubs)
      j["stubs"].push_back(stub(s));
    for (std::size_t e = 0; e < p_.graph.edges.size(); ++e)
      if (p_.chosen.places.calls[e])
        j["cuts"].push_back(cut(e));
    for (const planned_need &n : p_.plan.needs)
      j["roots"].push_back(root(n));
    for (const suspending_call &s : p_.suspending)
      j["suspending"].push_back({{"caller", printable(p_.graph.nodes[s.caller].name)},
                                 {"at", hex(s.at)},
                                 {"own", std::popcount(s.own)},
                                 {"live", std::popcount(s.live)}});
    return j;
  }

private:
  static bool has(std::uint32_t flags, std::uint32_t flag) noexcept { return (flags & flag) != 0; }

  // Nobody makes threads of these: where programs begin, and parts of functions.
  static bool is_no_root(std::string_view name) {
    return name == "main" || name == "_start" || name.starts_with("__libc_start") ||
           name.starts_with("nth_arch") || name.ends_with(".cold") || name.ends_with("[clone .cold]");
  }

  [[nodiscard]] std::string name_at(address a) const {
    const auto found = node_at_.find(a);
    return found != node_at_.end() ? printable(p_.graph.nodes[found->second].name) : hex(a);
  }

  [[nodiscard]] bool leads_through_stub(std::size_t e) const {
    const call_edge &edge = p_.graph.edges[e];
    const bool by_pointer = edge.kind == edge_kind::indirect || edge.kind == edge_kind::indirect_tail;
    return p_.chosen.places.calls[e] || (by_pointer && p_.chosen.places.entries[edge.callee]);
  }
  // Of the program's own calls.
  template <typename F>
  [[nodiscard]] double sum_of(F &&counts) const {
    double sum = 0;
    for (std::size_t e = 0; e < p_.weights.size(); ++e)
      sum += p_.patched[p_.graph.edges[e].caller] && counts(e) ? p_.weights[e] : 0;
    return sum;
  }
  [[nodiscard]] double all_calls() const {
    return sum_of([](std::size_t) { return true; });
  }
  [[nodiscard]] double through_stubs() const {
    return sum_of([this](std::size_t e) { return leads_through_stub(e); });
  }

  [[nodiscard]] json stub(const planned_stub &s) const {
    json j;
    j["function"] = printable(s.name);
    j["kind"] = has(s.flags, NTH_STUB_ENTRY) ? "entry" : s.longjmp ? "longjmp" : "call";
    j["need"] = s.need;
    j["take"] = s.take;
    if (has(s.flags, NTH_STUB_BY_SITE))
      j["arguments"] = "by_site";
    else
      j["arguments"] = s.arguments;
    j["guarded"] = has(s.flags, NTH_STUB_GUARDED);
    return j;
  }

  [[nodiscard]] json cut(std::size_t e) const {
    const call_edge &edge = p_.graph.edges[e];
    const call_node &callee = p_.graph.nodes[edge.callee];
    json j;
    j["caller"] = printable(p_.graph.nodes[edge.caller].name);
    j["callee"] = printable(callee.name);
    j["at"] = hex(edge.at);
    j["depth"] = edge.depth;
    j["kind"] = p_.chosen.back[e] ? "back" : p_.patched[edge.callee] ? "forward" : "library";
    if (!p_.weights.empty())
      j["weight"] = p_.weights[e];
    return j;
  }

  [[nodiscard]] json root(const planned_need &n) const {
    json j;
    j["function"] = name_at(n.function);
    if (has(n.flags, NTH_NEED_UNBOUNDED)) {
      j["certainty"] = "unbounded";
      j["reason"] = printable(n.reason);
    } else {
      j["need"] = n.need;
      j["certainty"] = has(n.flags, NTH_NEED_ASSUMED) ? "assumed" : "proved";
      if (const auto found = node_at_.find(n.function); found != node_at_.end())
        for (const std::uint32_t a : p_.chosen.needs.needs[found->second].assumptions)
          j["assumptions"].push_back(printable(p_.chosen.needs.assumptions[a]));
      j["guarded"] = has(n.flags, NTH_NEED_GUARDED);
    }
    j["may_block"] = has(n.flags, NTH_NEED_BLOCKS);
    return j;
  }

  const planned_program &p_;
  const ld_command &c_;
  std::unordered_map<address, std::uint32_t> node_at_;
};

} // namespace

void report(const planned_program &p, const ld_command &c) {
  // With stubs no recursion is left for notes of its depth.
  for (const std::string &note : p.chosen.needs.unused_notes)
    if (!note.ends_with("is not recursive"))
      fmt::print(stderr, "nth-stack: an annotation has no effect: {}\n", printable(note));
  for (const std::string &library : p.jumping)
    fmt::print(stderr,
               "nth-stack: {}: {} leaves functions by setcontext, where no stub stands; past one of the "
               "program that leaves a stack without its bound: link that library statically\n",
               c.output, printable(library));
  const plan_report r(p, c);
  if (c.options.verbose)
    r.in_words();
  if (c.options.report.empty())
    return;
  std::ofstream out(c.options.report);
  out << r.as_json().dump(1) << '\n';
  out.close();
  if (!out)
    throw bad_input(fmt::format("{}: can't be written; is there such a folder, and room?", c.options.report));
}

} // namespace nth::stack
