// Memory that keeps its address, for C++: containers whose elements lie where nth_isomalloc puts them.
//
//   std::vector<double, nth::iso_allocator<double>> grid(1000);
//   std::pmr::string name("…", nth::iso_memory_resource());
//
// As nth/iso.h says, a block belongs to the thread that allocates it, not to the container: it moves with that thread,
// and is gone when that thread ends, whoever has the container then. Nothing is destructed by that: a container that
// other threads fill, or that outlives the thread, must have been emptied before, and what a spawned call, or a piece of
// a loop, allocates may belong to a thread of its own. A kernel thread that is no worker allocates for its rank.
//
// Other threads never run on the worker during an allocation (nth_isoaligned_alloc_here), so a std::mutex may be held.
#ifndef NTH_ISO_HPP
#define NTH_ISO_HPP

#include "nth/iso.h"

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory_resource>
#include <new>
#include <type_traits>

namespace nth {
namespace detail {

[[noreturn]] inline void no_iso_memory() {
#ifdef __cpp_exceptions
  throw std::bad_alloc();
#else
  std::abort();
#endif
}

[[noreturn]] inline void too_many_for_iso() {
#ifdef __cpp_exceptions
  throw std::bad_array_new_length();
#else
  std::abort();
#endif
}

} // namespace detail

// An allocator without state: all are equal, and any frees what another has allocated. T may be over-aligned.
// Compiled without exceptions it ends the program (std::abort) where it would throw.
template <class T>
class iso_allocator {
public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using propagate_on_container_move_assignment = std::true_type;
  using is_always_equal = std::true_type;

  constexpr iso_allocator() noexcept = default;
  template <class U>
  constexpr iso_allocator(const iso_allocator<U> & /*other*/) noexcept {
  } // NOLINT(google-explicit-constructor)

  // Room for n objects, of n = 0 a block too. Throws std::bad_array_new_length when no object is as large, else
  // std::bad_alloc for the errors of nth_isomalloc; nth_last_error says which. [any, between nth_init and nth_finalize]
  [[nodiscard]] T *allocate(std::size_t n) {
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(T))
      detail::too_many_for_iso();
    void *block = nth_isoaligned_alloc_here(alignof(T), n * sizeof(T));
    if (block == nullptr)
      detail::no_iso_memory();
    return static_cast<T *>(block);
  }

  // What allocate returned, to any of these allocators; mistakes as nth_isofree. [any, on the rank of its thread]
  void deallocate(T *block, std::size_t /*n*/) noexcept { nth_isofree(block); }
};

template <class T, class U>
constexpr bool operator==(const iso_allocator<T> & /*a*/, const iso_allocator<U> & /*b*/) noexcept {
  return true;
}

// The same for std::pmr: all are equal. Alignments: powers of two. Throws std::bad_alloc.
class iso_resource final : public std::pmr::memory_resource {
public:
  constexpr iso_resource() noexcept = default;

private:
  void *do_allocate(std::size_t bytes, std::size_t alignment) override {
    void *block = nth_isoaligned_alloc_here(alignment, bytes);
    if (block == nullptr)
      detail::no_iso_memory();
    return block;
  }
  void do_deallocate(void *block, std::size_t /*bytes*/, std::size_t /*alignment*/) override {
    nth_isofree(block);
  }
  bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override {
#ifdef __cpp_rtti
    return this == &other || dynamic_cast<const iso_resource *>(&other) != nullptr;
#else
    return this == &other;
#endif
  }
};

namespace detail {

// A container that moves to another rank leads to the resource there: it is there from the start, at the same
// address, and to the end of the process.
union iso_resource_for_ever {
  iso_resource resource;
  constexpr iso_resource_for_ever() noexcept : resource() {}
  ~iso_resource_for_ever() {}
};
#ifdef __cpp_constinit
constinit
#endif
    inline iso_resource_for_ever the_iso_resource;

} // namespace detail

// The one of the program; never null. [any]
inline iso_resource *iso_memory_resource() noexcept { return &detail::the_iso_resource.resource; }

} // namespace nth

#endif // NTH_ISO_HPP
