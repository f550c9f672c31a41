#include "os/advice.hpp"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nth::detail::os {

void advise_huge(void *address, std::size_t size) noexcept {
  static_cast<void>(madvise(address, size, MADV_HUGEPAGE));
}

void advise_small(void *address, std::size_t size) noexcept {
  static_cast<void>(madvise(address, size, MADV_NOHUGEPAGE));
}

// The call itself, for libnuma would be one more library for this alone.
bool prefer_node(void *address, std::size_t size, int node) noexcept {
  constexpr unsigned long most = 1024; // the kernel's limit on nodes
  constexpr unsigned long bits = 8 * sizeof(unsigned long);
  if (node < 0 || static_cast<unsigned long>(node) >= most)
    return false;
  unsigned long nodes[most / bits] = {};
  nodes[static_cast<unsigned long>(node) / bits] = 1UL << static_cast<unsigned long>(node) % bits;
  // The kernel reads one bit less than it is told.
  return syscall(SYS_mbind, address, size, MPOL_PREFERRED, nodes, most + 1, 0) == 0;
}

} // namespace nth::detail::os
