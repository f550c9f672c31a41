// Each call to the kernel refused once, in turn: blocks that there are stay as they are, and later ones can be had.
#include "heap_trace.hpp"

#include "os/os_failing.hpp"

#include <gtest/gtest.h>

namespace iso = nth::detail::iso;
namespace os = nth::detail::os;

namespace {

// Slots without a cache, in an area of several windows of 64 MiB; what fails is told, what is had is checked.
void run(std::size_t &refused) {
  iso::slot_setting setting;
  setting.bytes = std::size_t{1} << 30;
  setting.cache = 4;
  if (!iso::the_slots.open(setting)) {
    ++refused;
    return;
  }
  if (!iso::open_heaps()) {
    ++refused;
    iso::the_slots.close();
    return;
  }
  iso::heap_error why{};
  iso::heap *h = nullptr;
  while ((h = iso::make_heap(nullptr, false, why)) == nullptr) {
    ASSERT_EQ(why, iso::heap_error::no_memory);
    ++refused;
  }
  std::vector<iso::live_block> blocks;
  for (const std::size_t size : {100U, 5000U, 40'000U, 70'000U, 80'000'000U, 300U, 150'000'000U})
    for (int i = 0; i < 3; ++i) {
      void *p = iso::allocate(h, size, 16, false, why);
      if (p == nullptr) {
        ASSERT_EQ(why, iso::heap_error::no_memory);
        ++refused;
        p = iso::allocate(h, size, 16, false, why);
      }
      ASSERT_NE(p, nullptr);
      const iso::live_block b{static_cast<unsigned char *>(p), size, size,
                              size + static_cast<std::size_t>(i)};
      iso::paint(b);
      blocks.push_back(b);
    }
  if (!iso::resize(h, blocks.back().at, 200'000'000)) {
    ++refused;
    ASSERT_TRUE(iso::resize(h, blocks.back().at, 200'000'000));
  }
  for (const iso::live_block &b : blocks) {
    ASSERT_TRUE(iso::is_painted(b));
    ASSERT_EQ(iso::release(h, b.at), iso::heap_error::none);
  }
  iso::end_heap(h);
  ASSERT_EQ(iso::the_slots.count().taken, 0);
  iso::close_heaps();
  iso::the_slots.close();
}

} // namespace

TEST(heap_failing, every_call_to_the_kernel_refused_once) {
  for (const os::fail_kind kind : {os::fail_kind::reserve, os::fail_kind::commit, os::fail_kind::map_pages}) {
    std::size_t refused = 0;
    const long before = os::calls_made(kind);
    ASSERT_NO_FATAL_FAILURE(run(refused));
    const long calls = os::calls_made(kind) - before;
    EXPECT_EQ(refused, 0U);
    for (long n = 1; n <= calls; ++n) {
      os::fail_after(kind, n, false);
      ASSERT_NO_FATAL_FAILURE(run(refused)) << static_cast<int>(kind) << ' ' << n;
      if (iso::the_slots.is_open())
        FAIL();
      os::fail_never();
    }
    if (kind == os::fail_kind::commit) {
      EXPECT_GE(calls, 4);
    }
  }
}
