// The report as one HTML file: page.html with page.css, page.js and the data in it. The data are columns, one entry for
// each function, for the page must open fast with 60,000 of them.
#include "report/page_parts.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "report/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>

namespace nth::stack {

namespace {

// Calls through pointers of which any of thousands of functions may be meant would make the page too large to open.
constexpr std::size_t edges_most = 2'000'000;

// Texts and lists that many functions share are written once.
template <typename T>
class shared_values {
public:
  std::uint32_t index_of(const T &value) {
    const auto added = index_.emplace(value, static_cast<std::uint32_t>(list.size()));
    if (added.second)
      list.push_back(value);
    return added.first->second;
  }

  std::vector<T> list;

private:
  std::map<T, std::uint32_t> index_;
};

class page_data {
public:
  page_data(std::ostream &out, const analysis &a, const report_options &options)
      : out_(out), a_(a), options_(options), steps_(chain_steps(a)),
        culprits_(nth::stack::culprits(a, steps_)), number_(a.graph.nodes.size(), no_step) {
    choose();
  }

  void write() {
    put("{{\"format\":1,\"program\":{},\"charge\":{}", json_string_for_html(a_.program),
        options_.signal_charge);
    texts("missing", a_.missing);
    texts("warnings", a_.warnings);
    texts("unused", a_.needs.unused_notes);
    texts("assumptions", a_.needs.assumptions);
    functions();
    reasons();
    chains();
    edges();
    if (a_.profile)
      profile();
    put("}}");
    flush();
  }

private:
  // The functions shown, in their order, then all that these reach: chains and areas lead there.
  void choose() {
    nodes_ = shown_functions(a_, options_);
    listed_ = nodes_.size();
    for (std::uint32_t i = 0; i < nodes_.size(); ++i)
      number_[nodes_[i]] = i;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (const call_edge &e : a_.graph.calls_of(nodes_[i]))
        add(e.callee);
      if (steps_[nodes_[i]].next != no_step)
        add(steps_[nodes_[i]].next);
    }
  }

  void add(std::uint32_t node) {
    if (number_[node] != no_step)
      return;
    number_[node] = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(node);
  }

  void functions() {
    shared_values<std::string> modules;
    if (!a_.module_names.empty())
      modules.index_of(a_.module_names.front());
    column("module", [&](std::uint32_t n) { return modules.index_of(a_.graph.nodes[n].module); });
    texts("modules", modules.list);
    put(",\"listed\":{}", listed_);
    column("name", [&](std::uint32_t n) { return json_string_for_html(a_.graph.nodes[n].name); });
    column("symbol", [&](std::uint32_t n) {
      const call_node &node = a_.graph.nodes[n];
      return node.symbol == node.name ? std::string("0") : json_string_for_html(node.symbol);
    });
    column("aliases", [&](std::uint32_t n) {
      const std::vector<std::string> &aliases = a_.graph.nodes[n].aliases;
      return aliases.empty() ? std::string("0")
                             : json_string_for_html(fmt::format("{}", fmt::join(aliases, "\n")));
    });
    column("entry", [&](std::uint32_t n) { return a_.graph.nodes[n].entry; });
    column("frame", [&](std::uint32_t n) { return a_.graph.nodes[n].frame; });
    column("touched", [&](std::uint32_t n) { return a_.graph.nodes[n].touched; });
    column("bound", [&](std::uint32_t n) { return static_cast<int>(a_.graph.nodes[n].bound); });
    column("need", [&](std::uint32_t n) { return charged(a_.needs.needs[n].need, options_); });
    column("segment", [&](std::uint32_t n) { return charged(a_.needs.needs[n].segment, options_); });
    column("sure", [&](std::uint32_t n) { return static_cast<int>(a_.needs.needs[n].sure); });
    column("more", [&](std::uint32_t n) { return a_.needs.needs[n].more_assumptions ? 1 : 0; });
    column("set", [&](std::uint32_t n) { return a_.graph.nodes[n].is_set ? 1 : 0; });
    column("blocks", [&](std::uint32_t n) { return a_.needs.needs[n].may_block ? 1 : 0; });
    column("cycle", [&](std::uint32_t n) {
      return a_.needs.needs[n].in_cycle ? static_cast<std::int64_t>(a_.needs.component[n]) : -1;
    });
  }

  void reasons() {
    shared_values<std::string> why;
    shared_values<std::vector<std::uint32_t>> rests;
    rests.index_of({});
    column("reason", [&](std::uint32_t n) { return why.index_of(a_.needs.needs[n].reason); });
    texts("reasons", why.list);
    column("rests", [&](std::uint32_t n) { return rests.index_of(a_.needs.needs[n].assumptions); });
    put(",\"sets\":[");
    for (std::size_t i = 0; i < rests.list.size(); ++i)
      put("{}[{}]", i == 0 ? "" : ",", fmt::join(rests.list[i], ","));
    put("]");
    column("culprit", [&](std::uint32_t n) { return numbered(culprits_[n]); });
    // Of each culprit: in a column of few values.
    std::vector<std::uint32_t> ends;
    for (const std::uint32_t n : nodes_)
      if (culprits_[n] != no_step && number_[culprits_[n]] != no_step)
        ends.push_back(culprits_[n]);
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    put(",\"causes\":{{");
    for (std::size_t i = 0; i < ends.size(); ++i)
      put("{}\"{}\":{}", i == 0 ? "" : ",", number_[ends[i]], json_string_for_html(cause_of(a_, ends[i])));
    put("}}");
  }

  void chains() {
    column("next", [&](std::uint32_t n) { return numbered(steps_[n].next); });
    column("at", [&](std::uint32_t n) { return steps_[n].at; });
    column("depth", [&](std::uint32_t n) { return steps_[n].depth; });
  }

  // Each callee of a function once; which calls close cycles, one by one.
  void edges() {
    std::vector<std::uint32_t> first = {0};
    std::vector<std::uint32_t> to;
    std::size_t left_out = 0;
    for (const std::uint32_t n : nodes_) {
      const std::size_t begin = to.size();
      const bool full = to.size() >= edges_most;
      for (std::uint32_t i = a_.graph.first_edge[n]; i < a_.graph.first_edge[n + 1]; ++i) {
        const call_edge &e = a_.graph.edges[i];
        if (full && (e.kind == edge_kind::indirect || e.kind == edge_kind::indirect_tail))
          ++left_out;
        else
          to.push_back(number_[e.callee]);
      }
      const auto from = to.begin() + static_cast<std::ptrdiff_t>(begin);
      std::sort(from, to.end());
      to.erase(std::unique(from, to.end()), to.end());
      first.push_back(static_cast<std::uint32_t>(to.size()));
    }
    std::vector<std::string> back;
    for (const call_edge &e : back_calls(a_))
      if (number_[e.caller] != no_step && number_[e.callee] != no_step)
        back.push_back(fmt::format("[{},{},{}]", number_[e.caller], number_[e.callee], e.at));
    put(",\"first\":");
    numbers(first);
    put(",\"to\":");
    numbers(to);
    put(",\"back\":");
    numbers(back);
    put(",\"edges_left_out\":{}", left_out);
  }

  void profile() {
    std::string text = profile_as_json(a_, *a_.profile);
    for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at))
      text.replace(at, 1, "\\u003c");
    put(",\"profile\":{}", text);
  }

  [[nodiscard]] std::int64_t numbered(std::uint32_t node) const {
    return node == no_step || number_[node] == no_step ? -1 : static_cast<std::int64_t>(number_[node]);
  }

  void texts(std::string_view name, const std::vector<std::string> &list) {
    put(",\"{}\":[", name);
    for (std::size_t i = 0; i < list.size(); ++i)
      put("{}{}", i == 0 ? "" : ",", json_string_for_html(list[i]));
    put("]");
  }

  template <typename F>
  void column(std::string_view name, F value) {
    put(",\n\"{}\":[", name);
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      put("{}{}", i == 0 ? "" : ",", value(nodes_[i]));
    put("]");
  }

  template <typename T>
  void numbers(const std::vector<T> &list) {
    put("[");
    for (std::size_t i = 0; i < list.size(); ++i)
      put("{}{}", i == 0 ? "" : ",", list[i]);
    put("]");
  }

  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    if (buffer_.size() > std::size_t{1} << 16)
      flush();
  }

  void flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

  std::ostream &out_;
  const analysis &a_;
  const report_options &options_;
  std::vector<chain_step> steps_;
  std::vector<std::uint32_t> culprits_;
  std::vector<std::uint32_t> nodes_;  // in the page's order
  std::vector<std::uint32_t> number_; // of each node: its place in the page; no_step
  std::size_t listed_ = 0;            // of nodes_: the first ones
  std::string buffer_;
};

// Writes the template up to the mark and takes both off it.
void write_up_to(std::ostream &out, std::string_view &page, std::string_view mark) {
  const std::size_t at = page.find(mark);
  out << page.substr(0, at);
  page.remove_prefix(std::min(page.size(), at + mark.size()));
}

std::string escaped_for_text(std::string_view s) {
  std::string text;
  for (const char c : printable(s))
    text += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return text;
}

} // namespace

void write_page(std::ostream &out, const analysis &a, const report_options &options) {
  std::string_view page = page_html;
  write_up_to(out, page, "{{title}}");
  out << escaped_for_text(a.program.substr(a.program.rfind('/') + 1));
  write_up_to(out, page, "{{css}}");
  out << page_css;
  write_up_to(out, page, "{{data}}");
  page_data(out, a, options).write();
  write_up_to(out, page, "{{js}}");
  out << page_js;
  out << page;
}

} // namespace nth::stack
