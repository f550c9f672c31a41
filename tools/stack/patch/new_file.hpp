// A file that is there whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace nth::stack {

// Written beside its final place, moved there by commit(), removed if that does not happen. All throw bad_input.
class new_file {
public:
  // With the permissions of `like`. What a symbolic link names is replaced, not the link.
  new_file(const std::filesystem::path &place, const std::filesystem::path &like);
  new_file(const new_file &) = delete;
  new_file &operator=(const new_file &) = delete;
  ~new_file();

  void write(const std::vector<std::uint8_t> &bytes);
  void commit();

  [[nodiscard]] const std::filesystem::path &path() const noexcept { return temporary_; }

private:
  [[noreturn]] void fail(const char *what) const;

  std::filesystem::path place_;
  std::filesystem::path temporary_; // empty once it is moved
  int file_ = -1;
};

} // namespace nth::stack
