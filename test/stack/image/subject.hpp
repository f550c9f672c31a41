// Programs to look into, built when a test runs: without the sanitizers that the tests themselves may have.
#pragma once

#include "image/module.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace nth::stack::test {

// Standard output of a command, of which the exit status must be 0.
std::string output_of(const std::string &command);
// Whether a command exits with status 0.
bool succeeds(const std::string &command);
std::vector<std::string> lines_of(const std::string &text);

// A directory of this test program, removed when it ends.
const std::filesystem::path &work_directory();

// Path of subjects/`source`, compiled as `flags` say by `compiler`, once for each combination.
std::filesystem::path build(const std::string &source, const std::string &flags,
                            const std::string &compiler = "gcc");
// The same, changed by a command that has @ in place of the file.
std::filesystem::path changed(const std::filesystem::path &file, const std::string &command);

std::vector<std::uint8_t> read_bytes(const std::filesystem::path &file);

// Those of a dozen programs and libraries that are on this machine; never none.
std::vector<std::filesystem::path> system_files();

} // namespace nth::stack::test
