// Other programs, and files for a while.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nth::stack {

// Runs a program, looked up in PATH, with the standard streams of this one. Its exit status; 128 and the signal's number
// if one ended it. Throws bad_input if it can't be started.
int run_program(const std::vector<std::string> &words);

// A folder of its own, gone with the process: that goes on as a child, whose parent removes it. One that the user names
// stays. Before threads are started.
class scratch_folder {
public:
  explicit scratch_folder(const std::string &named);

  [[nodiscard]] std::filesystem::path operator/(const char *name) const { return path_ / name; }

private:
  std::filesystem::path path_;
};

} // namespace nth::stack
