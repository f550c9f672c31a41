// Objects for the tests of free lists, and what becomes of those that go back to the kernel.
#pragma once

#include "memory/free_list.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace nth::test {

using detail::chain;
using detail::free_pools;
using detail::local_list;
using detail::thresholds;

struct object {
  object *next;
  object *next_chain;
  std::uint32_t chain_count;
  int node;
  bool cooled;
  long payload; // the user's: plain, so that ThreadSanitizer sees a list that does not order its users
  std::atomic<int> users;
};

constexpr int most = 4;
using pools_type = free_pools<object, most>;

// What the pools gave back, and what they moved to the global one.
inline std::mutex kernel_lock;
inline std::vector<object *> kernel;
inline long cooled;

inline void release(chain<object> c) noexcept {
  const std::lock_guard scope(kernel_lock);
  while (object *o = c.pop())
    kernel.push_back(o);
}
inline void cool(chain<object> c) noexcept {
  const std::lock_guard scope(kernel_lock);
  for (object *o = c.head; o != nullptr; o = o->next) {
    o->cooled = true;
    ++cooled;
  }
}

class store {
public:
  explicit store(std::size_t count) : objects(new object[count]()), left(count) {}
  object *make(int node) {
    object *o = &objects[--left];
    o->node = node;
    return o;
  }
  chain<object> make_chain(std::uint32_t count, int node = 0) {
    chain<object> c;
    for (std::uint32_t i = 0; i < count; ++i)
      c.push(make(node));
    return c;
  }

private:
  std::unique_ptr<object[]> objects;
  std::size_t left;
};

} // namespace nth::test
