#include "memory/stack.hpp"

#include "memory/annotate.hpp"
#include "os/os.hpp"

namespace nth::detail {

stack_memory the_stacks;
std::uintptr_t stack_last = 0;
constinit stack_top no_stack{};

namespace {

// Small stacks are carved by so many bytes at a time, sparse ones singly.
constexpr std::size_t dense_carve = std::size_t{16} << 10;

constexpr std::size_t size_of(unsigned r) noexcept { return std::size_t{1} << (r + smallest_class_log2); }
constexpr bool sparse(unsigned r) noexcept { return r >= stack_region(first_sparse_log2); }

stack_top *top_at(char *bottom, unsigned r) noexcept {
  return reinterpret_cast<stack_top *>(bottom + size_of(r)) - 1;
}

void release_stacks(chain<stack_top> c) noexcept { the_stacks.give_back(c); }

// Stacks that move to the global pool keep their top page alone.
void cool_stacks(chain<stack_top> c) noexcept {
  for (const stack_top *top = c.head; top != nullptr; top = top->next) {
    const std::uintptr_t low = stack_bottom(top) + the_stacks.guard_size(region_of_stack(top));
    const std::uintptr_t high = reinterpret_cast<std::uintptr_t>(top + 1) - os::page_size();
    if (low < high)
      os::discard(reinterpret_cast<void *>(low), high - low);
  }
}

// A stack of a page or more costs a page or a little more, whatever its size; of smaller ones a page holds several.
constexpr long scaled(long bound, std::size_t size) noexcept {
  constexpr std::size_t page = 4096;
  constexpr long most = 1L << 30; // what 32 bits count
  const long n = size < page ? bound * static_cast<long>(page / size) : bound;
  return n < most ? n : most;
}

} // namespace

bool stack_memory::open(unsigned size_log2, bool guarded, thresholds bounds, int nodes,
                        int workers) noexcept {
  log2 = size_log2;
  stack_last = (std::uintptr_t{1} << size_log2) - 1;
  bare = 0;
  for (unsigned r = 0; r < stack_regions; ++r) {
    const thresholds own = {scaled(bounds.local, size_of(r)), scaled(bounds.node, size_of(r)),
                            scaled(bounds.global, size_of(r))};
    of[r].pools.open(nodes, workers, own, release_stacks, sparse(r) ? cool_stacks : nullptr);
    of[r].made = of[r].most = 0;
  }
  method = static_cast<std::uint8_t>(os::guard_method::none);
  if (!guarded)
    return true;
  // The method is proved on a stack of its own, which then joins the pool.
  std::size_t count = 1;
  content holds{};
  char *stack = carve_some(region(), the_area.homes - 1, count, holds);
  if (stack == nullptr)
    return false;
  method = static_cast<std::uint8_t>(os::find_guard_method(stack));
  chain<stack_top> one;
  one.push(top_at(stack, region()));
  dress(one.head, holds);
  put(region(), one, the_area.node_of(stack));
  return true;
}

void stack_memory::close() noexcept {
  for (stack_class &c : of)
    c.pools.close();
}

std::size_t stack_memory::guard_size(unsigned r) const noexcept {
  return !sparse(r) || method == static_cast<std::uint8_t>(os::guard_method::none) ? 0 : os::page_size();
}

void stack_memory::count_made(unsigned r, long n) noexcept {
  stack_class &c = of[r];
  const long now = __atomic_add_fetch(&c.made, n, __ATOMIC_RELAXED);
  long most = __atomic_load_n(&c.most, __ATOMIC_RELAXED);
  while (now > most &&
         !__atomic_compare_exchange_n(&c.most, &most, now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

char *stack_memory::carve_some(unsigned r, int home, std::size_t &count, content &holds) noexcept {
  auto *stack = static_cast<char *>(the_area.carve(r, home, size_of(r), count, holds));
  if (stack != nullptr)
    count_made(r, static_cast<long>(count));
  return stack;
}

void stack_memory::dress(stack_top *top, content holds) noexcept {
  auto *bottom = reinterpret_cast<void *>(stack_bottom(top));
  const unsigned r = region_of_stack(top);
  bool guarded = guard_size(r) != 0;
  if (guarded && holds == content::fresh) { // a guard page outlives what give_back does
    guarded = os::guard(bottom, static_cast<os::guard_method>(method));
    if (!guarded)
      __atomic_fetch_add(&bare, 1, __ATOMIC_RELAXED);
  } else if (!guarded && sparse(r) && holds == content::fresh) {
    __atomic_fetch_add(&bare, 1, __ATOMIC_RELAXED);
  }
  annotate::new_stack(top, reinterpret_cast<std::uintptr_t>(bottom) + (guarded ? os::page_size() : 0));
}

stack_top *stack_memory::carve(int home, content &holds) noexcept {
  std::size_t count = 1;
  char *stack = carve_some(region(), home, count, holds);
  if (stack == nullptr)
    return nullptr;
  stack_top *top = top_at(stack, region());
  dress(top, holds);
  return top;
}

void stack_memory::give_back(stack_top *top, part::last_look look) noexcept {
  const unsigned r = region_of_stack(top);
  annotate::forget_stack(top);
  count_made(r, -1);
  the_area.give_back(reinterpret_cast<void *>(stack_bottom(top)), guard_size(r), look);
}

void stack_memory::give_back(chain<stack_top> c) noexcept {
  const unsigned r = region_of_stack(c.head);
  count_made(r, -static_cast<long>(c.count));
  release_run run(guard_size(r), nullptr);
  while (stack_top *top = c.pop()) {
    annotate::forget_stack(top);
    run.give(the_area.part_of(top), reinterpret_cast<void *>(stack_bottom(top)));
  }
}

stack_top *stack_memory::refill(unsigned r, int home, stack_list &list) noexcept {
  const auto node_of = [](const stack_top *top) { return the_area.node_of(top); };
  if (stack_top *top = refill_from(of[r].pools, list, home >> the_area.node_shift, node_of))
    return top;
  std::size_t count = sparse(r) ? 1 : dense_carve / size_of(r);
  if (count > half(r))
    count = half(r);
  content holds{};
  char *stack = carve_some(r, home, count, holds);
  if (stack == nullptr)
    return nullptr;
  // The lowest on top of the list, so that memory is used upwards.
  chain<stack_top> fresh;
  for (std::size_t i = count; i > 0; --i) {
    stack_top *top = top_at(stack + (i - 1) * size_of(r), r);
    dress(top, holds);
    fresh.push(top);
  }
  list.fill(fresh);
  return list.pop();
}

bool stack_memory::prepare(int home, long count, stack_list &into) noexcept {
  while (count > 0) {
    auto got = static_cast<std::size_t>(count);
    content holds{};
    char *stack = carve_some(region(), home, got, holds);
    if (stack == nullptr)
      return false;
    for (std::size_t i = 0; i < got; ++i) {
      stack_top *top = top_at(stack + i * size(), region());
      dress(top, holds);
      while (!into.push(top, half(region())))
        lift(region(), into, home >> the_area.node_shift);
    }
    count -= static_cast<long>(got);
  }
  return true;
}

stack_memory::numbers stack_memory::count(unsigned r) noexcept {
  stack_class &c = of[r];
  return {__atomic_load_n(&c.made, __ATOMIC_RELAXED), __atomic_load_n(&c.most, __ATOMIC_RELAXED),
          c.pools.at_nodes(), c.pools.in_global()};
}

long stack_memory::allocated() noexcept {
  long sum = 0;
  for (const stack_class &c : of)
    sum += __atomic_load_n(&c.made, __ATOMIC_RELAXED);
  return sum;
}

long stack_memory::most() noexcept {
  long sum = 0;
  for (const stack_class &c : of)
    sum += __atomic_load_n(&c.most, __ATOMIC_RELAXED);
  return sum;
}

long stack_memory::unguarded() noexcept { return __atomic_load_n(&bare, __ATOMIC_RELAXED); }

} // namespace nth::detail
