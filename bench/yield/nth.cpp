#include "common/nth_side.hpp"
#include "yield/workload.hpp"

#if __has_include(<nth/inline.h>)
#include <nth/inline.h>
#define NTH_BENCH_INLINE 1
#else
#define NTH_BENCH_INLINE 0
#endif

namespace {

using bench::yielding::sites;

enum class form : long { call, inlined };

void yielder(sites s, form f, long id, long each) {
#if NTH_BENCH_INLINE
  if (f == form::inlined) {
    bench::yielding::loop(s, id, each, [] { nth_yield_inline(); });
    return;
  }
#endif
  static_cast<void>(f);
  bench::yielding::loop(s, id, each, [] { nth_yield(); });
}

void master(sites s, form f, long each, long threads, double *ns) {
  nth_desc *const self = nth_self();
  const double begin = bench::now_ns();
  nth_depadd(self, threads + 1);
  for (long i = 0; i < threads; ++i) {
    nth_desc *t = nth_create_ls(yielder, 0, self, 4, s, f, i, each);
    if (t == nullptr)
      bench::fail("no memory");
    nth_to_lrq(static_cast<int>(i / 2), t); // both partners on one worker
  }
  nth_block();
  *ns = bench::now_ns() - begin;
}

} // namespace

int main(int argc, char **argv) {
  bench::program p(bench::yielding::name, bench::nth_competitor(), bench::yielding::default_n);
  bench::nth_side nth(p);
  const auto &o = p.parse(argc, argv);
  nth.start(o.workers);

  const auto one = [&](const char *variant, sites s, form f) {
    auto r = bench::yielding::measure(p, o, variant, s, [&](sites which, long each) {
      double ns = 0;
      if (const nth_status e = nth_run(master, 5, which, f, each, bench::yielding::threads(o), &ns);
          e != NTH_OK)
        bench::fail(nth_strstatus(e));
      return ns;
    });
    nth.counts(r);
    p.report(r);
  };
  one("one call site", sites::one, form::call);
  one("two call sites", sites::two, form::call);
  one("eight depths", sites::eight_depths, form::call);
#if NTH_BENCH_INLINE
  one("inline", sites::two, form::inlined);
  one("inline, eight depths", sites::eight_depths, form::inlined);
#endif
  nth.stop();
}
