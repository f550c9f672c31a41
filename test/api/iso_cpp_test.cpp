// Containers of C++ whose elements keep their addresses.
#include "iso.hpp"
#include "nth/iso.hpp"

#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

using namespace nth::test;

namespace {

template <class T>
using allocator = nth::iso_allocator<T>;
using traits = std::allocator_traits<allocator<int>>;
static_assert(traits::is_always_equal::value);
static_assert(traits::propagate_on_container_move_assignment::value);
static_assert(std::is_same_v<traits::rebind_alloc<std::string>, allocator<std::string>>);
static_assert(std::is_empty_v<allocator<int>> && std::is_trivially_copyable_v<allocator<int>>);
static_assert(noexcept(allocator<int>(allocator<long>())) && allocator<int>() == allocator<long>());

using iso_string = std::basic_string<char, std::char_traits<char>, allocator<char>>;

struct hash {
  std::size_t operator()(const iso_string &s) const { return std::hash<std::string_view>()(s); }
};

bool in_slots(const void *block) { return nth_isousable_size(block) != 0; }

// Fills and reads one of each. In threads they must be gone when the thread ends.
void use_containers(int n) {
  std::vector<int, allocator<int>> numbers;
  for (int i = 0; i < n; ++i)
    numbers.push_back(i);
  EXPECT_TRUE(n == 0 || in_slots(numbers.data()));
  std::map<int, iso_string, std::less<>, allocator<std::pair<const int, iso_string>>> words;
  std::unordered_map<iso_string, int, hash, std::equal_to<>, allocator<std::pair<const iso_string, int>>>
      lengths;
  for (int i = 0; i < n; ++i) {
    words[i] = iso_string(static_cast<std::size_t>(i), 'x');
    lengths[words[i]] = i;
    if (i % 50 == 0)
      nth_yield();
  }
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(numbers[static_cast<std::size_t>(i)], i);
    EXPECT_EQ(words[i].size(), static_cast<std::size_t>(i));
    EXPECT_EQ(lengths[words[i]], i);
  }
  std::deque<double, allocator<double>> queue(static_cast<std::size_t>(n), 1.5);
  std::list<iso_string, allocator<iso_string>> list;
  for (const auto &[number, word] : words)
    list.push_back(word);
  list.sort(std::greater<>());
  EXPECT_EQ(list.size(), queue.size());

  std::vector<int, allocator<int>> moved = std::move(numbers);
  std::vector<int, allocator<int>> other(3, 7);
  other = std::move(moved);
  EXPECT_EQ(other.size(), static_cast<std::size_t>(n));
  const auto shared = std::allocate_shared<iso_string>(allocator<char>(), "shared");
  EXPECT_TRUE(in_slots(other.data()) || n == 0);
  EXPECT_EQ(*shared, "shared");
}

class iso_cpp : public testing::TestWithParam<nth_policy> {
protected:
  const watchdog guard{60};
};

TEST_P(iso_cpp, containers_in_threads_and_outside) {
  const runtime up(options(3, GetParam()));
  use_containers(200);
  const long taken = iso_stats().slots_taken;
  run([] {
    auto body = [] { use_containers(300); };
    nth_depadd(nth_self(), 11);
    for (int i = 0; i < 10; ++i)
      nth_to_lrq(i % kthreads, create(body, nth_self()));
    nth_block();
    use_containers(0);
  });
  expect_slots_taken(taken);
}

TEST_P(iso_cpp, memory_resource) {
  const runtime up(options(2, GetParam()));
  run([] {
    std::pmr::memory_resource *resource = nth::iso_memory_resource();
    ASSERT_NE(resource, nullptr);
    EXPECT_EQ(resource, nth::iso_memory_resource());
    nth::iso_resource other;
    EXPECT_TRUE(resource->is_equal(other));
    EXPECT_TRUE(other.is_equal(*resource));
    EXPECT_FALSE(resource->is_equal(*std::pmr::new_delete_resource()));
    std::pmr::vector<std::pmr::string> names(resource);
    std::pmr::map<int, std::pmr::string> by_number(resource);
    for (int i = 0; i < 500; ++i) {
      names.emplace_back(std::pmr::string(100, 'a'));
      by_number[i] = names.back();
      if (i % 100 == 0)
        nth_yield();
    }
    EXPECT_TRUE(in_slots(names.data()));
    EXPECT_TRUE(in_slots(names[7].data()));
    EXPECT_TRUE(in_slots(by_number[7].data()));
    void *block = other.allocate(1000, 4096);
    EXPECT_TRUE(is_multiple(block, 4096));
    resource->deallocate(block, 1000, 4096);
    std::pmr::unsynchronized_pool_resource pool(resource);
    std::pmr::vector<int> pooled({1, 2, 3}, &pool);
    pooled.resize(10'000);
    EXPECT_EQ(pooled[2], 3);
  });
  expect_slots_taken(0);
}

struct alignas(256) wide {
  char bytes[300];
};
struct alignas(4096) page {
  char bytes[4096];
};

TEST_P(iso_cpp, over_aligned_objects) {
  const runtime up(options(1, GetParam()));
  run([] {
    std::vector<wide, allocator<wide>> all(9);
    for (const wide &one : all)
      EXPECT_TRUE(is_multiple(&one, 256));
    for (std::size_t i = 1; i < 6; ++i) {
      EXPECT_NE(allocator<char>().allocate(i * 5000), nullptr); // at a multiple of 1 KiB
      EXPECT_TRUE(is_multiple(allocator<page>().allocate(1), 4096));
    }
    wide *none = allocator<wide>().allocate(0);
    EXPECT_NE(none, nullptr);
    allocator<wide>().deallocate(none, 0);
  });
}

#ifdef __cpp_exceptions
TEST_P(iso_cpp, errors_are_exceptions) {
  nth_options o = options(1, GetParam());
  o.iso_size = 1 << 20;
  EXPECT_THROW(static_cast<void>(allocator<int>().allocate(1)), std::bad_alloc) << "the run-time is not up";
  EXPECT_THROW(static_cast<void>(nth::iso_memory_resource()->allocate(1)), std::bad_alloc);
  const runtime up(o);
  run([] {
    volatile std::size_t much = SIZE_MAX / 2;
    EXPECT_THROW(static_cast<void>(allocator<int>().allocate(much)), std::bad_array_new_length);
    EXPECT_THROW(static_cast<void>(allocator<char>().allocate(much)), std::bad_alloc);
    EXPECT_THROW(static_cast<void>(nth::iso_memory_resource()->allocate(much)), std::bad_alloc);
    std::vector<int, allocator<int>> numbers(1000, 5);
    EXPECT_THROW(numbers.resize(1 << 20), std::bad_alloc);
    EXPECT_THAT_NAMES(nth_last_error(), "NTH_ISO_SIZE");
    EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 5), 1000);
    numbers.resize(2000);
    use_containers(50);
  });
  expect_slots_taken(0);
}
#endif

// Nobody else runs on the worker meanwhile, so a lock that others want there is let go.
TEST_P(iso_cpp, under_a_lock) {
  const runtime up(options(2, GetParam()));
  std::mutex mutex;
  long sum = 0;
  auto body = [&] {
    for (int i = 0; i < 200; ++i) {
      const std::lock_guard lock(mutex);
      std::vector<long, allocator<long>> some(static_cast<std::size_t>(i % 70) * 100 + 1, 1);
      sum += some.back();
    }
  };
  run([&] {
    nth_depadd(nth_self(), 9);
    for (int i = 0; i < 8; ++i)
      nth_to_lrq(i % kthreads, create(body, nth_self()));
    nth_block();
  });
  EXPECT_EQ(sum, 1600);
}

INSTANTIATE_TEST_SUITE_P(policies, iso_cpp, testing::ValuesIn(all_policies),
                         [](const auto &one) { return name_of(one.param); });

} // namespace
