// One interleaving of a few virtual threads, chosen by a seed: coroutines in one kernel thread that hand
// control on before each step on shared memory. The same seed gives the same interleaving again.
//
//   interleaving all(seed);
//   all.add([&] { … interleaving::step(); … });   // one virtual thread; step() before each shared access
//   all.run();                                    // until all have ended, or one calls fail()
//
// A virtual thread that fails is left where it is, with all others: bodies hold nothing that must be freed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <ucontext.h>
#include <utility>

#if defined(__SANITIZE_THREAD__) || defined(NTH_TSAN)
#include <sanitizer/tsan_interface.h>
#define NTH_TEST_FIBERS 1
#endif

namespace nth::test {

class random_numbers { // splitmix64
public:
  explicit random_numbers(std::uint64_t seed) : state(seed) {}
  std::uint64_t next() {
    std::uint64_t value = state += 0x9e37'79b9'7f4a'7c15u;
    value = (value ^ (value >> 30)) * 0xbf58'476d'1ce4'e5b9u;
    value = (value ^ (value >> 27)) * 0x94d0'49bb'1331'11ebu;
    return value ^ (value >> 31);
  }
  int below(int bound) { return static_cast<int>(next() % static_cast<unsigned>(bound)); }
  bool one_in(int n) { return below(n) == 0; }

private:
  std::uint64_t state;
};

class interleaving {
public:
  static constexpr int most_threads = 4;
  static constexpr long most_steps = 200'000; // a virtual thread that never ends

  explicit interleaving(std::uint64_t seed) : random(seed), steps_between_switches(1 << random.below(5)) {
    current = this;
  }
  ~interleaving() {
#ifdef NTH_TEST_FIBERS
    for (int i = 0; i < threads; ++i)
      __tsan_destroy_fiber(fibers[i]);
#endif
    current = nullptr;
  }
  interleaving(const interleaving &) = delete;
  interleaving &operator=(const interleaving &) = delete;

  void add(std::function<void()> body) {
    const int i = threads++;
    bodies[i] = std::move(body);
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = stack_of(i);
    contexts[i].uc_stack.ss_size = stack_bytes;
    contexts[i].uc_link = nullptr;
    makecontext(&contexts[i], &interleaving::start, 0);
#ifdef NTH_TEST_FIBERS
    fibers[i] = __tsan_create_fiber(0);
#endif
  }

  void run() {
    alive = threads;
#ifdef NTH_TEST_FIBERS
    outer_fiber = __tsan_get_current_fiber();
#endif
    running = random.below(threads);
    go(&outer, running);
  }

  bool failed() const { return !message.empty(); }
  const std::string &what() const { return message; }
  long steps() const { return steps_made; }

  // ---- for the bodies ----

  // Something else may happen here.
  static void step() {
    interleaving &all = *current;
    if (++all.steps_made > most_steps)
      fail("no end after so many steps: a virtual thread waits for ever");
    if (all.each_step)
      all.each_step();
    if (all.random.one_in(all.steps_between_switches))
      all.switch_away();
  }
  // The same, for one that waits: others must go on.
  static void wait() {
    step();
    current->switch_away();
  }
  [[noreturn]] static void fail(std::string text) {
    current->message = std::move(text);
    current->go_out();
    std::abort();
  }
  static int self() { return current->running; }
  static random_numbers &choice() { return current->random; }

  // Called at each step, in whatever virtual thread: for what happens by itself in a memory.
  std::function<void()> each_step;

private:
  static constexpr std::size_t stack_bytes = 64 * 1024;
  static char *stack_of(int i) {
    alignas(64) static char stacks[most_threads][stack_bytes];
    return stacks[i];
  }

  static void start() {
    interleaving &all = *current;
    all.bodies[all.running]();
    all.ended[all.running] = true;
    if (--all.alive == 0)
      all.go_out();
    all.go(&all.contexts[all.running], all.another());
    std::abort();
  }
  int another() { // any that has not ended
    int i = random.below(threads);
    while (ended[i])
      i = (i + 1) % threads;
    return i;
  }
  void switch_away() {
    const int from = running;
    const int to = another();
    if (to != from)
      go(&contexts[from], to);
  }
  void go(ucontext_t *from, int to) {
    running = to;
#ifdef NTH_TEST_FIBERS
    __tsan_switch_to_fiber(fibers[to], 0);
#endif
    swapcontext(from, &contexts[to]);
  }
  void go_out() {
#ifdef NTH_TEST_FIBERS
    __tsan_switch_to_fiber(outer_fiber, 0);
#endif
    setcontext(&outer);
  }

  static inline interleaving *current = nullptr;
  random_numbers random;
  int steps_between_switches; // on average: 1 to 16, so that long runs of one thread occur too
  int threads = 0;
  int alive = 0;
  int running = 0;
  long steps_made = 0;
  std::string message;
  ucontext_t outer = {};
  ucontext_t contexts[most_threads] = {};
  std::function<void()> bodies[most_threads];
  bool ended[most_threads] = {};
#ifdef NTH_TEST_FIBERS
  void *fibers[most_threads] = {};
  void *outer_fiber = nullptr;
#endif
};

// Runs one(seed) for seeds from `first` on, `count` of them; returns the number of seeds until one failed
// (its text in `what`), or 0 when none did.
inline long first_failure(const std::function<std::string(std::uint64_t)> &one, std::uint64_t first,
                          long count, std::string &what) {
  for (long i = 0; i < count; ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    if (std::string text = one(seed); !text.empty()) {
      what = "seed " + std::to_string(seed) + ": " + text;
      return i + 1;
    }
  }
  return 0;
}

} // namespace nth::test
