#include "os/advice.hpp"

#include <sys/mman.h>

namespace nth::detail::os {

void advise_huge(void *address, std::size_t size) noexcept {
  static_cast<void>(madvise(address, size, MADV_HUGEPAGE));
}

void advise_small(void *address, std::size_t size) noexcept {
  static_cast<void>(madvise(address, size, MADV_NOHUGEPAGE));
}

} // namespace nth::detail::os
