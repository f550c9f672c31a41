// What the copies of the ready queue (ready_queue_mutants.py) are made of in place of std::atomic and plain words.
#pragma once

#include "store_buffer.hpp"

#include "base/error.hpp"
#include "memory/free_list.hpp"
#include "memory/stack.hpp"
#include "nth/spawn.h"
#include "thread/descriptor.hpp"

#include <cstdint>
#include <string>
#include <type_traits>

namespace nth::test::ready_queue {

using namespace nth::detail;
using namespace nth::test;

using memory_of_all = store_buffers_of<std::uint64_t>;
inline memory_of_all *shared_memory = nullptr;

// An atomic: stores wait in the store buffer, but sequentially consistent ones, which are locked instructions.
template <class T>
class stepping {
public:
  stepping() = default;
  stepping(T value) : at{word_of(value)} {}

  T load(std::memory_order) const { return value_of(shared_memory->load(at)); }
  void store(T value, std::memory_order order) {
    if (order == std::memory_order_seq_cst)
      shared_memory->exchange(at, word_of(value));
    else
      shared_memory->store(at, word_of(value));
  }
  T exchange(T value, std::memory_order) { return value_of(shared_memory->exchange(at, word_of(value))); }
  T fetch_add(T n, std::memory_order) { return value_of(shared_memory->fetch_add(at, word_of(n))); }
  T fetch_sub(T n, std::memory_order) { return value_of(shared_memory->fetch_add(at, 0 - word_of(n))); }
  T fetch_or(T bits, std::memory_order) { return value_of(shared_memory->fetch_or(at, word_of(bits))); }
  T fetch_and(T bits, std::memory_order) { return value_of(shared_memory->fetch_and(at, word_of(bits))); }
  bool compare_exchange_strong(T &expected, T desired, std::memory_order,
                               std::memory_order = std::memory_order_relaxed) {
    std::uint64_t seen = word_of(expected);
    const bool done = shared_memory->compare_exchange(at, seen, word_of(desired));
    expected = value_of(seen);
    return done;
  }
  bool compare_exchange_weak(T &expected, T desired, std::memory_order success, std::memory_order failure) {
    return compare_exchange_strong(expected, desired, success, failure);
  }

private:
  static std::uint64_t word_of(T value) {
    if constexpr (std::is_pointer_v<T>)
      return reinterpret_cast<std::uintptr_t>(value);
    else
      return static_cast<std::uint64_t>(value);
  }
  static T value_of(std::uint64_t word) {
    if constexpr (std::is_pointer_v<T>)
      return reinterpret_cast<T>(word);
    else
      return static_cast<T>(word);
  }
  memory_of_all::word at;
};

// A plain word of the private part or of a block: before each use somebody else may go on. Its stores are seen
// at once, for what orders them is the atomics.
template <class T>
class watched {
public:
  watched() = default;
  watched(T value) : word(value) {}
  watched(const watched &) = default;
  watched &operator=(const watched &other) {
    interleaving::step();
    word = other.word;
    return *this;
  }
  operator T() const {
    interleaving::step();
    return word;
  }
  T operator->() const {
    interleaving::step();
    if (word == nullptr)
      interleaving::fail("a window without a block is used");
    return word;
  }
  T operator++() { return *this += 1; }
  T operator--() { return *this -= 1; }
  T operator++(int) { return (*this += 1) - 1; }
  T operator+=(T n) {
    interleaving::step();
    return word += n;
  }
  T operator-=(T n) {
    interleaving::step();
    return word -= n;
  }

private:
  T word{};
};

// The slots of a block.
class checked_slots {
public:
  static constexpr std::uint32_t size = 4;
  nth_desc *&operator[](std::uint32_t i) {
    if (i >= size)
      interleaving::fail("a slot outside of its block is used");
    return slot[i];
  }

private:
  nth_desc *slot[size];
};

} // namespace nth::test::ready_queue
