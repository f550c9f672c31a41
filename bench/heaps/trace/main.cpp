// memory-trace: misses of caches and TLBs over a trace of lackey's.
//
//   valgrind --tool=lackey --trace-mem=yes --log-fd=9 PROGRAM 9>&1 >/dev/null |
//     memory-trace --cache l1:8K:1:32:no-write-allocate --tlb dtlb:32:full:8K
#include "simulation.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace {

using nlohmann::ordered_json;

double rate(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

ordered_json as_json(const trace::memory &m) {
  const trace::geometry &g = m.form();
  const trace::counts &c = m.count();
  const std::uint64_t misses = c.load_misses + c.store_misses;
  return {{"name", g.name},
          {"blocks", g.blocks},
          {"ways", g.ways},
          {"block_bytes", g.block_bytes},
          {"store_allocates", g.store_allocates},
          {"load_misses", c.load_misses},
          {"store_misses", c.store_misses},
          {"misses", misses},
          {"load_miss_rate", rate(c.load_misses, c.loads)},
          {"miss_rate", rate(misses, c.loads + c.stores)}};
}

ordered_json as_json(const trace::simulation &s) {
  ordered_json all = {{"instructions", s.instructions()}, {"phases", s.phases()}};
  ordered_json caches = ordered_json::array();
  ordered_json tlbs = ordered_json::array();
  for (const trace::memory &m : s.all_caches())
    caches.push_back(as_json(m));
  for (const trace::memory &m : s.all_tlbs())
    tlbs.push_back(as_json(m));
  const trace::counts c = (s.all_caches().empty() ? s.all_tlbs() : s.all_caches()).front().count();
  all["loads"] = c.loads;
  all["stores"] = c.stores;
  all["caches"] = std::move(caches);
  all["tlbs"] = std::move(tlbs);
  return all;
}

void print_table(const ordered_json &all) {
  fmt::print("instructions {}, loads {}, stores {}\n", all["instructions"].get<std::uint64_t>(),
             all["loads"].get<std::uint64_t>(), all["stores"].get<std::uint64_t>());
  fmt::print("{:<16} {:>8} {:>6} {:>8} {:>14} {:>9} {:>14} {:>9}\n", "", "blocks", "ways", "bytes",
             "load misses", "of loads", "all misses", "of all");
  for (const char *kind : {"caches", "tlbs"})
    for (const ordered_json &m : all[kind])
      fmt::print("{:<16} {:>8} {:>6} {:>8} {:>14} {:>8.3f}% {:>14} {:>8.3f}%\n", m["name"].get<std::string>(),
                 m["blocks"].get<std::uint64_t>(), m["ways"].get<std::uint64_t>(),
                 m["block_bytes"].get<std::uint64_t>(), m["load_misses"].get<std::uint64_t>(),
                 100 * m["load_miss_rate"].get<double>(), m["misses"].get<std::uint64_t>(),
                 100 * m["miss_rate"].get<double>());
}

std::uint64_t address_of(const std::string &word) {
  const std::string_view digits = std::string_view(word).substr(word.starts_with("0x") ? 2 : 0);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc{} || end != digits.data() + digits.size())
    throw std::invalid_argument(fmt::format("--between: '{}' is no address in hexadecimal digits", word));
  return value;
}

int open_trace(const std::string &path) {
  if (path == "-")
    return STDIN_FILENO;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    throw std::runtime_error(fmt::format("{}: {}", path, std::strerror(errno)));
  return file;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app{"Misses of caches and TLBs over what valgrind --tool=lackey --trace-mem=yes writes"};
  std::string path = "-";
  std::vector<std::string> caches, tlbs, marks;
  bool json = false;
  app.add_option("trace", path, "file with the trace; -: standard input");
  app.add_option("--cache", caches, "name:SIZE:WAYS:LINE[:no-write-allocate]; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--tlb", tlbs, "name:ENTRIES:WAYS:PAGE; may be repeated")->allow_extra_args(false);
  app.add_option("--between", marks,
                 "two addresses, in hexadecimal: count from a store to the first to one to the second")
      ->expected(2);
  app.add_flag("--json", json, "one JSON object in place of the table");
  CLI11_PARSE(app, argc, argv);
  try {
    if (caches.empty() && tlbs.empty())
      throw std::invalid_argument("nothing to simulate: give --cache or --tlb");
    std::vector<trace::memory> of_caches, of_tlbs;
    for (const std::string &text : caches)
      of_caches.emplace_back(trace::cache_geometry(text));
    for (const std::string &text : tlbs)
      of_tlbs.emplace_back(trace::tlb_geometry(text));
    trace::simulation s(std::move(of_caches), std::move(of_tlbs));
    if (!marks.empty())
      s.between(address_of(marks[0]), address_of(marks[1]));
    trace::read_events(open_trace(path), [&s](const trace::event &e) { s.take(e); });
    if (!marks.empty() && s.phases() == 0)
      throw std::runtime_error(fmt::format("the trace has no store to {}, where counting begins", marks[0]));
    const ordered_json all = as_json(s);
    if (json)
      fmt::print("{}\n", all.dump());
    else
      print_table(all);
  } catch (const std::exception &e) {
    fmt::print(stderr, "memory-trace: {}\n", e.what());
    return 2;
  }
  return 0;
}
