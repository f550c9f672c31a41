// Which pages the kernel holds memory for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace nth::test {

// Pages of [begin, begin + bytes) that are in memory; begin is a page's.
inline long resident_pages(std::uintptr_t begin, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((bytes + page - 1) / page);
  if (mincore(reinterpret_cast<void *>(begin), bytes, pages.data()) != 0)
    return -1;
  long sum = 0;
  for (const unsigned char one : pages)
    sum += one & 1;
  return sum;
}

// False where the answers say nothing, as under emulators: "in memory" for whatever is mapped.
inline bool residency_is_known() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void *memory = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  *static_cast<volatile char *>(memory) = 1;
  const bool touched = resident_pages(begin, page) == 1 && resident_pages(begin + page, page) == 0;
  const bool given = madvise(memory, page, MADV_DONTNEED) == 0 && resident_pages(begin, page) == 0;
  munmap(memory, 2 * page);
  return touched && given;
}

} // namespace nth::test
