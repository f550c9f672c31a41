// What stands in the way of memory, in words: for the messages of nth_init.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nth::detail::os {

// The limits that are set for this process, in KiB as the shell's ulimit has them, or that none is. Writes at most `size` bytes with the final zero to `buffer` and returns it.
const char *describe_limits(char *buffer, std::size_t size) noexcept;

// The lowest mapping that has a byte in [begin, end), as /proc/self/maps has it: "/usr/lib/x.so at
// 0x1000-0x2000". False: none, or it cannot be read.
bool describe_mapping(std::uintptr_t begin, std::uintptr_t end, char *buffer, std::size_t size) noexcept;

} // namespace nth::detail::os
