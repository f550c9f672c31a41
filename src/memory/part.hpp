// The memory of one home for one kind of object: a growing prefix of a range of reserved addresses, and a
// map of the objects in it that were given back.
//
//   |#### carved ######|.... committed ....|  reserved, no access                  |
//    one bit an object in marks::released: 1, given back and not carved again
//
// An object that is given back keeps its address, and its pages go to the kernel as soon as no object in
// use shares them. Smaller objects than a page share one: 64 descriptors, 16 stacks of 256 bytes. A word of
// the map stands for 64 objects, a whole number of pages for each kind.
#pragma once

#include "base/spinlock.hpp"

#include <cstddef>
#include <cstdint>

namespace nth::detail {

// What carved objects hold.
enum class content : std::uint8_t {
  fresh,   // zeros: never used before
  cleared, // zeros: used before, and their pages were given to the kernel since
  kept     // what they held when they were given back
};

class part {
public:
  // `size`: of one object, or 0 for pieces of any size, which are never given back. `map`: reserved memory
  // for the map. `dense`: huge pages are welcome. `code`: what lies there may be executed.
  void place(std::uintptr_t begin, std::size_t bytes, std::size_t size, std::uintptr_t map, bool dense,
             bool code = false) noexcept;

  // The next `count` objects of `size` bytes side by side, or as many as there are, at least one; their
  // number in `count`. Those that were given back come first. nullptr: this part is full (full() is true
  // then) or the kernel refused memory.
  void *carve(std::size_t size, std::size_t &count, content &holds) noexcept;
  void *carve(std::size_t size, std::size_t &count) noexcept {
    content any{};
    return carve(size, count, any);
  }
  bool full(std::size_t size) noexcept;

  // Before pages are given to the kernel: reads what must outlive them, and may add to `kept_number`.
  using last_look = void (*)(part &from, std::uintptr_t begin, std::size_t bytes) noexcept;
  // Gives an object back; see release_run for many of them.
  void give_back(void *what, std::size_t untouched, last_look look) noexcept;

  // Calls visit(address) for each object that is carved and not given back.
  template <class Visit>
  void for_each(Visit visit) noexcept {
    lock_scope scope(lock);
    for (std::size_t i = 0, n = carved_bytes / object; i < n; ++i) {
      if (i % 64 == 0 && has_map(i) && map[i / 64].released == ~std::uint64_t{0})
        i += 63;
      else if (!has_map(i) || (map[i / 64].released >> i % 64 & 1) == 0)
        visit(first + i * object);
    }
  }

  std::uintptr_t begin() const noexcept { return first; }
  std::size_t carved() noexcept; // bytes, without those that were given back
  std::size_t prefix() noexcept; // bytes that have been carved at some time
  std::size_t committed() noexcept;

  // Kept for the part's user, under the lock of give_back: see last_look. Starts at 0.
  std::uint32_t kept_number{0};

private:
  friend class release_run;

  struct marks { // of 64 objects
    std::uint64_t released;
    std::uint64_t lost; // of these: their pages were given to the kernel since
  };

  bool commit_to(std::size_t bytes) noexcept;
  bool commit_map(std::size_t bytes) noexcept;
  void *carve_released(std::size_t &count, content &holds) noexcept;
  bool has_map(std::size_t i) const noexcept { return i / 64 < map_words; }
  std::uint64_t page_mates(std::size_t i, std::uintptr_t &begin, std::size_t &bytes) const noexcept;

  spinlock lock;
  bool dense_pages{false};
  bool holds_code{false};
  std::uintptr_t first{0};
  std::size_t size_bytes{0};
  std::size_t committed_bytes{0};
  std::size_t carved_bytes{0};
  std::size_t object{0};
  marks *map{nullptr};
  std::size_t map_words{0};   // committed
  std::size_t lowest_word{0}; // no bit is set below
  std::size_t released_count{0};
};

// Gives objects back one after the other, of any parts: the lock of a part is held while objects of it follow
// one another, and pages side by side go to the kernel by one call.
class release_run {
public:
  // The first `untouched_bytes` of each object (a guard page) are left alone; 0 for objects that share pages.
  // The last look may be null.
  release_run(std::size_t untouched_bytes, part::last_look last) noexcept
      : untouched(untouched_bytes), look(last) {}
  ~release_run() noexcept { end(); }
  release_run(const release_run &) = delete;
  release_run &operator=(const release_run &) = delete;
  void give(part &to, void *what) noexcept;

private:
  void discard() noexcept;
  void end() noexcept;

  part *from{nullptr}; // locked
  std::size_t untouched;
  part::last_look look;
  std::uintptr_t pages{0};
  std::uintptr_t pages_end{0};
};

inline void part::give_back(void *what, std::size_t untouched, last_look look) noexcept {
  release_run(untouched, look).give(*this, what);
}

} // namespace nth::detail
