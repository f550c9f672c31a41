// Page-size advice. Refusal is harmless (a kernel without transparent huge pages), so nothing is returned.
#pragma once

#include <cstddef>

namespace nth::detail::os {

// Dense ranges (descriptors, blocks): huge pages, for one first touch and one TLB entry per 2 MiB.
void advise_huge(void *address, std::size_t size) noexcept;
// Sparse ranges (stacks, of which a page or two is used): never huge pages.
void advise_small(void *address, std::size_t size) noexcept;

} // namespace nth::detail::os
