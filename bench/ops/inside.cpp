// What cannot be told apart from outside: the library's own inline steps, each in a phase of its own over n
// descriptors, in a thread on its worker. Built against headers of src/ and the static library.
//
//   T_Q recycling   take_desc, and the store of a pointer
//   T_CI            prepare_desc and two words of arguments
//   T_Q put         the bracket of the private part and push_front
//   T_L             the bracket and pop: what dispatch does to find a thread; also T_Q of the ready queue
//   T_S+T_W         the call of the empty root through the descriptor; T_S is what is left of it without T_W, the same
//                   root called in a loop (model/master.c)
//   T_T             retire, release_desc, count_ended_and_claim, in one bracket
//   T_Q other       from two workers on: a look at a worker that has nothing to steal, as a search has it
//
// Their sum is more than the drain of phases.h, which has T_T and T_L of the thread behind in one bracket, loads
// a descriptor once for all of them, and lets one thread's end overlap the next one's start.
#include "common/nth_side.hpp"
#include "empty/root.h"
#include "ops/side.hpp"

#include "thread/create.hpp"
#include "thread/desc_memory.hpp"
#include "thread/ready.hpp"
#include "thread/runtime.hpp"
#include "thread/worker.hpp"

#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace nth::detail;

constexpr int steps = 6;
constexpr const char *step_names[steps] = {"T_Q recycling", "T_CI", "T_Q put", "T_L", "T_S+T_W", "T_T"};

struct order {
  long n;
  nth_desc **all;
  double step[steps];
  double other;
  bool disturbed;
};

// Never inlined, and `w` an argument: a thread of this program does not move while it runs.
[[gnu::noinline]] void take(worker *w, const order &o) {
  for (long i = 0; i < o.n; ++i)
    if ((o.all[i] = take_desc(w)) == nullptr)
      bench::fail("ops: no memory");
}

[[gnu::noinline]] void prepare(const order &o, nth_desc *succ) {
  for (long i = 0; i < o.n; ++i) {
    nth_desc *d = o.all[i];
    d->args[0] = i;
    d->args[1] = 0;
    prepare_desc(d, reinterpret_cast<void (*)()>(empty_root), succ, 0, 0);
  }
}

[[gnu::noinline]] void put(worker *w, const order &o) {
  for (long i = 0; i < o.n; ++i) {
    enter(w);
    push_front(w, o.all[i]);
    leave_sharing(w);
  }
}

[[gnu::noinline]] void lookup(worker *w, const order &o) {
  for (long i = 0; i < o.n; ++i) {
    enter(w);
    o.all[i] = pop(w);
    leave_sharing(w);
  }
}

[[gnu::noinline]] void call(const order &o) {
  for (long i = 0; i < o.n; ++i) {
    const nth_desc *d = o.all[i];
    reinterpret_cast<void (*)(long, long, long, long)>(d->root)(d->args[0], d->args[1], d->args[2],
                                                                d->args[3]);
  }
}

[[gnu::noinline]] void end(worker *w, const order &o) {
  for (long i = 0; i < o.n; ++i) {
    nth_desc *d = o.all[i];
    enter(w);
    nth_desc *s = d->succ;
    retire(d);
    release_desc(w, d);
    if (count_ended_and_claim(w, s))
      bench::fail("ops: the master became ready while it ran");
    leave(w);
  }
}

[[gnu::noinline]] void look(worker *w, worker *victim, long n) {
  for (long i = 0; i < n; ++i)
    steal(w, victim);
}

void master(order *o) {
  nth_desc *const me = nth_self();
  worker *const w = current_worker();
  nth_depadd(me, o->n + 1);
  const long taken = cores_taken();
  std::uint64_t t[steps + 1];
  t[0] = ticks();
  take(w, *o);
  t[1] = ticks();
  prepare(*o, me);
  t[2] = ticks();
  put(w, *o);
  t[3] = ticks();
  lookup(w, *o);
  t[4] = ticks();
  call(*o);
  t[5] = ticks();
  end(w, *o);
  t[6] = ticks();
  o->disturbed = cores_taken() != taken;
  for (int i = 0; i < steps; ++i)
    o->step[i] = static_cast<double>(t[i + 1] - t[i]);
  nth_block();
}

// The other worker has nothing, and sleeps.
void looker(order *o) {
  worker *const w = current_worker();
  worker *const victim = the_runtime.at(w->id == 0 ? 1 : 0);
  const std::uint64_t begin = ticks();
  look(w, victim, o->n);
  o->other = static_cast<double>(ticks() - begin);
}

void run(void (*root)(order *), order &o) {
  if (const nth_status s = nth_run(root, 1, &o); s != NTH_OK)
    bench::fail(nth_strstatus(s));
}

} // namespace

int main(int argc, char **argv) {
  bench::program p("ops", "nth", bench::ops::default_n);
  bench::nth_side nth(p);
  p.defaults(99, 10);
  const auto &o = p.parse(argc, argv);
  setenv("NTH_BACKLOG", "0", 0); // as nth.cpp
  nth.start(o.workers);
  std::vector<nth_desc *> all(static_cast<std::size_t>(o.n));
  bench::ops::phases found;
  long again = bench::ops::repetitions_again * o.repeat;
  for (long i = -o.warmup; i < o.repeat; ++i) {
    order one{o.n, all.data(), {}, 0, false};
    // With others about, they would steal what lies in the queue.
    run(o.workers == 1 ? master : looker, one);
    if (i < 0)
      continue;
    if (one.disturbed && again > 0) {
      --again;
      --i;
      continue;
    }
    if (o.workers == 1) {
      for (int k = 0; k < steps; ++k)
        found.add(std::string(step_names[k]) + ", inside", one.step[k], o.n);
    } else {
      found.add("T_Q other, inside", one.other, o.n);
    }
  }
  nth.stop();
  found.report(p, o.n);
}
