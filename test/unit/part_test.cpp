// The memory of one home: what is carved and given back, what it holds then, and which pages the kernel gets.
#include "../support/resident.hpp"
#include "part_objects.hpp"

#include <set>

namespace {

using namespace nth::test;

constexpr std::size_t mib = std::size_t{1} << 20;

TEST_F(parts, give_their_objects_in_order_and_as_zeros) {
  for (const std::size_t size : sizes) {
    make(size, 64 * mib);
    std::size_t next = 0;
    for (const std::size_t wanted : {1U, 3U, 64U, 65U}) {
      std::size_t got = 0;
      content holds{};
      const char *first = carve(wanted, got, holds);
      ASSERT_EQ(first, at(next));
      EXPECT_EQ(got, wanted);
      EXPECT_EQ(holds, content::fresh);
      for (std::size_t i = next; i < next + got; ++i) {
        EXPECT_TRUE(holds_zeros(i));
        fill(i, 1);
      }
      next += got;
      EXPECT_EQ(own->carved(), next * size);
      EXPECT_EQ(own->prefix(), next * size);
      EXPECT_GE(own->committed(), next * size);
    }
    EXPECT_EQ(own->begin(), reinterpret_cast<std::uintptr_t>(at(0)));
  }
}

TEST_F(parts, give_released_objects_first_and_the_lowest_of_them) {
  for (const std::size_t size : sizes) {
    make(size, 64 * mib);
    carve_all(200);
    const std::set<std::size_t> released = {199, 3, 64, 65, 130, 127, 128};
    for (const std::size_t i : released)
      give(i);
    EXPECT_EQ(own->carved(), (200 - released.size()) * size);
    EXPECT_EQ(own->prefix(), 200 * size) << "what has been carved at some time";
    for (const std::size_t i : released)
      EXPECT_EQ(carve_one(), i);
    EXPECT_EQ(carve_one(), 200U) << "then fresh ones";
    give(7);
    give(2);
    EXPECT_EQ(carve_one(), 2U);
    give(1);
    EXPECT_EQ(carve_one(), 1U);
    EXPECT_EQ(carve_one(), 7U);
  }
}

TEST_F(parts, give_released_objects_that_lie_side_by_side_together) {
  for (const std::size_t size : sizes) {
    make(size, 64 * mib);
    carve_all(100);
    for (std::size_t i = 0; i < 100; ++i)
      fill(i, 1);
    for (const std::size_t i : {1U, 2U, 3U, 5U})
      give(i);
    std::size_t got = 0;
    content holds{};
    EXPECT_EQ(carve(10, got, holds), at(1));
    EXPECT_GE(got, 1U);
    EXPECT_LE(got, 3U) << "4 is in use";
    std::size_t sum = got;
    while (sum < 4) {
      ASSERT_NE(carve(10, got, holds), nullptr);
      ASSERT_GE(got, 1U);
      sum += got;
    }
    EXPECT_EQ(sum, 4U);
    EXPECT_EQ(carve(10, got, holds), at(100));
    EXPECT_EQ(got, 10U);
  }
}

TEST_F(parts, tell_what_an_object_holds) {
  for (const std::size_t size : sizes) {
    SCOPED_TRACE(size);
    make(size, 64 * mib);
    const std::size_t count = 4 * mates();
    carve_all(count);
    for (std::size_t i = 0; i < count; ++i)
      fill(i, 1);
    if (mates() > 1) {
      const std::size_t one = mates() + 2;
      give(one);
      content holds{};
      EXPECT_EQ(carve_one(holds), one);
      EXPECT_EQ(holds, content::kept) << "others use its pages";
      EXPECT_TRUE(holds_pattern(one, 1));
    }
    for (std::size_t i = mates(); i < 2 * mates(); ++i)
      give(i);
    // One by one: what was cleared together stays so when a part of it is in use again.
    for (std::size_t i = mates(); i < 2 * mates(); ++i) {
      content holds{};
      EXPECT_EQ(carve_one(holds), i);
      EXPECT_EQ(holds, content::cleared) << i;
      EXPECT_TRUE(holds_zeros(i));
      fill(i, 2);
      EXPECT_TRUE(holds_pattern(mates() - 1, 1) && holds_pattern(2 * mates(), 1)) << "the neighbours";
    }
  }
}

// A run of objects is told as one, so it must hold one thing.
TEST_F(parts, do_not_mix_what_is_kept_and_what_is_cleared) {
  for (const std::size_t size : {64U, 256U, 576U}) {
    SCOPED_TRACE(size);
    make(size, 64 * mib);
    carve_all(2 * mates());
    for (std::size_t i = 0; i < 2 * mates(); ++i)
      fill(i, 1);
    for (std::size_t i = 0; i < mates(); ++i)
      give(i);
    content holds{};
    EXPECT_EQ(carve_one(holds), 0U);
    EXPECT_EQ(carve_one(holds), 1U);
    fill(0, 2);
    fill(1, 2);
    give(1); // kept, and behind it lie cleared ones
    std::size_t got = 0;
    ASSERT_EQ(carve(8, got, holds), at(1));
    EXPECT_EQ(holds, content::kept);
    EXPECT_EQ(got, 1U);
    EXPECT_TRUE(holds_pattern(1, 2));
    ASSERT_EQ(carve(8, got, holds), at(2));
    EXPECT_EQ(holds, content::cleared);
    EXPECT_EQ(got, 8U);
    for (std::size_t i = 2; i < 10; ++i)
      EXPECT_TRUE(holds_zeros(i));
  }
}

TEST_F(parts, give_pages_to_the_kernel_when_no_object_uses_them) {
  if (!residency_is_known())
    GTEST_SKIP() << "this kernel does not tell which pages are in memory";
  for (const std::size_t size : sizes) {
    SCOPED_TRACE(size);
    make(size, 64 * mib);
    const std::size_t group = mates() * size;
    const auto pages = static_cast<long>(group / os::page_size());
    const auto resident = [&](std::size_t n) {
      return resident_pages(reinterpret_cast<std::uintptr_t>(at(n * mates())), group);
    };
    carve_all(3 * mates());
    for (std::size_t i = 0; i < 3 * mates(); ++i)
      fill(i, 1);
    for (std::size_t n = 0; n < 3; ++n)
      ASSERT_EQ(resident(n), pages);
    for (std::size_t i = 0; i < mates(); ++i) {
      EXPECT_EQ(resident(1), pages) << "object " << i << " and those behind it are in use";
      give(mates() + i);
    }
    EXPECT_EQ(resident(1), 0) << "all were given back";
    EXPECT_EQ(resident(0), pages);
    EXPECT_EQ(resident(2), pages);
    // And again, for one that was in use longest.
    for (std::size_t i = 0; i < mates(); ++i) {
      ASSERT_EQ(carve_one(), mates() + i);
      fill(mates() + i, 2);
    }
    for (std::size_t i = mates(); i > 0; --i) {
      EXPECT_EQ(resident(1), pages);
      give(mates() + i - 1);
    }
    EXPECT_EQ(resident(1), 0);
  }
}

TEST_F(parts, keep_pages_of_which_some_are_not_carved_yet) {
  for (const std::size_t size : {64U, 256U, 576U}) {
    make(size, 64 * mib);
    carve_all(mates() - 1);
    for (std::size_t i = 0; i + 1 < mates(); ++i)
      fill(i, 1);
    for (std::size_t i = 0; i + 1 < mates(); ++i)
      give(i);
    EXPECT_EQ(own->carved(), 0U);
    for (std::size_t i = 0; i + 1 < mates(); ++i) {
      content holds{};
      EXPECT_EQ(carve_one(holds), i);
      EXPECT_EQ(holds, content::kept);
      EXPECT_TRUE(holds_pattern(i, 1));
    }
    content holds{};
    EXPECT_EQ(carve_one(holds), mates() - 1);
    EXPECT_EQ(holds, content::fresh);
    EXPECT_TRUE(holds_zeros(mates() - 1));
  }
}

TEST_F(parts, leave_guard_pages_alone) {
  make(65536, 64 * mib);
  const std::size_t page = os::page_size();
  carve_all(3);
  for (std::size_t i = 0; i < 3; ++i)
    fill(i, 1);
  own->give_back(at(1), page, nullptr);
  const char one = at(1)[0];
  EXPECT_NE(one, 0) << "the guard page is what it was";
  EXPECT_EQ(at(1)[page - 1], one);
  EXPECT_EQ(at(1)[page], 0);
  EXPECT_EQ(at(1)[object - 1], 0);
  if (residency_is_known()) {
    // The two bytes that were just read stand for two pages, of zeros.
    EXPECT_LE(resident_pages(reinterpret_cast<std::uintptr_t>(at(1)), object), 3);
  }
  content holds{};
  EXPECT_EQ(carve_one(holds), 1U);
  EXPECT_EQ(holds, content::cleared);
  EXPECT_TRUE(holds_pattern(0, 1) && holds_pattern(2, 1)) << "the neighbours";
}

TEST_F(parts, fill_up_and_serve_on_from_what_comes_back) {
  for (const std::size_t size : sizes) {
    SCOPED_TRACE(size);
    make(size, 2 * mib);
    const std::size_t count = room / size;
    std::size_t sum = 0;
    std::size_t got = 0;
    content holds{};
    while (carve(1000, got, holds) != nullptr)
      sum += got;
    EXPECT_EQ(sum, count) << "also those that are less than was asked for";
    EXPECT_TRUE(own->full(size));
    give(count - 1);
    EXPECT_FALSE(own->full(size));
    EXPECT_EQ(carve_one(), count - 1);
    EXPECT_TRUE(own->full(size));
    EXPECT_EQ(carve(1, got, holds), nullptr);
    EXPECT_LE(own->committed(), room);
  }
}

TEST_F(parts, of_pieces_of_any_size_only_grow) {
  make(0, 4 * mib);
  std::size_t one = 1;
  char *first = static_cast<char *>(own->carve(4096, one));
  ASSERT_NE(first, nullptr);
  one = 1;
  EXPECT_EQ(own->carve(64, one), first + 4096);
  one = 1;
  EXPECT_EQ(own->carve(mib, one), first + 4096 + 64);
  EXPECT_EQ(own->carved(), mib + 4096 + 64);
  one = 1;
  EXPECT_EQ(own->carve(3 * mib, one), nullptr);
  EXPECT_TRUE(own->full(3 * mib));
  EXPECT_FALSE(own->full(2 * mib));
}

TEST_F(parts, visit_what_is_in_use) {
  for (const std::size_t size : sizes) {
    SCOPED_TRACE(size);
    make(size, 64 * mib);
    const auto visited = [&] {
      std::set<std::size_t> seen;
      own->for_each([&](std::uintptr_t address) {
        EXPECT_TRUE(seen.insert(index(reinterpret_cast<void *>(address))).second) << "once";
      });
      return seen;
    };
    EXPECT_TRUE(visited().empty());
    carve_all(300);
    std::set<std::size_t> in_use;
    for (std::size_t i = 0; i < 300; ++i)
      in_use.insert(i);
    EXPECT_EQ(visited(), in_use);
    for (std::size_t i = 64; i < 192; ++i) { // whole words of the map
      give(i);
      in_use.erase(i);
    }
    EXPECT_EQ(visited(), in_use);
    for (const std::size_t i : {0U, 63U, 200U, 299U}) {
      give(i);
      in_use.erase(i);
    }
    EXPECT_EQ(visited(), in_use);
    EXPECT_EQ(own->carved(), in_use.size() * size);
    in_use.insert(carve_one());
    EXPECT_EQ(visited(), in_use);
  }
}

// ---- The last look -----------------------------------------------------------------------------------------

struct {
  int times;
  std::uintptr_t begin;
  std::size_t bytes;
  int first_byte;
} looked;

void look(part &from, std::uintptr_t begin, std::size_t bytes) noexcept {
  ++looked.times;
  looked.begin = begin;
  looked.bytes = bytes;
  looked.first_byte = *reinterpret_cast<const unsigned char *>(begin);
  from.kept_number += 10;
}

TEST_F(parts, look_at_pages_before_they_go) {
  for (const std::size_t size : sizes) {
    SCOPED_TRACE(size);
    make(size, 64 * mib);
    looked = {};
    EXPECT_EQ(own->kept_number, 0U);
    carve_all(3 * mates());
    for (std::size_t i = 0; i < 3 * mates(); ++i)
      fill(i, 1);
    const int first_byte = static_cast<unsigned char>(at(mates())[0]);
    for (std::size_t i = 2 * mates(); i > mates(); --i) {
      EXPECT_EQ(looked.times, 0);
      give(i - 1, look);
    }
    EXPECT_EQ(looked.times, 1) << "when the last object was given back";
    EXPECT_EQ(looked.begin, reinterpret_cast<std::uintptr_t>(at(mates())));
    EXPECT_EQ(looked.bytes, mates() * size);
    EXPECT_EQ(looked.first_byte, first_byte);
    EXPECT_EQ(own->kept_number, 10U);
    ASSERT_EQ(carve_one(), mates());
    EXPECT_EQ(own->kept_number, 10U) << "it outlives the pages";
    give(mates(), look);
    EXPECT_EQ(own->kept_number, 20U);
  }
}

} // namespace
