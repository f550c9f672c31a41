// The operations of paper 003, figures 10 to 13: what a thread costs by phases, which phases.h describes.
#include "common/nth_side.hpp"
#include "empty/root.h"
#include "ops/phases.h"
#include "ops/side.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr long fresh_rounds = 10;

void run(void (*root)(), int narg, const long *args) {
  if (const nth_status s = nth_run_v(root, narg, args); s != NTH_OK)
    bench::fail(nth_strstatus(s));
}

void round(ops_order &order) {
  const long before = empty_runs();
  const long arg = reinterpret_cast<long>(&order);
  run(reinterpret_cast<void (*)()>(ops_round), 1, &arg);
  if (const long runs = empty_runs() - before; runs != order.n)
    bench::fail("ops: " + std::to_string(runs) + " threads ran, not " + std::to_string(order.n));
}

} // namespace

int main(int argc, char **argv) {
  bench::program p("ops", bench::nth_competitor(), bench::ops::default_n);
  bench::nth_side nth(p);
  long batch = 0;
  p.option("--batch", batch, "threads a batch; 0: one by one, as figure 4 of the paper");
  p.defaults(99, 10);
  const auto &o = p.parse(argc, argv);

  setenv("NTH_BACKLOG", "0", 0); // no creator makes way in the middle of a phase
  nth.start(o.workers);
  const auto cores = static_cast<long>(bench::usable_cores().size());
  std::vector<nth_desc *> all(static_cast<std::size_t>(o.n * std::max(2L, fresh_rounds)));
  const std::string form = batch > 0 ? ", batch of " + std::to_string(batch) : ", natural";
  bench::ops::phases found;

  const double begin = bench::now_ns();
  long again = o.workers <= cores ? bench::ops::repetitions_again * o.repeat : 0;
  for (long i = -o.warmup; i < o.repeat && (i < 3 || bench::now_ns() - begin < o.seconds * 1e9); ++i) {
    ops_order order{o.n, batch, 0, o.workers <= cores, all.data(), 0, 0, 0, 0, 0};
    ops_order held{o.n, batch, 1, o.workers <= cores, all.data(), 0, 0, 0, 0, 0};
    round(order);
    round(held);
    if (i < 0)
      continue;
    if ((order.disturbed != 0 || held.disturbed != 0) && again > 0) {
      --again;
      --i;
      continue;
    }
    const auto add = [&](const char *name, double ticks) { found.add(name + form, ticks, o.n); };
    const auto real = [](std::uint64_t t) { return static_cast<double>(t); };
    if (batch > 0)
      add("T_C find", real(order.find));
    add("T_C", real(order.find) + real(order.create));
    add("T_E", real(order.enqueue));
    add("T_P", real(order.find) + real(order.create) + real(order.enqueue) + real(order.drain));
    add("T_C held", real(held.find) + real(held.create));
    add("T_E held", real(held.enqueue));
    // Of one worker's time: as many drain as there are cores for them.
    add("T_L+T_S+T_T", real(held.drain) * static_cast<double>(std::min(o.workers, cores)));
  }

  if (batch == 0) {
    ops_order order{o.n, 0, 0, 0, all.data(), 0, 0, 0, 0, 0};
    std::vector<std::uint64_t> create(fresh_rounds);
    const long args[] = {reinterpret_cast<long>(&order), fresh_rounds, reinterpret_cast<long>(create.data())};
    run(reinterpret_cast<void (*)()>(ops_fresh), 3, args);
    // The first of them took what the rounds before had left.
    for (std::size_t r = 1; r < create.size(); ++r)
      found.add("T_C fresh" + form, static_cast<double>(create[r]), o.n);
  }
  nth.stop();
  found.report(p, o.n);
}
