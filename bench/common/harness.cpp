#include "common/harness.hpp"

#include "common/ping.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <unistd.h>

namespace bench {

namespace {

std::vector<int> read_usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int c = 0; c < CPU_SETSIZE; ++c)
      if (CPU_ISSET(c, &set))
        cores.push_back(c);
  if (cores.empty())
    cores.push_back(0);
  return cores;
}

} // namespace

const std::vector<int> &usable_cores() {
  static const std::vector<int> cores = read_usable_cores();
  return cores;
}

void pin_self(long index) {
  const auto &cores = usable_cores();
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cores[static_cast<std::size_t>(index) % cores.size()], &set);
  sched_setaffinity(0, sizeof set, &set); // refused where a container forbids it: then unpinned
}

void confine_self(long count) {
  const auto &cores = usable_cores();
  cpu_set_t set;
  CPU_ZERO(&set);
  for (std::size_t i = 0; i < cores.size() && i < static_cast<std::size_t>(count); ++i)
    CPU_SET(cores[i], &set);
  sched_setaffinity(0, sizeof set, &set);
}

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  const auto half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

long resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  long size = 0, resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

long page_table_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    long kib = 0;
    if (word == "VmPTE:" && status >> kib)
      return kib * 1024;
  }
  return 0;
}

long mappings() {
  std::ifstream maps("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n');
}

void fail(const std::string &message) {
  fmt::print(stderr, "{}\n", message);
  std::fflush(stdout);
  std::_Exit(1);
}

struct program::parts {
  std::string workload, competitor;
  settings options;
  bool quick = false;
  CLI::App app;
};

program::program(std::string workload, std::string competitor, long default_n)
    : p(std::make_unique<parts>()) {
  p->workload = std::move(workload);
  p->competitor = std::move(competitor);
  auto &o = p->options;
  o.n = default_n;
  p->app.description(fmt::format("Workload {}, competitor {}.", p->workload, p->competitor));
  p->app.option_defaults()->always_capture_default()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  p->app.add_option("--workers", o.workers, "kernel threads that run threads")->check(CLI::Range(1, 1024));
  p->app.add_option("--n", o.n, "operations a repetition")->check(CLI::PositiveNumber);
  p->app.add_option("--repeat", o.repeat, "repetitions that count")->check(CLI::Range(1, 100000));
  p->app.add_option("--warmup", o.warmup, "repetitions before them that do not")->check(CLI::Range(0, 1000));
  p->app.add_option("--seconds", o.seconds, "no further repetition past these, once three have counted");
  p->app.add_flag("--quick", p->quick, "a tenth of the operations");
  p->app.add_flag("--json", o.json, "print one JSON object a line");
}

program::~program() = default;

void program::option(const std::string &name, long &target, const std::string &help) {
  p->app.add_option(name, target, help);
}

void program::option(const std::string &name, std::string &target, const std::string &help) {
  p->app.add_option(name, target, help);
}

void program::defaults(long repeat, long warmup) {
  p->options.repeat = repeat;
  p->options.warmup = warmup;
}

const settings &program::parse(int argc, char **argv) {
  try {
    p->app.parse(argc, argv);
  } catch (const CLI::ParseError &e) {
    std::exit(p->app.exit(e));
  }
  if (p->quick)
    p->options.n = std::max(1L, p->options.n / 10);
  usable_cores(); // read before it is narrowed
  confine_self(p->options.workers);
  return p->options;
}

result program::measure(const std::string &variant, long n, const std::function<double()> &body) const {
  const auto &o = p->options;
  result r;
  r.variant = variant;
  r.n = n;
  const double begin = now_ns();
  const auto time_is_up = [&] { return now_ns() - begin > o.seconds * 1e9; };

  for (long i = 0; i < o.warmup && (i == 0 || !time_is_up()); ++i) {
    const double ns = body() / static_cast<double>(n);
    if (i == 0)
      r.cold = ns;
  }
  for (long i = 0; i < o.repeat && (i < 3 || !time_is_up()); ++i) {
    // The distance of two virtual cores changes within minutes; without it the figures can't be read.
    if (o.workers == 2 && usable_cores().size() >= 2)
      r.ping.push_back(one_way_ping(usable_cores()[0], usable_cores()[1]));
    r.samples.push_back(body() / static_cast<double>(n));
  }
  r.count("rss_bytes", resident_bytes());
  return r;
}

void program::report(result r) const {
  const auto &o = p->options;
  const auto [low, high] = std::minmax_element(r.samples.begin(), r.samples.end());
  const double middle = median(r.samples);
  const auto rounded = [](double v) { return std::round(v * 1000) / 1000; };

  if (o.json) {
    nlohmann::ordered_json j;
    j["workload"] = p->workload;
    j["competitor"] = p->competitor;
    j["variant"] = r.variant;
    j["workers"] = o.workers;
    j["n"] = r.n;
    j["ns_per_op"] = rounded(middle);
    j["min"] = rounded(*low);
    j["max"] = rounded(*high);
    j["repetitions"] = r.samples.size();
    if (r.cold > 0)
      j["cold_ns"] = rounded(r.cold);
    for (const auto &[name, v] : r.counts)
      if (const double *real = std::get_if<double>(&v))
        j[name] = rounded(*real);
      else
        std::visit([&](const auto &x) { j[name] = x; }, v);
    if (o.workers == 2)
      for (j["ping_ns"] = nlohmann::json::array(); double ns : r.ping)
        j["ping_ns"].push_back(std::round(ns * 10) / 10);
    fmt::print("{}\n", j.dump());
  } else {
    fmt::print("{:<12} {:<14} {:<22} {} worker{} n {:<9} {:>10.2f} ns ({:.2f} to {:.2f}", p->workload,
               p->competitor, r.variant, o.workers, o.workers == 1 ? ", " : "s,", r.n, middle, *low, *high);
    if (r.cold > 0)
      fmt::print("; cold {:.2f}", r.cold);
    fmt::print(")");
    if (!r.ping.empty())
      fmt::print(" ping {:.0f} ns", median(r.ping));
    for (const auto &[name, v] : r.counts)
      if (const double *real = std::get_if<double>(&v))
        fmt::print(", {} {:.1f}", name, *real);
      else
        std::visit([&](const auto &x) { fmt::print(", {} {}", name, x); }, v);
    fmt::print("\n");
  }
  std::fflush(stdout);
}

} // namespace bench
