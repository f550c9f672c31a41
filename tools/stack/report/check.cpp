#include "report/check.hpp"

#include "report/text.hpp"
#include "report/view.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <fstream>
#include <sstream>

namespace nth::stack {

namespace {

std::string_view trimmed(std::string_view s) noexcept {
  constexpr std::string_view blank = " \t\r";
  const std::size_t first = s.find_first_not_of(blank);
  return first == std::string_view::npos ? std::string_view()
                                         : s.substr(first, s.find_last_not_of(blank) - first + 1);
}

} // namespace

std::vector<root_limit> parse_roots(std::string_view text, std::string_view file_name,
                                    std::optional<std::int64_t> limit) {
  std::vector<root_limit> roots;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), whole.size() + 1));
    std::string_view line = trimmed(whole.substr(0, whole.find('#')));
    if (line.empty())
      continue;
    const std::string where = fmt::format("{}:{}", file_name, number);
    // A demangled name may hold blanks, so the limit is the last word, if that is a size.
    std::optional<std::int64_t> own = limit;
    const std::size_t blank = line.find_last_of(" \t");
    if (blank != std::string_view::npos)
      if (const std::optional<std::int64_t> size = parse_size(line.substr(blank + 1))) {
        own = size;
        line = trimmed(line.substr(0, blank));
      }
    if (!own)
      throw bad_input(fmt::format("{}: no limit for {}: write \"{} 4K\", or give --limit", where,
                                  printable(line), printable(line)));
    roots.push_back({std::string(line), *own, where});
  }
  if (roots.empty())
    throw bad_input(fmt::format("{}: no root in it: write the name of a function on each line", file_name));
  return roots;
}

std::vector<root_limit> read_roots(const std::string &file, std::optional<std::int64_t> limit) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf()))
    throw bad_input(fmt::format(
        "{}: can't be read, or is empty: a file with the name of a root on each line is needed", file));
  return parse_roots(text.str(), file, limit);
}

std::size_t check_roots(std::ostream &out, const analysis &a, const std::vector<root_limit> &roots,
                        bool strict, const report_options &options) {
  std::size_t failed = 0;
  for (const root_limit &root : roots) {
    std::vector<std::uint32_t> found;
    try {
      found = functions_known(a, root.name);
    } catch (const bad_input &error) {
      throw bad_input(fmt::format("{}: {}", root.where, error.what()));
    }
    for (const std::uint32_t node : found) {
      const node_need &n = a.needs.needs[node];
      const std::int64_t need = charged(n.need, options);
      const std::string name = shorten(a.graph.nodes[node].name, 80);
      std::string verdict;
      if (need == no_need)
        verdict = fmt::format("unbounded: {}", printable(n.reason));
      else if (need > root.limit)
        verdict =
            fmt::format("needs {} bytes, {} more than its limit of {}", need, need - root.limit, root.limit);
      else if (strict && n.sure != certainty::proved)
        verdict = fmt::format("needs {} of {} bytes, but that is assumed", need, root.limit);
      if (verdict.empty()) {
        fmt::print(out, "fine    {}: needs {} of {} bytes, {}\n", name, need, root.limit, word_for(n.sure));
        continue;
      }
      ++failed;
      fmt::print(out, "FAILED  {}: {}\n", name, verdict);
      write_chain(out, a, node);
    }
  }
  return failed;
}

} // namespace nth::stack
