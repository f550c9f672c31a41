// The object that a program is linked with before it is patched: stubs and tables of a given size, all of them blank.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nth::stack {

struct pool_room {
  std::uint32_t stubs = 0;
  std::uint32_t needs = 0;
  std::uint32_t sites = 0;
  std::uint32_t text = 0; // bytes
};

// Assembly for the C compiler's driver (of gcc or clang, x86-64; a file named .S: it is preprocessed). With __morestack.
std::string pool_source(const pool_room &room);
// The same with another text in place of __morestack's.
std::string pool_source(const pool_room &room, std::string_view morestack);

} // namespace nth::stack
