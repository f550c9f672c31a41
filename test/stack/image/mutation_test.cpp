// Damaged files: cut short, bytes changed where the structure is. Nothing may crash, hang or take much memory; the
// sanitizers watch.
#include "../fuzz/use_image.hpp"
#include "subject.hpp"

#include <algorithm>
#include <random>

#include <elf.h>
#include <gtest/gtest.h>

using namespace nth::stack;
using namespace nth::stack::test;

namespace {

struct range {
  std::size_t begin = 0, end = 0;
};

// Where a change is seen: headers, tables, unwind and dynamic data; not the code.
std::vector<range> structure_of(const module &m, std::size_t file_size) {
  std::vector<range> all = {{0, sizeof(Elf64_Ehdr)},
                            {sizeof(Elf64_Ehdr), sizeof(Elf64_Ehdr) + 13 * sizeof(Elf64_Phdr)}};
  std::size_t last = 0;
  for (const section &s : m.sections) {
    if (s.type != SHT_NOBITS)
      last = std::max<std::size_t>(last, s.offset + s.size);
    const bool plain_data = s.type == SHT_PROGBITS && s.name != ".eh_frame" && s.name != ".eh_frame_hdr" &&
                            s.name != ".gcc_except_table" && !s.name.starts_with(".plt");
    if (!plain_data && s.type != SHT_NOBITS && s.size != 0)
      all.push_back({s.offset, s.offset + s.size});
  }
  all.push_back({last, file_size}); // the table of sections
  return all;
}

class mutator {
public:
  explicit mutator(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  void change(std::vector<std::uint8_t> &bytes, const range &where) {
    const std::size_t at = where.begin + below(where.end - where.begin);
    switch (below(4)) {
    case 0:
      put(bytes, at, random_(), 1);
      break;
    case 1:
      put(bytes, at & ~std::size_t{7}, hostile(), 8);
      break;
    case 2:
      put(bytes, at & ~std::size_t{3}, hostile(), 4);
      break;
    default:
      put(bytes, at, below(2) != 0 ? 0xff : 0, 1);
      break;
    }
  }

private:
  std::uint64_t hostile() {
    static constexpr std::uint64_t values[] = {0,
                                               1,
                                               0x7f,
                                               0xffff,
                                               0x1000,
                                               0x7fffffff,
                                               0x80000000,
                                               0xffffffff,
                                               0x7fffffffffffffff,
                                               0xfffffffffffffff0,
                                               ~0ull};
    return values[below(std::size(values))];
  }

  static void put(std::vector<std::uint8_t> &bytes, std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i != size && at + i < bytes.size(); ++i)
      bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }

  std::mt19937_64 random_;
};

std::vector<std::filesystem::path> subjects() {
  return {build("plain.c", "-Wl,-z,lazy"), build("plain.c", "-no-pie -Wl,--emit-relocs -Wl,-z,ibtplt"),
          build("ifunc.c", "-shared -fPIC -Wl,-z,pack-relative-relocs"), build("throwing.cpp", "", "g++")};
}

} // namespace

TEST(mutation, whole_files_are_used) {
  for (const auto &path : subjects()) {
    EXPECT_GT(use_image(read_bytes(path)), 1u);
  }
}

TEST(mutation, changed_files_are_read_or_refused) {
  std::size_t refused = 0, used = 0;
  for (const auto &path : subjects()) {
    const auto original = read_bytes(path);
    const auto where = structure_of(module(path), original.size());
    mutator random(1);
    for (int i = 0; i != 1000; ++i) {
      auto bytes = original;
      for (std::size_t changes = 1 + random.below(4); changes != 0; --changes)
        random.change(bytes, where[random.below(where.size())]);
      ++(use_image(bytes) == 0 ? refused : used);
    }
  }
  EXPECT_GT(refused, 50u);
  EXPECT_GT(used, 2000u);
}

TEST(mutation, files_cut_short_are_read_or_refused) {
  for (const auto &path : subjects()) {
    const auto original = read_bytes(path);
    mutator random(2);
    for (int i = 0; i != 150; ++i) {
      // Exactly as large as what is left, so that a read past it is one past the memory.
      const std::vector<std::uint8_t> bytes(
          original.begin(), original.begin() + static_cast<std::ptrdiff_t>(random.below(original.size())));
      use_image(bytes);
    }
    for (std::size_t size = 0; size != 200; ++size)
      use_image(
          std::vector<std::uint8_t>(original.begin(), original.begin() + static_cast<std::ptrdiff_t>(size)));
  }
}

TEST(mutation, without_sections_the_rest_is_read_or_refused) {
  for (const auto &path : subjects()) {
    auto original = read_bytes(path);
    const auto where = structure_of(module(path), original.size());
    std::fill_n(original.begin() + offsetof(Elf64_Ehdr, e_shoff), 8, std::uint8_t{0});
    mutator random(3);
    for (int i = 0; i != 500; ++i) {
      auto bytes = original;
      for (std::size_t changes = 1 + random.below(3); changes != 0; --changes)
        random.change(bytes, where[1 + random.below(where.size() - 2)]);
      use_image(bytes);
    }
  }
}
