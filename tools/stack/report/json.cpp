// The report for programs. One object:
//   format       1; grows when a field changes its meaning, not when one is added
//   program, modules: [{name, path}], missing: [path], warnings: [text], assumptions: [text]
//   summary      {functions, exact_frames, proved, assumed, unbounded, procedures, call_sites, back_edges,
//                 forward_edges, indirect_calls, signal_charge}
//   profile      of a run, if one was given: {command, forward, backward, indirect, non_zero_allocations,
//                zero_allocations, outside, not_in_graph, space: [{root, allocated, needed, at_least}],
//                missing: [{caller, callee, at, count}]}; profile.hpp says what they mean
//   functions    [{name, symbol, aliases: [name], module, address, frame, touched, frame_bound, need, segment, certainty, reason,
//                  assumptions, more_assumptions, may_block, in_cycle, cycle, back_edges: [{to, at}],
//                  chain: [{name, module, call_at, depth}], chain_left_out}]
// Sizes are bytes, null where there is no bound; addresses strings "0x…"; assumptions indexes, of which [0] is none
// (more_assumptions: there are others).
// `cycle` is a number that the functions of one cycle share, null outside. A chain longer than chain_most has
// its first chain_head and its last links; chain_left_out says how many lie between. A link "any of 12 functions"
// of depth 0 is a call through a pointer.
#include "report/report.hpp"
#include "report/text.hpp"
#include "report/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ostream>

namespace nth::stack {

namespace {

constexpr std::size_t chain_most = 32;
constexpr std::size_t chain_head = 24;
constexpr std::size_t flush_at = std::size_t{1} << 16;

class writer {
public:
  writer(std::ostream &out, const analysis &a, const report_options &options)
      : out_(out), a_(a), options_(options), shown_(shown_functions(a, options)), back_(back_calls(a)) {
    for (const call_node &n : a.graph.nodes)
      names_.push_back(json_string(n.name));
  }

  void write() {
    put("{{\"format\":1,\"tool\":\"nth-stack\",\"program\":{},\n\"modules\":[", json_string(a_.program));
    for (std::size_t i = 0; i < a_.modules.size(); ++i)
      put("{}{{\"name\":{},\"path\":{}}}", i == 0 ? "" : ",",
          json_string(i < a_.module_names.size() ? a_.module_names[i] : ""), json_string(a_.modules[i]));
    put("],\n");
    strings("missing", a_.missing);
    strings("warnings", a_.warnings);
    strings("unused_notes", a_.needs.unused_notes);
    strings("assumptions", a_.needs.assumptions);
    summary();
    if (a_.profile)
      put("\"profile\":{},\n", profile_as_json(a_, *a_.profile));
    put("\"functions\":[");
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      put("{}", i == 0 ? "\n" : ",\n");
      function(shown_[i]);
    }
    put("\n]}}\n");
    flush();
  }

private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    if (buffer_.size() > flush_at)
      flush();
  }

  void flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

  void strings(std::string_view name, const std::vector<std::string> &list) {
    put("\"{}\":[{}],\n", name, strings_of(list));
  }

  static std::string strings_of(const std::vector<std::string> &list) {
    std::string text;
    for (const std::string &each : list) {
      if (!text.empty())
        text += ',';
      text += json_string(each);
    }
    return text;
  }

  static std::string size_or_null(std::int64_t bytes) {
    return bytes == no_need ? "null" : fmt::format("{}", bytes);
  }

  void summary() {
    std::size_t exact = 0;
    std::size_t sure[3] = {};
    for (const std::uint32_t i : shown_) {
      exact += a_.graph.nodes[i].bound == frame_bound::exact ? 1 : 0;
      ++sure[static_cast<int>(a_.needs.needs[i].sure)];
    }
    const call_counts c = count_calls(a_.graph, a_.needs,
                                      options_.all_modules || a_.module_names.empty()
                                          ? std::string_view()
                                          : std::string_view(a_.module_names.front()));
    put("\"summary\":{{\"functions\":{},\"exact_frames\":{},\"proved\":{},\"assumed\":{},\"unbounded\":{},"
        "\"procedures\":{},\"call_sites\":{},\"back_edges\":{},\"forward_edges\":{},\"indirect_calls\":{},"
        "\"signal_charge\":{}}},\n",
        shown_.size(), exact, sure[0], sure[1], sure[2], c.procedures, c.call_sites, c.back_edges,
        c.forward_edges, c.indirect_calls, options_.signal_charge);
  }

  void function(std::uint32_t i) {
    const call_node &node = a_.graph.nodes[i];
    const node_need &n = a_.needs.needs[i];
    const bool bounded = node.bound != frame_bound::unbounded;
    put("{{\"name\":{},\"symbol\":{},\"aliases\":[{}],\"module\":{},\"address\":\"{:#x}\",\"frame\":{},"
        "\"touched\":{},"
        "\"frame_bound\":\"{}\",\"need\":{},\"segment\":{},\"certainty\":\"{}\",\"reason\":{},"
        "\"assumptions\":[{}],",
        names_[i], node.symbol == node.name ? names_[i] : json_string(node.symbol), strings_of(node.aliases),
        json_string(node.module), node.entry, size_or_null(bounded ? node.frame : no_need),
        size_or_null(bounded ? node.touched : no_need), word_for(node.bound),
        size_or_null(charged(n.need, options_)), size_or_null(charged(n.segment, options_)), word_for(n.sure),
        json_string(n.reason), fmt::join(n.assumptions, ","));
    put("\"more_assumptions\":{},\"may_block\":{},\"in_cycle\":{},\"cycle\":{},\"back_edges\":[",
        n.more_assumptions, n.may_block, n.in_cycle,
        n.in_cycle ? fmt::format("{}", a_.needs.component[i]) : "null");
    const auto from =
        std::lower_bound(back_.begin(), back_.end(), i,
                         [](const call_edge &e, std::uint32_t caller) { return e.caller < caller; });
    for (auto e = from; e != back_.end() && e->caller == i; ++e)
      put("{}{{\"to\":{},\"at\":\"{:#x}\"}}", e == from ? "" : ",", names_[e->callee], e->at);
    put("],\"chain\":[");
    chain(i);
  }

  void chain(std::uint32_t i) {
    const std::vector<chain_link> links = worst_chain(a_.graph, a_.needs, i);
    const bool cut = links.size() > chain_most;
    const std::size_t left_out = cut ? links.size() - chain_most : 0;
    for (std::size_t k = 0; k < links.size(); ++k) {
      if (cut && k == chain_head)
        k += left_out;
      put("{}{{\"name\":{},\"module\":{},\"call_at\":\"{:#x}\",\"depth\":{}}}", k == 0 ? "" : ",",
          names_[links[k].node], json_string(a_.graph.nodes[links[k].node].module), links[k].at,
          links[k].depth);
    }
    put("],\"chain_left_out\":{}}}", left_out);
  }

  std::ostream &out_;
  const analysis &a_;
  const report_options &options_;
  std::vector<std::uint32_t> shown_;
  std::vector<call_edge> back_;
  std::vector<std::string> names_; // of all nodes, as JSON strings
  std::string buffer_;
};

} // namespace

void write_json(std::ostream &out, const analysis &a, const report_options &options) {
  writer(out, a, options).write();
}

} // namespace nth::stack
