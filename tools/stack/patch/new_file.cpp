#include "patch/new_file.hpp"

#include "image/module.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nth::stack {

new_file::new_file(const std::filesystem::path &place, const std::filesystem::path &like) : place_(place) {
  std::error_code error;
  if (const auto named = std::filesystem::canonical(place, error); !error)
    place_ = named;
  std::string name = (place_.parent_path() / fmt::format(".{}.XXXXXX", place_.filename().string())).string();
  file_ = mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0)
    fail("can't be written");
  temporary_ = name;
  struct stat status {};
  if (stat(like.c_str(), &status) != 0 || fchmod(file_, status.st_mode & 07777U) != 0) {
    const int why = errno;
    close(file_);
    unlink(temporary_.c_str());
    errno = why;
    fail("can't be given the program's permissions");
  }
}

new_file::~new_file() {
  if (file_ >= 0)
    close(file_);
  if (!temporary_.empty())
    unlink(temporary_.c_str());
}

void new_file::fail(const char *what) const {
  throw bad_input(fmt::format("{}: {}: {}", place_.string(), what, std::strerror(errno)));
}

void new_file::write(const std::vector<std::uint8_t> &bytes) {
  for (std::size_t done = 0; done != bytes.size();) {
    const ssize_t n = ::write(file_, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR)
      fail("can't be written");
    done += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  if (fsync(file_) != 0 || close(std::exchange(file_, -1)) != 0)
    fail("can't be written");
}

void new_file::commit() {
  if (rename(temporary_.c_str(), place_.c_str()) != 0)
    fail("can't be replaced");
  temporary_.clear();
  // The name, too, is to last; a folder that can't be told so is no reason to fail.
  const std::filesystem::path folder =
      place_.has_parent_path() ? place_.parent_path() : std::filesystem::path(".");
  if (const int directory = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); directory >= 0) {
    fsync(directory);
    close(directory);
  }
}

} // namespace nth::stack
