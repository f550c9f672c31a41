// Free lists of one kind of object: worker -> NUMA node -> all -> operating system (paper 001, sections 1
// and 2; figure 2 there).
//
//   local_list          a worker's own, without a lock: at most `local` objects
//     | a chain of local / 2, when it is full       ^ a chain, when it is empty
//   node pool           one a NUMA node, a lock:      at most `node` objects
//     | half of it                                  ^ a chain
//   global pool         one, a lock:                  at most `global` objects
//     | max(1 / workers, the excess)                ^ a chain, of the asking node if there is one
//   release function    gives them back to the kernel
//
// What lies idle is therefore at most workers * local + nodes * node + global objects (paper 001, section
// 1.3), at any time but while one chain is in the hands of the worker that moves it. Objects move in
// chains whose length is known, so each move costs the same whatever it moves.
//
// T has: T *next; T *next_chain; std::uint32_t chain_count. In pools the first object of a chain carries
// the latter two.
#pragma once

#include "base/spinlock.hpp"

#include <cstdint>

namespace nth::detail {

template <class T>
struct chain {
  T *head{nullptr};
  std::uint32_t count{0};

  void push(T *object) noexcept {
    object->next = head;
    head = object;
    ++count;
  }
  T *pop() noexcept {
    T *object = head;
    if (object != nullptr) {
      head = object->next;
      --count;
    }
    return object;
  }
  chain take() noexcept { // all of it
    const chain all = *this;
    *this = {};
    return all;
  }
};

// Last in, first out, in two chains of at most half the bound, so that half of it can move up without a
// walk to its middle (the magazines of Bonwick and Adams, USENIX 2001).
template <class T>
class local_list {
public:
  T *pop() noexcept {
    if (current.head == nullptr)
      current = reserve.take();
    return current.pop();
  }
  // False: the list is at its bound; lift first.
  bool push(T *object, std::uint32_t half) noexcept {
    if (current.count >= half) {
      if (reserve.head != nullptr)
        return false;
      reserve = current.take();
    }
    current.push(object);
    return true;
  }
  const T *peek() const noexcept { return current.head; }
  chain<T> take_reserve() noexcept { return reserve.take(); }
  chain<T> take_current() noexcept { return current.take(); }
  // Into an empty list.
  void fill(chain<T> full) noexcept { current = full; }
  // While nothing moves.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const T *first : {current.head, reserve.head}) {
      for (; first != nullptr; first = first->next)
        visit(first);
    }
  }
  // By others than the owner too, as a number that may be old.
  __attribute__((no_sanitize("thread"))) long count() const noexcept {
    return static_cast<long>(current.count) + reserve.count;
  }

private:
  chain<T> current;
  chain<T> reserve;
};

// Bounds of idle objects. local: at least 2.
struct thresholds {
  long local;
  long node;
  long global;
};

// Chains, linked at their first objects.
template <class T>
struct chain_stack {
  T *first{nullptr};
  long objects{0};

  void push(chain<T> c) noexcept {
    c.head->chain_count = c.count;
    c.head->next_chain = first;
    first = c.head;
    objects += c.count;
  }
  chain<T> pop() noexcept {
    T *head = first;
    if (head == nullptr)
      return {};
    first = head->next_chain;
    objects -= head->chain_count;
    return {head, head->chain_count};
  }
};

// The pools of one kind. `Most` bounds the number of nodes.
template <class T, int Most>
class free_pools {
public:
  // What is done with a chain that goes back to the kernel, and with one that moves to the global pool (or
  // null: nothing).
  using chain_function = void (*)(chain<T>) noexcept;

  void open(int nodes, int workers, thresholds bounds, chain_function release, chain_function cool) noexcept {
    close();
    node_count = nodes;
    part_of_workers = workers;
    bound = bounds;
    give_back = release;
    cool_down = cool;
  }
  void close() noexcept { // forgets what it holds
    for (int n = 0; n < Most; ++n) {
      at_node[n].chains = {};
      overall[n] = {};
    }
    total = 0;
  }

  std::uint32_t half() const noexcept { return static_cast<std::uint32_t>(bound.local / 2); }
  const thresholds &bounds() const noexcept { return bound; }

  // A chain of objects of `node`, moved up from a worker or come home from another node.
  void put(chain<T> c, int node) noexcept {
    if (c.head == nullptr)
      return;
    chain_stack<T> up;
    {
      pool &p = at_node[node];
      lock_scope scope(p.lock);
      p.chains.push(c);
      if (p.chains.objects > bound.node) {
        while (p.chains.objects > bound.node / 2)
          up.push(p.chains.pop());
      }
    }
    if (up.first != nullptr)
      put_overall(up, node);
  }

  // What is left of a chain that came from the global pool.
  void put_back(chain<T> c, int node) noexcept {
    if (c.head == nullptr)
      return;
    lock_scope scope(lock);
    overall[node].push(c);
    total += c.count;
  }

  // A chain of the node's pool, else of the global one: first of this node, then of any (paper 001,
  // section 2, step 4). Empty: the pools are.
  chain<T> take(int node) noexcept {
    {
      pool &p = at_node[node];
      lock_scope scope(p.lock);
      if (p.chains.first != nullptr)
        return p.chains.pop();
    }
    lock_scope scope(lock);
    for (int i = 0; i < node_count; ++i) {
      chain_stack<T> &s = overall[(node + i) % node_count];
      if (s.first == nullptr)
        continue;
      const chain<T> c = s.pop();
      total -= c.count;
      return c;
    }
    return {};
  }

  // Chains of `wanted` objects or more in all, if there are so many: of the node's pool, then of other nodes', then
  // of the global one, with one access to each at most.
  chain_stack<T> take_many(int node, long wanted) noexcept {
    chain_stack<T> taken;
    const auto move = [&taken, wanted](chain_stack<T> &from) {
      const long before = taken.objects;
      while (from.first != nullptr && taken.objects < wanted)
        taken.push(from.pop());
      return taken.objects - before;
    };
    for (int i = 0; i < node_count && taken.objects < wanted; ++i) {
      pool &p = at_node[(node + i) % node_count];
      lock_scope scope(p.lock);
      move(p.chains);
    }
    if (taken.objects < wanted) {
      lock_scope scope(lock);
      for (int i = 0; i < node_count; ++i)
        total -= move(overall[(node + i) % node_count]);
    }
    return taken;
  }

  long at_nodes() noexcept {
    long sum = 0;
    for (int n = 0; n < node_count; ++n)
      sum += at(n);
    return sum;
  }
  long at(int node) noexcept {
    lock_scope scope(at_node[node].lock);
    return at_node[node].chains.objects;
  }
  long in_global() noexcept {
    lock_scope scope(lock);
    return total;
  }
  // Calls visit(first of the node's chains, first of its chains in the global pool) for each node, while
  // nothing moves.
  template <class Visit>
  void visit_chains(Visit visit) noexcept {
    lock_scope scope(lock);
    for (int n = 0; n < node_count; ++n) {
      lock_scope node_scope(at_node[n].lock);
      visit(static_cast<const T *>(at_node[n].chains.first), static_cast<const T *>(overall[n].first));
    }
  }

private:
  struct alignas(64) pool {
    spinlock lock;
    chain_stack<T> chains;
  };

  // Chains that leave a node's pool. What would exceed the global bound goes back to the kernel at once: of
  // the newcomers first, then of what is there, the own node's first.
  void put_overall(chain_stack<T> up, int node) noexcept {
    chain_stack<T> out;
    {
      lock_scope scope(lock);
      const long all = total + up.objects;
      const long excess = all - bound.global;
      const long share = all / part_of_workers;
      const long wanted = excess <= 0 ? 0 : share > excess ? share : excess;
      while (out.objects < wanted && up.first != nullptr)
        out.push(up.pop());
      for (int i = 0; out.objects < wanted && i < node_count;) {
        chain_stack<T> &s = overall[(node + i) % node_count];
        if (s.first == nullptr) {
          ++i;
          continue;
        }
        const chain<T> c = s.pop();
        total -= c.count;
        out.push(c);
      }
      if (cool_down == nullptr)
        add_overall(up, node);
      else
        total += up.objects; // their room, while they are cooled without the lock
    }
    if (cool_down != nullptr && up.first != nullptr) {
      for (T *head = up.first; head != nullptr; head = head->next_chain)
        cool_down({head, head->chain_count});
      lock_scope scope(lock);
      total -= up.objects;
      add_overall(up, node);
    }
    while (out.first != nullptr)
      give_back(out.pop());
  }

  void add_overall(chain_stack<T> &up, int node) noexcept {
    while (up.first != nullptr) {
      const chain<T> c = up.pop();
      overall[node].push(c);
      total += c.count;
    }
  }

  pool at_node[Most];
  alignas(64) spinlock lock;
  chain_stack<T> overall[Most]; // the global pool, by node
  long total{0};
  int node_count{1};
  int part_of_workers{1};
  thresholds bound{2, 0, 0};
  chain_function give_back{nullptr};
  chain_function cool_down{nullptr};
};

// One object for an empty list, and the rest of the chain into it. Of a chain of another node one object is
// taken and the rest stays where it was, so that lists hold objects of their own node alone. NodeOf tells
// the node of an object. Null: the pools are empty.
template <class T, int Most, class NodeOf>
T *refill_from(free_pools<T, Most> &pools, local_list<T> &list, int node, NodeOf node_of) noexcept {
  chain<T> c = pools.take(node);
  T *object = c.pop();
  if (object == nullptr)
    return nullptr;
  const int from = node_of(object);
  if (from == node)
    list.fill(c);
  else
    pools.put_back(c, from);
  return object;
}

// Objects of another node collect at a worker until there are so many, then go home as one chain.
constexpr std::uint32_t chain_length = 64;

} // namespace nth::detail
