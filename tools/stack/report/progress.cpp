#include "report/progress.hpp"

#include "report/text.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace nth::stack {

namespace {

constexpr std::size_t bar_width = 30;
constexpr std::size_t name_width = 30;
constexpr auto patience = std::chrono::seconds(1);
constexpr auto between = std::chrono::milliseconds(100);

// One on which a line can be written anew.
bool is_terminal() {
  const char *kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

// Letters of a line; 80 where the terminal does not tell.
std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : 80;
}

} // namespace

progress_line::progress_line() : terminal_(is_terminal()), next_(clock::now() + patience) {}

progress_line::~progress_line() {
  if (drawn_)
    std::fputs("\r\033[K", stderr);
}

void progress_line::show(std::string_view what, std::size_t done, std::size_t all) {
  const clock::time_point now = terminal_ ? clock::now() : clock::time_point();
  if (!terminal_ || now < next_ || all == 0)
    return;
  next_ = now + between;
  drawn_ = true;
  const std::size_t full = std::min(bar_width, bar_width * done / all);
  const std::string bar = std::string(full, '#') + std::string(bar_width - full, '.');
  const std::string numbers = fmt::format("[{}] {}/{} ", bar, done, all);
  // A line that the terminal breaks in two could not be taken back.
  const std::size_t width = terminal_width();
  const bool is_wide = width > numbers.size() + name_width;
  const std::string line = is_wide ? numbers + shorten(what, name_width) : numbers.substr(0, width - 1);
  fmt::print(stderr, "\r{}\033[K", line);
  std::fflush(stderr);
}

} // namespace nth::stack
