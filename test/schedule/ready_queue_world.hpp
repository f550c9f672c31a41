// One seed's world: worker 0, who owns the queue that is looked at; workers 1 and 2, who steal; worker 3, who
// only sends. Included inside the namespace of each copy (ready_queue_mutants.py).
//
// The model: each thread knows in whose queue it was put, and a key, smaller to the front. When the owner of a queue
// pops a thread, those with smaller keys that were put there must be in a thief's hands already: they are passed
// over, and a thread that was passed over may come out only after it has arrived somewhere anew.
//
// In one seed of four memory is refused, and the back window is turned round: then any order will do.

class world {
public:
  world(std::uint64_t seed, bool membarrier)
      : script(seed * 2 + 1), memory(1 << (1 + 2 * script.below(4))), all(seed) {
    static_assert(block_size == checked_slots::size);
    here = this;
    shared_memory = &memory;
    blocks_here = &blocks;
    area_here = &arrays;
    one_sided_barrier = membarrier;
    blocks.scarce = arrays.scarce = disorder = script.one_in(4);
    the_runtime = {};
    the_runtime.workers = workers;
    for (int i = 0; i < workers; ++i) {
      worker &w = team[i];
      the_runtime.worker_at[i] = &w;
      w.id = i;
      w.tick = inbox_period;
      w.own.outgoing = outgoing[i];
      w.request = stepping<std::uint32_t>(membarrier ? request_idle : request_fence);
    }
  }

  std::string run() {
    all.each_step = [this] { memory.may_drain(); };
    const int operations = 6 + script.below(30);
    all.add([this, operations] { own(operations); });
    for (int i = 1; i <= 2; ++i) {
      const int tries = 1 + script.below(8);
      all.add([this, i, tries] { rob(&team[i], tries); });
    }
    const int sent = script.below(16);
    all.add([this, sent] { produce(&team[3], sent); });
    all.run();
    return all.what();
  }

  void on_arrival(worker *w, block *b) { // accept_block
    const std::uint32_t lo = b->lo;
    const std::uint32_t hi = b->hi;
    for (std::uint32_t n = 0; n < hi - lo; ++n) { // in the order in which they were put
      const bool front = b->end == queue_end::front;
      thread &t = of(b->slot[front ? hi - 1 - n : lo + n]);
      put_at(w, t, b->end);
      if (w != &team[0] || t.sent == 0 || done || disorder)
        continue;
      if (t.sent < last_arrived)
        interleaving::fail("what was sent earlier arrives later");
      last_arrived = t.sent;
    }
  }

private:
  static constexpr int workers = 4;
  static constexpr int most_threads = 72;
  static constexpr int most_put = 48; // and those that become ready by their ends

  struct thread {
    nth_desc d{};
    worker *where = nullptr; // whose queue; null: in none, or it is not known
    int key = 0;
    bool passed = false;
    bool ran = false;
    int sent = 0; // the number of its sending to worker 0
  };
  struct keys {
    int front = 0;
    int back = 0;
  };

  // ---- The model ----

  thread &of(const nth_desc *d) {
    for (int i = 0; i < made; ++i) // an address that was never given out is not looked into
      if (&threads[i].d == d)
        return threads[i];
    interleaving::fail("what is popped was never put");
  }
  void put_at(worker *w, thread &t, queue_end end) {
    keys &k = bounds[w->id];
    t.where = w;
    t.key = end == queue_end::front ? --k.front : ++k.back;
    t.passed = false;
  }
  void popped(worker *w, thread &t) {
    if (t.ran)
      interleaving::fail("thread " + name(t) + " is popped after its end");
    if (t.where == w) {
      if (t.passed && !disorder)
        interleaving::fail("thread " + name(t) + " comes after one that was put behind it");
      for (int i = 0; i < made; ++i)
        if (threads[i].where == w && threads[i].key < t.key)
          threads[i].passed = true;
    }
    t.where = nullptr;
  }
  std::string name(const thread &t) const { return std::to_string(&t - threads); }

  // ---- Threads ----

  // In groups: the last of a group to end makes another one ready.
  nth_desc *make() {
    if (group_left == 0 && made + 6 < most_threads) {
      group_left = 1 + script.below(5);
      group = &threads[made++].d;
      prepare_desc(group, nullptr, nullptr, group_left, 0);
    }
    return make_of_group();
  }
  nth_desc *make_of_group() {
    nth_desc *d = &threads[made++].d;
    prepare_desc(d, nullptr, group_left > 0 ? group : nullptr, 0, 0);
    set_state(d, thread_state::ready_fresh);
    group_left -= group_left > 0 ? 1 : 0;
    ++put;
    return d;
  }
  bool may_make(int n) const { return put + n <= most_put && made + n + 6 < most_threads; }

  void put_here(worker *w, int n, queue_end end) { // together, in one bracket
    nth_desc *some[8];
    for (int i = 0; i < n; ++i)
      some[i] = make();
    enter(w);
    for (int i = 0; i < n; ++i) {
      nth_desc *d = some[end == queue_end::front ? n - 1 - i : i];
      put_at(w, of(d), end);
      end == queue_end::front ? push_front(w, d) : push_back(w, d);
    }
    leave_sharing(w);
  }
  void send(worker *w, int to, nth_desc *d) {
    const queue_end end = script.one_in(3) ? queue_end::front : queue_end::back;
    enter(w);
    if (to == 0)
      of(d).sent = ++last_sent;
    push_outgoing(w, to, d, end);
    leave_sharing(w);
  }

  void turn_round(worker *w) { // a creator above its bound
    enter(w);
    if (!w->own.back.empty())
      turn_back_window(w);
    leave_sharing(w);
  }

  bool run_one(worker *w) {
    enter(w);
    nth_desc *d = pop(w);
    if (d != nullptr)
      popped(w, of(d));
    leave_sharing(w);
    if (d == nullptr)
      return false;
    thread &t = of(d);
    for (int n = script.below(4); n > 0; --n)
      interleaving::step();
    if (script.one_in(6)) { // it yields
      enter(w);
      put_at(w, t, queue_end::back);
      push_back(w, d);
      leave_sharing(w);
      return true;
    }
    if (t.ran)
      interleaving::fail("thread " + name(t) + " runs twice");
    t.ran = true;
    ++ran;
    enter(w);
    if (d->succ != nullptr)
      count_ended(w, d->succ);
    leave_sharing(w);
    return true;
  }

  // ---- Workers ----

  void own(int operations) {
    worker *w = &team[0];
    for (int n = 0; n < operations; ++n) {
      const int what = script.below(16);
      const queue_end end = script.one_in(2) ? queue_end::front : queue_end::back;
      if (what < 6 && may_make(1))
        put_here(w, 1, end);
      else if (what < 8 && may_make(7))
        put_here(w, 2 + script.below(6), end);
      else if (what == 8 && may_make(1))
        send(w, 1, make());
      else if (what == 9 && disorder)
        turn_round(w);
      else
        run_one(w);
    }
    while (group_left > 0) {
      nth_desc *d = make_of_group();
      enter(w);
      put_at(w, of(d), queue_end::back);
      push_back(w, d);
      leave_sharing(w);
    }
    // What others have got and will not run: it becomes a thief itself.
    for (int i = 0; ran < made || !produced; i = (i + 1) % workers) {
      if (run_one(w))
        continue;
      if (i == 0)
        interleaving::wait();
      else if (script.one_in(2))
        done = true, steal(w, &team[i]) || steal_private(w, &team[i], 300);
    }
  }

  void produce(worker *w, int n) {
    for (; n > 0 && may_make(1); --n)
      send(w, 0, make_of_group());
    if (script.one_in(2)) {
      enter(w);
      flush_outgoing(w);
      leave_sharing(w);
    }
    produced = true;
  }

  void rob(worker *w, int tries) {
    for (; tries > 0; --tries) {
      worker *victim = &team[script.one_in(4) ? 3 : script.one_in(4) ? 3 - w->id : 0];
      switch (script.below(8)) {
      case 0:
        steal(w, victim);
        break;
      case 1:
      case 2:
      case 3:
        go_to_sleep(w, victim);
        break;
      default:
        steal_private(w, victim, static_cast<std::uint64_t>(script.below(4)) * 100);
      }
      while (run_one(w))
        continue;
    }
  }
  // Of sleep and last_look in idle.cpp, what touches a victim.
  void go_to_sleep(worker *w, worker *victim) {
    the_runtime.sleepers.fetch_add(1, std::memory_order_seq_cst);
    victim->request.fetch_or(request_poison, std::memory_order_seq_cst);
    const bool asked = ask(w, victim);
    if (one_sided_barrier)
      os::barrier_all();
    for (int n = script.below(12); n > 0; --n) // it looks into several
      interleaving::step();
    if (asked && !script.one_in(4))
      look_into(w, victim);
    withdraw(w, victim);
    the_runtime.sleepers.fetch_sub(1, std::memory_order_seq_cst);
  }

  static inline world *here = nullptr;
  friend void arrived(worker *w, block *b) noexcept { here->on_arrival(w, b); }

  random_numbers script; // what is done; `all` decides in which order
  memory_of_all memory;
  interleaving all;
  block_memory blocks;
  area arrays;
  worker team[workers];
  window outgoing[workers][workers];

  thread threads[most_threads];
  keys bounds[workers];
  nth_desc *group = nullptr;
  int group_left = 0;
  int made = 0;
  int put = 0;
  int ran = 0;
  int last_sent = 0;
  int last_arrived = 0;
  bool produced = false;
  bool done = false; // the owner steals
  bool disorder = false;
};

inline std::string one_interleaving(std::uint64_t seed, bool membarrier) {
  auto one = std::make_unique<world>(seed, membarrier); // too large for the stack
  return one->run();
}

void wake_after_send(worker * /*to*/) noexcept {}
void wake_one(worker * /*prefer*/) noexcept {}

#undef the_blocks
#undef the_area
