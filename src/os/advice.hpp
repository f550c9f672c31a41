// Advice on pages: their size, and the NUMA node that they come from. Refusal is harmless.
#pragma once

#include <cstddef>

namespace nth::detail::os {

// Dense ranges (descriptors, blocks): huge pages, for one first touch and one TLB entry per 2 MiB.
void advise_huge(void *address, std::size_t size) noexcept;
// Sparse ranges (stacks, of which a page or two is used): never huge pages.
void advise_small(void *address, std::size_t size) noexcept;

// Pages of [address, address + size), whole pages, that are not there yet come from `node` (the kernel's
// number) as long as it has any. False: refused (no such node, no memory on it, seccomp).
bool prefer_node(void *address, std::size_t size, int node) noexcept;

} // namespace nth::detail::os
