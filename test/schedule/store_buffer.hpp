// The memory of an x86-64 machine as its programs see it (Sewell et al., "x86-TSO", CACM 2010): each kernel
// thread's stores wait in a buffer, first in first out, seen by itself at once and by others when they drain;
// a locked instruction drains its own buffer first. membarrier(2) drains all.
#pragma once

#include "interleaving.hpp"

#include <cstdint>

namespace nth::test {

template <class Value>
class store_buffers_of {
public:
  struct word {
    Value value = 0;
  };

  // A store waits for one_in steps, on average.
  explicit store_buffers_of(int one_in) : patience(one_in) {}

  Value load(const word &from) {
    interleaving::step();
    const buffer &own = buffers[interleaving::self()];
    for (int i = own.count; i-- > 0;)
      if (own.waiting[i].to == &from)
        return own.waiting[i].value;
    return from.value;
  }
  void store(word &to, Value value) {
    interleaving::step();
    buffer &own = buffers[interleaving::self()];
    if (own.count == depth)
      drain_one(own);
    own.waiting[own.count++] = {&to, value};
  }
  bool compare_exchange(word &at, Value &expected, Value desired) {
    interleaving::step();
    drain(buffers[interleaving::self()]);
    if (at.value == expected) {
      at.value = desired;
      return true;
    }
    expected = at.value;
    return false;
  }
  Value exchange(word &at, Value desired) {
    interleaving::step();
    drain(buffers[interleaving::self()]);
    return std::exchange(at.value, desired);
  }
  Value fetch_add(word &at, Value n) {
    interleaving::step();
    drain(buffers[interleaving::self()]);
    return std::exchange(at.value, at.value + n);
  }
  Value fetch_or(word &at, Value bits) {
    interleaving::step();
    drain(buffers[interleaving::self()]);
    return std::exchange(at.value, at.value | bits);
  }
  Value fetch_and(word &at, Value bits) {
    interleaving::step();
    drain(buffers[interleaving::self()]);
    return std::exchange(at.value, at.value & bits);
  }
  void barrier_all() {
    interleaving::step();
    for (buffer &one : buffers)
      drain(one);
  }

  // By itself, at any step.
  void may_drain() {
    if (!interleaving::choice().one_in(patience))
      return;
    buffer &one = buffers[interleaving::choice().below(interleaving::most_threads)];
    if (one.count > 0)
      drain_one(one);
  }

private:
  static constexpr int depth = 16;
  struct entry {
    word *to;
    Value value;
  };
  struct buffer {
    entry waiting[depth];
    int count = 0;
  };
  static void drain_one(buffer &one) {
    one.waiting[0].to->value = one.waiting[0].value;
    for (int i = 1; i < one.count; ++i)
      one.waiting[i - 1] = one.waiting[i];
    --one.count;
  }
  static void drain(buffer &one) {
    while (one.count > 0)
      drain_one(one);
  }

  int patience;
  buffer buffers[interleaving::most_threads];
};

using store_buffers = store_buffers_of<std::uint32_t>;

} // namespace nth::test
