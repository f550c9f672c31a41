#include "image/mapping.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nth::stack {

mapping::mapping(const std::filesystem::path &path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    throw bad_input(fmt::format("{}: can't be opened: {}", path.string(), std::strerror(errno)));
  try {
    map(path, file);
  } catch (...) {
    close(file);
    throw;
  }
  close(file);
}

mapping::~mapping() {
  if (begin_ != nullptr)
    munmap(begin_, size_);
}

void mapping::map(const std::filesystem::path &path, int file) {
  struct stat status {};
  if (fstat(file, &status) != 0)
    throw bad_input(fmt::format("{}: can't be read: {}", path.string(), std::strerror(errno)));
  if (S_ISDIR(status.st_mode))
    throw bad_input(fmt::format("{}: is a directory; give an executable or a shared library", path.string()));
  if (!S_ISREG(status.st_mode))
    throw bad_input(
        fmt::format("{}: is no regular file; give an executable or a shared library", path.string()));
  if (status.st_size == 0)
    throw bad_input(fmt::format("{}: is empty; give an executable or a shared library", path.string()));
  const auto size = static_cast<std::size_t>(status.st_size);
  // Private and writable: libelf may write to what it is given.
  void *begin = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  if (begin == MAP_FAILED)
    throw bad_input(fmt::format("{}: can't be mapped: {}", path.string(), std::strerror(errno)));
  begin_ = begin;
  size_ = size;
}

} // namespace nth::stack
