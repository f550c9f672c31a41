// The run-time system of paper 001, section 1: one scheduler_t and one queue_t a kernel thread, one task_t a
// task. sync() makes a task for each child and suspends the caller until all have ended.
//
//   fib(n) --sync--> child 0 runs at once on this scheduler; the others wait in its queue, where idle
//                    schedulers steal the oldest; the child that ends last lets the parent go on
//
// A task's memory is given back by the scheduler that ran it last, once it has left the task's stack.
#ifndef NTH_BENCH_TASK_MEMORY_RUNTIME_HPP
#define NTH_BENCH_TASK_MEMORY_RUNTIME_HPP

#include "task_memory/queue.hpp"
#include "task_memory/switch.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <sched.h>

namespace bench::task_memory {

struct child_t {
  void (*root)(task_t &self);
  long argument;
  long *result;
};

struct alignas(128) scheduler_t {
  queue_t queue;
  // The owner alone writes what follows.
  task_t *ended = nullptr;             // whose stack the switch that is under way leaves for good
  task_t *current = nullptr;           // runs after it
  std::atomic<long> made{0}, freed{0}; // tasks: settle()
  task_t loop{};                       // stands for the scheduler's own loop
  context_t loop_context{};
  std::uint64_t random = 0;
};

template <memory_source Memory>
class runtime {
public:
  runtime(Memory &source, int count) : memory(source), pinned(fits(count)) {
    for (int i = 0; i < count; ++i) {
      all.push_back(std::make_unique<worker>());
      worker &w = *all.back();
      w.of = this;
      w.loop.context = &w.loop_context;
      w.loop.on = &w;
      w.random = 0x9e3779b97f4a7c15U * static_cast<unsigned>(i + 1);
    }
    begin(*all[0], 0); // the caller is the first scheduler
    for (int i = 1; i < count; ++i)
      threads.emplace_back([this, i] {
        begin(*all[i], i);
        serve(*all[i], ending);
      });
  }

  ~runtime() {
    ending.store(true);
    wake();
    for (auto &t : threads)
      t.join();
  }
  runtime(const runtime &) = delete;
  runtime &operator=(const runtime &) = delete;

  // Runs one task and returns when it has ended; called by the kernel thread that made this.
  void run(child_t root) {
    done.store(false, std::memory_order_relaxed);
    worker &w = *all[0];
    count(w.made, 1);
    task_t *t = make(w, root, nullptr);
    switch_to(w, w.loop, *t);
    serve(w, done);
  }

  // Called from a task, with what runs it.
  template <std::size_t N>
  static void sync(task_t &self, const std::array<child_t, N> &children) {
    worker &w = on(self);
    self.unfinished.store(static_cast<int>(N), std::memory_order_relaxed);
    // The children that thieves may take can end before this task has left its stack. It is resumed by the
    // last one, and that is not one of these: the first child starts only once the stack has been left.
    count(w.made, static_cast<long>(N));
    task_t *first = make(w, children[0], &self);
    for (std::size_t i = N - 1; i > 0; --i)
      w.queue.push(make(w, children[i], &self));
    switch_to(w, self, *first);
  }

  // All schedulers awake: what waking costs is not to be timed.
  void wake() {
    do {
      epoch.fetch_add(1);
      epoch.notify_all();
      sched_yield();
    } while (asleep.load() != 0);
  }

  // Tasks made so far. Returns once the last one has been given back, which may come a moment after its end.
  long settle() {
    for (;;) {
      long made = 0, freed = 0;
      for (const auto &w : all) {
        freed += w->freed.load(std::memory_order_acquire);
        made += w->made.load(std::memory_order_acquire);
      }
      if (made == freed)
        return made;
      sched_yield();
    }
  }

  template <class Visit>
  void for_each_local(Visit visit) {
    for (const auto &w : all)
      visit(w->memory);
  }

private:
  struct worker : scheduler_t {
    typename Memory::local memory;
    runtime *of = nullptr;
  };

  static bool fits(int count) { return static_cast<std::size_t>(count) <= usable_cores().size(); }

  // No locked instruction: only the owner counts.
  static void count(std::atomic<long> &c, long n) {
    c.store(c.load(std::memory_order_relaxed) + n, std::memory_order_release);
  }

  void begin(worker &w, int index) {
    if (pinned) // else the kernel places them
      pin_self(index);
    memory.enter(w.memory);
  }

  static task_t *make(worker &w, const child_t &child, task_t *parent) {
    task_t *t = w.of->memory.take(w.memory);
    t->root = child.root;
    t->argument = child.argument;
    t->result = child.result;
    t->parent = parent;
    make_context(*t->context, enter);
    return t;
  }

  static worker &on(const task_t &self) { return static_cast<worker &>(*self.on); }

  static void *announce(worker &w, task_t *ended, task_t &to) {
    w.ended = ended;
    w.current = &to;
    to.on = &w;
    return static_cast<scheduler_t *>(&w);
  }

  static void switch_to(worker &w, task_t &from, task_t &to) {
    void *given = announce(w, nullptr, to);
    arrive(switch_context(*from.context, *to.context, given));
  }

  // The first thing on the new stack: only now has the one that ended been left.
  static worker &arrive(void *from) {
    worker &w = static_cast<worker &>(*static_cast<scheduler_t *>(from));
    if (w.ended != nullptr) {
      w.of->memory.give_back(w.memory, w.ended);
      count(w.freed, 1);
    }
    return w;
  }

  static void enter(void *from) {
    task_t &self = *arrive(from).current;
    self.root(self);
    task_t &to = after(self);
    leave_for_context(*to.context, announce(on(self), &self, to));
  }

  // What runs on this scheduler when `self` has ended.
  static task_t &after(task_t &self) {
    worker &w = on(self);
    if (self.parent == nullptr) {
      w.of->done.store(true, std::memory_order_release);
      return w.loop;
    }
    task_t &parent = *self.parent;
    const int left = parent.unfinished.load(std::memory_order_acquire);
    if (left == 1) // this one: nobody else counts any more, so no locked instruction is needed
      return parent;
    task_t *next = w.queue.pop();
    if (left == 2 && next != nullptr && next->parent == &parent) {
      // This one and the next, which has not begun: again nobody else counts.
      parent.unfinished.store(1, std::memory_order_release);
      return *next;
    }
    if (parent.unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      if (next != nullptr)
        w.queue.push(next);
      return parent;
    }
    return next != nullptr ? *next : w.loop;
  }

  void serve(worker &w, const std::atomic<bool> &until) {
    long rounds = 0;
    double idle_since = 0;
    while (!until.load(std::memory_order_acquire)) {
      if (task_t *t = steal(w); t != nullptr) {
        switch_to(w, w.loop, *t);
        rounds = 0;
        continue;
      }
      ++rounds;
      if (pinned)
        __builtin_ia32_pause();
      else // a core may be needed by one that has work
        sched_yield();
      if (rounds % 64 != 0)
        continue;
      if (rounds == 64)
        idle_since = now_ns();
      else if (&w != all[0].get() && now_ns() - idle_since > sleep_after_ns)
        sleep(until);
    }
  }

  // Out of the way of what is measured between the runs.
  void sleep(const std::atomic<bool> &until) {
    const int seen = epoch.load();
    if (until.load())
      return;
    asleep.fetch_add(1);
    epoch.wait(seen);
    asleep.fetch_sub(1);
  }

  task_t *steal(worker &w) {
    const std::size_t others = all.size();
    w.random = w.random * 6364136223846793005U + 1442695040888963407U;
    const std::size_t from = w.random >> 33;
    for (std::size_t i = 0; i < others; ++i) {
      worker &victim = *all[(from + i) % others];
      if (&victim != &w)
        if (task_t *t = victim.queue.steal(); t != nullptr)
          return t;
    }
    return nullptr;
  }

  static constexpr double sleep_after_ns = 2e6;

  Memory &memory;
  const bool pinned;
  std::vector<std::unique_ptr<worker>> all;
  std::vector<std::thread> threads;
  std::atomic<bool> done{false}, ending{false};
  std::atomic<int> epoch{0}, asleep{0};
};

} // namespace bench::task_memory

#endif
