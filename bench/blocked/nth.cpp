#include "blocked/workload.hpp"
#include "common/nth_side.hpp"

#include <atomic>

namespace {

struct order {
  long n;
  bench::blocked::watch *watch;
  std::vector<nth_handle_t> handles;
  nth_handle_t master;
  std::atomic<long> to_block, to_end;
};

void arrive(std::atomic<long> &left, nth_handle_t master) {
  if (left.fetch_sub(1, std::memory_order_acq_rel) == 1 && nth_unblock(master) != NTH_OK)
    bench::fail("blocked: the master has gone");
}

void blocker(order *o, long i) {
  o->handles[static_cast<std::size_t>(i)] = nth_handle(nth_self());
  arrive(o->to_block, o->master); // the last one may be let go before it blocks: nth remembers that
  nth_block();
  arrive(o->to_end, o->master);
}

void master(order *o) {
  o->master = nth_handle(nth_self());
  o->watch->begin();
  for (long i = 0; i < o->n; ++i) {
    nth_desc *t = nth_create_ls(blocker, 0, nullptr, 2, o, i);
    if (t == nullptr)
      bench::fail("no memory after " + std::to_string(i) + " of " + std::to_string(o->n) + " threads");
    nth_to_lrq_end(static_cast<int>(i % kthreads), t);
  }
  nth_block();
  o->watch->all_blocked();
  for (const nth_handle_t h : o->handles)
    if (nth_unblock(h) != NTH_OK)
      bench::fail("blocked: a thread ended before it was let go");
  nth_block();
  o->watch->all_ended();
}

} // namespace

int main(int argc, char **argv) {
  bench::blocked::workload w(bench::nth_competitor(), 1'000'000);
  bench::nth_side nth(w);
  long need = 0;
  w.option("--need", need,
           "bytes of stack that the blocking root needs, which chooses its stack; 0: unknown");
  const auto &o = w.parse(argc, argv);
  const nth_stack_need entry = {reinterpret_cast<void (*)()>(blocker), need, 1};
  if (need != 0 && nth_set_stack_needs(&entry, 1) != NTH_OK)
    bench::fail(nth_last_error());
  nth.start(o.workers);

  order all{};
  all.handles.resize(static_cast<std::size_t>(o.n)); // touched here, so that it counts for no thread
  auto r = w.measure(o.n, [&](long n, bench::blocked::watch &watch) {
    all.n = n;
    all.watch = &watch;
    all.to_block = n;
    all.to_end = n;
    if (const nth_status s = nth_run(master, 1, &all); s != NTH_OK)
      bench::fail(nth_strstatus(s));
  });
  if (need != 0)
    r.variant = "need of " + std::to_string(need) + " bytes";
  nth.counts(r);
  nth.stop();
  w.report(r);
}
