#include "demo/table.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace bench::demo {

namespace {

std::string bytes(double b) {
  for (const char *unit : {"B", "KB", "MB"}) {
    if (b < 1000)
      return fmt::format("{:.{}f} {}", b, b < 10 && *unit != 'B' ? 1 : 0, unit);
    b /= 1000;
  }
  return fmt::format("{:.{}f} GB", b, b < 10 ? 1 : 0);
}

std::string grouped(long v) {
  std::string s = std::to_string(v);
  for (auto at = static_cast<long>(s.size()) - 3; at > 0; at -= 3)
    s.insert(static_cast<std::size_t>(at), 1, ',');
  return s;
}

std::string label(const row &r) {
  return r.is_nth ? fmt::format("nth {}{}", r.name, r.backlog > 0 ? ", backlog" : "") : r.name;
}

} // namespace

void print_table(const std::vector<row> &rows) {
  fmt::print("{:<18} {:>7} {:>9} {:>10} {:>20} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "", "workers",
             "threads", "ns/thread", "(min to max)", "first ns", "S", "D", "S and D", "resident");
  std::string group;
  for (const row &r : rows) {
    if (!group.empty() && group != label(r))
      fmt::print("\n");
    group = label(r);
    if (!r.failure.empty()) {
      fmt::print("{:<18} {:>7}   {}\n", group, r.workers, r.failure);
      continue;
    }
    fmt::print("{:<18} {:>7} {:>9} {:>10.1f} {:>20} {:>10.1f} {:>10} {:>10} {:>10} {:>10}\n", group,
               r.workers, grouped(r.n), r.ns, fmt::format("({:.1f} to {:.1f})", r.low, r.high), r.cold,
               r.is_nth ? grouped(r.stacks) : "", r.has_descriptors() ? grouped(r.descriptors) : "",
               r.is_nth ? bytes(static_cast<double>(r.needed())) : "",
               bytes(static_cast<double>(r.resident)));
  }
}

void print_figure(const std::vector<row> &rows) {
  // Kernel threads are three orders slower: drawn to their scale nothing else would be seen.
  constexpr int width = 60;
  const auto drawn = [](const row &r) { return r.failure.empty() && r.name != "kernel threads"; };
  double slowest = 0;
  for (const row &r : rows)
    if (drawn(r))
      slowest = std::max(slowest, r.ns);
  if (slowest == 0)
    return;
  fmt::print("Time a thread, normalised to the slowest ({:.1f} ns); kernel threads would not fit.\n",
             slowest);
  long workers = 0;
  for (std::vector<row> sorted =
           [&] {
             auto s = rows;
             std::stable_sort(s.begin(), s.end(),
                              [](const row &a, const row &b) { return a.workers < b.workers; });
             return s;
           }();
       const row &r : sorted) {
    if (r.name == "kernel threads")
      continue;
    if (r.workers != workers)
      fmt::print("\n{} worker{}\n", r.workers, r.workers == 1 ? "" : "s");
    workers = r.workers;
    if (!drawn(r)) {
      fmt::print("  {:<18} -     {}\n", label(r), r.failure);
      continue;
    }
    const double share = r.ns / slowest;
    fmt::print("  {:<18} {:.3f} {:#<{}}\n", label(r), share, "",
               std::max(1, static_cast<int>(share * width + 0.5)));
  }
}

} // namespace bench::demo
