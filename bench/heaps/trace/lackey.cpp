#include "lackey.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

namespace trace {
namespace {

constexpr std::size_t room = std::size_t{1} << 20;
// lackey writes line by line: a reader that takes what is there wakes up for each, and both are three times slower.
constexpr std::size_t worth_waking = room / 4;
constexpr useconds_t pause_us = 3000;

} // namespace

int read_line(std::string_view line, event &e) {
  if (line.size() < 2 || (line[0] == line[1] && (line[0] == '=' || line[0] == '-' || line[0] == '*')))
    return line.size() == 1 ? -1 : 0;
  const bool instruction = line[0] == 'I' && line[1] == ' ';
  const bool data = line[0] == ' ' && (line[1] == 'L' || line[1] == 'S' || line[1] == 'M');
  if ((!instruction && !data) || line.size() < 4 || line[2] != ' ')
    return -1;
  e.kind = instruction ? 'I' : line[1];
  const char *const end = line.data() + line.size();
  const auto address = std::from_chars(line.data() + 3, end, e.address, 16);
  if (address.ec != std::errc{} || address.ptr == end || *address.ptr != ',')
    return -1;
  const auto bytes = std::from_chars(address.ptr + 1, end, e.bytes);
  return bytes.ec == std::errc{} && bytes.ptr == end ? 1 : -1;
}

lines::lines(int of) : file(of), text(std::make_unique<char[]>(room)) {
  struct stat what {};
  pipe = fstat(file, &what) == 0 && S_ISFIFO(what.st_mode);
  if (pipe)
    fcntl(file, F_SETPIPE_SZ, static_cast<int>(room)); // where that is refused it is only slower
}

bool lines::cut(std::string_view &line) {
  const void *const found = std::memchr(text.get() + begin, '\n', end - begin);
  if (found == nullptr && (!ended || begin == end))
    return false;
  const std::size_t at =
      found == nullptr ? end : static_cast<std::size_t>(static_cast<const char *>(found) - text.get());
  line = {text.get() + begin, at - begin};
  begin = found == nullptr ? end : at + 1;
  ++count;
  return true;
}

bool lines::refill() {
  if (ended)
    return false;
  std::memmove(text.get(), text.get() + begin, end - begin);
  end -= begin;
  begin = 0;
  if (end == room)
    throw std::runtime_error(fmt::format("line {} of the trace is longer than {} bytes", count + 1, room));
  ssize_t got = 0;
  do
    got = read(file, text.get() + end, room - end);
  while (got < 0 && errno == EINTR);
  if (got < 0)
    throw std::runtime_error(fmt::format("reading the trace: {}", std::strerror(errno)));
  ended = got == 0;
  end += static_cast<std::size_t>(got);
  if (pipe && !ended && static_cast<std::size_t>(got) < worth_waking)
    usleep(pause_us);
  return end != 0;
}

void not_lackey(std::uint64_t number, std::string_view line) {
  throw std::runtime_error(
      fmt::format("line {} of the trace is none of lackey's: '{}'; expected what "
                  "valgrind --tool=lackey --trace-mem=yes writes, apart from the program's output",
                  number, line.substr(0, 80)));
}

} // namespace trace
