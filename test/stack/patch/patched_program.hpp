// Programs to patch, linked when a test runs.
#pragma once

#include "patch/pool.hpp"

#include "image/subject.hpp"

#include <filesystem>
#include <string>

namespace nth::stack::test {

inline constexpr pool_room large_room = {2000, 4000, 4000, 4000};
inline const std::string fixed_addresses = "-fno-pie -no-pie ";
inline const std::string position_independent = "-fPIE -pie ";

// subjects/`source` with a pool and what stands in for libnth. `link`: what else the linker is told, -q and -z now by
// default.
std::filesystem::path with_pool(const std::string &flags, const pool_room &room = large_room,
                                const std::string &link = "-Wl,-q -Wl,-z,now",
                                const std::string &source = "pointers.c");

// A name for a file that is not there yet.
std::filesystem::path new_path();
void write_bytes(const std::filesystem::path &file, const std::vector<std::uint8_t> &bytes);

// What bad_input says when this is done; "" if nothing is thrown.
template <typename Action>
std::string error_of(const Action &action) {
  try {
    action();
  } catch (const bad_input &error) {
    return error.what();
  }
  return "";
}

} // namespace nth::stack::test
