// A part of its own for a test, the objects that it gave, and what they must hold.
#pragma once

#include "memory/part.hpp"
#include "os/advice.hpp"
#include "os/os.hpp"
#include "os/os_failing.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <ostream>
#include <vector>

namespace nth::detail {

inline std::ostream &operator<<(std::ostream &out, content c) {
  return out << (c == content::fresh ? "fresh" : c == content::cleared ? "cleared" : "kept");
}

} // namespace nth::detail

namespace nth::test {

using detail::content;
using detail::part;
namespace os = detail::os;

constexpr std::size_t sizes[] = {64, 256, 576, 4096, 65536};

class parts : public testing::Test {
protected:
  void SetUp() override { os::fail_never(); }
  void TearDown() override {
    os::fail_never();
    drop();
  }

  // A part with addresses for `bytes` of objects of `size`.
  void make(std::size_t size, std::size_t bytes) {
    drop();
    object = size;
    room = bytes;
    const std::size_t alignment = std::size_t{2} << 20;
    memory = os::reserve(nullptr, room, alignment);
    map = os::reserve(nullptr, map_bytes, alignment);
    ASSERT_TRUE(memory != nullptr && map != nullptr);
    os::advise_small(memory, room); // of which a page is in memory or not
    own = std::make_unique<part>();
    own->place(reinterpret_cast<std::uintptr_t>(memory), room, size, reinterpret_cast<std::uintptr_t>(map),
               false);
  }
  void drop() {
    if (memory != nullptr) {
      os::release(memory, room);
      os::release(map, map_bytes);
    }
    memory = nullptr;
  }

  char *at(std::size_t i) const { return static_cast<char *>(memory) + i * object; }
  std::size_t index(const void *address) const {
    return static_cast<std::size_t>(static_cast<const char *>(address) - static_cast<char *>(memory)) /
           object;
  }
  // Objects that have pages in common begin at multiples of this.
  std::size_t mates() const { return std::lcm(object, os::page_size()) / object; }

  // The first of `count` objects as they are asked for; what was given in `got`.
  char *carve(std::size_t count, std::size_t &got, content &holds) {
    got = count;
    return static_cast<char *>(own->carve(object, got, holds));
  }
  std::size_t carve_one(content &holds) {
    std::size_t got = 0;
    const char *o = carve(1, got, holds);
    EXPECT_NE(o, nullptr);
    EXPECT_EQ(got, 1U);
    return o == nullptr ? ~std::size_t{0} : index(o);
  }
  std::size_t carve_one() {
    content any{};
    return carve_one(any);
  }
  void carve_all(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(carve_one(), i);
  }
  void give(std::size_t i, part::last_look look = nullptr) { own->give_back(at(i), 0, look); }

  // An object's content: a pattern that tells it from others and from its earlier uses; 0: zeros.
  void fill(std::size_t i, int use) { std::memset(at(i), pattern(i, use), object); }
  bool holds_pattern(std::size_t i, int use) const { return all_bytes(i, pattern(i, use)); }
  bool holds_zeros(std::size_t i) const { return all_bytes(i, 0); }

  std::unique_ptr<part> own;
  std::size_t object{0};
  std::size_t room{0};

private:
  static constexpr std::size_t map_bytes = std::size_t{4} << 20;
  static char pattern(std::size_t i, int use) {
    return static_cast<char>(1 + (i * 31 + static_cast<std::size_t>(use) * 7) % 251);
  }
  bool all_bytes(std::size_t i, char value) const {
    return at(i)[0] == value && std::memcmp(at(i), at(i) + 1, object - 1) == 0;
  }
  void *memory{nullptr};
  void *map{nullptr};
};

} // namespace nth::test
