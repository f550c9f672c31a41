// The demonstration: the papers' benchmark Empty on this machine, as a table like table 2 and bars like
// figure 1 of paper 000. Each line is a run of one of the programs beside this one.
#include "common/harness.hpp"
#include "demo/child.hpp"
#include "demo/table.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace {

using bench::demo::row;

long available_bytes() {
  std::ifstream info("/proc/meminfo");
  for (std::string word; info >> word;) {
    long kib = 0;
    if (word == "MemAvailable:" && info >> kib)
      return kib * 1024;
  }
  return 4L << 30;
}

// One line that overwrites itself on a terminal; elsewhere a line every few seconds.
class progress {
public:
  explicit progress(std::size_t total)
      : total(total), terminal(isatty(STDERR_FILENO) == 1), begin(bench::now_ns()) {}

  void next(std::string what) {
    ++done;
    current = std::move(what);
    show();
  }
  void tick() { show(); }
  void end() {
    if (terminal)
      fmt::print(stderr, "\r\033[K");
  }

private:
  void show() {
    const double now = bench::now_ns();
    if (now - shown < (terminal ? 0.1e9 : 5e9))
      return;
    shown = now;
    fmt::print(stderr, "{}{}/{} {} ({:.0f} s){}", terminal ? "\r\033[K" : "", done, total, current,
               (now - begin) / 1e9, terminal ? "" : "\n");
  }

  std::size_t total, done = 0;
  bool terminal;
  double begin, shown = 0;
  std::string current;
};

struct options {
  long n = 1'000'000;
  long stack_size = 32 * 1024;
  long backlog = 8192;
  long repeat = 7;
  double seconds = 15;
  double total = 58;
  std::vector<long> workers = {1, 2, 4, 8};
};

std::vector<row> plan(const options &o) {
  std::vector<row> rows;
  const auto add = [&](const char *name, bool is_nth, long backlog) {
    for (const long w : o.workers) {
      row r;
      r.name = name;
      r.workers = w;
      r.backlog = backlog;
      r.is_nth = is_nth;
      rows.push_back(std::move(r));
    }
  };
  for (const char *policy : {"dos", "lsa", "dsr"})
    for (const long backlog : {0L, o.backlog})
      add(policy, true, backlog);
  add("onetbb", false, 0);
  add("kernel threads", false, 0);
  return rows;
}

std::vector<std::string> command(const row &r, const options &o, const std::filesystem::path &here) {
  const bool kernel = r.name == "kernel threads";
  const char *program = r.is_nth ? "empty_nth" : kernel ? "empty_kernel" : "empty_tbb";
  std::vector<std::string> c = {here / program, "--json",
                                "--workers",    std::to_string(r.workers),
                                "--repeat",     std::to_string(o.repeat),
                                "--warmup",     "1",
                                "--seconds",    "2"};
  const auto set = [&](const char *name, const std::string &v) { c.insert(c.end(), {name, v}); };
  if (!kernel) // those take a number of their own: see empty/kernel.cpp
    set("--n", std::to_string(o.n));
  if (r.is_nth) {
    set("--policy", r.name);
    set("--stack-size", std::to_string(o.stack_size));
    set("--backlog", std::to_string(r.backlog));
  }
  return c;
}

void read_result(row &r, const bench::demo::outcome &out) {
  r.failure = out.failure;
  if (!r.failure.empty())
    return;
  const auto j = nlohmann::json::parse(out.output, nullptr, false);
  if (!j.is_object()) {
    r.failure = "printed no result";
    return;
  }
  r.n = j.value("n", 0L);
  r.ns = j.value("ns_per_op", 0.0);
  r.low = j.value("min", 0.0);
  r.high = j.value("max", 0.0);
  r.cold = j.value("cold_ns", 0.0);
  r.stacks = j.value("stacks", 0L);
  r.stack_bytes = j.value("stack_bytes", 0L);
  r.descriptors = j.value("descriptors", 0L);
  r.descriptor_bytes = j.value("descriptor_bytes", 0L);
  r.resident = std::max(out.peak_bytes, j.value("rss_bytes", 0L));
}

} // namespace

int main(int argc, char **argv) {
  options o;
  CLI::App app("Benchmark Empty under the three stack policies: time, stacks, descriptors, memory.");
  app.add_option("--n", o.n, "threads a repetition")->check(CLI::PositiveNumber);
  app.add_option("--stack-size", o.stack_size, "bytes of a stack");
  app.add_option("--backlog", o.backlog, "the bound, where there is one");
  app.add_option("--repeat", o.repeat, "repetitions that count")->check(CLI::Range(1, 100));
  app.add_option("--seconds", o.seconds, "a run that takes longer is ended");
  app.add_option("--total", o.total, "no run is begun past these seconds");
  app.add_option("--workers", o.workers, "numbers of workers")->delimiter(',');
  CLI11_PARSE(app, argc, argv);

  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const bench::demo::limits limit{o.seconds, available_bytes() / 4 * 3};
  auto rows = plan(o);
  const double begin = bench::now_ns();
  progress p(rows.size());
  for (row &r : rows) {
    if (bench::now_ns() - begin > o.total * 1e9) {
      r.failure = fmt::format("not run: {:.0f} s are over", o.total);
      continue;
    }
    p.next(fmt::format("{}, {} worker{}", r.name, r.workers, r.workers == 1 ? "" : "s"));
    read_result(r, run_child(command(r, o, here), limit, [&] { p.tick(); }));
  }
  p.end();

  fmt::print(
      "Empty: a master creates {} threads that do nothing, one by one, each for the next of the\n"
      "workers, and waits for all. {} cores; stacks of {} KiB; backlog: a bound of {} waiting threads.\n"
      "ns/thread: median of {} runs in one process; first ns: its first run, on fresh memory.\n"
      "S: stacks, D: descriptors; S and D: what both come to; resident: the most that was in memory.\n\n",
      o.n, bench::usable_cores().size(), o.stack_size / 1024, o.backlog, o.repeat);
  print_table(rows);
  fmt::print("\n");
  print_figure(rows);
}
