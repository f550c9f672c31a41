#include "demo/child.hpp"

#include "common/harness.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench::demo {

namespace {

constexpr int sample_ms = 20; // a process touches some 50 MB in this time

long resident_of(pid_t pid) {
  std::ifstream statm(fmt::format("/proc/{}/statm", pid));
  long size = 0, resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

[[noreturn]] void become(const std::vector<std::string> &command, int out, int err) {
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  // Should memory end all the same, the kernel is to take this process and no other.
  if (const int f = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); f >= 0) {
    [[maybe_unused]] const auto written = write(f, "1000", 4);
    close(f);
  }
  std::vector<char *> argv;
  for (const auto &word : command)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

// Takes what is there; false at the end of the stream.
bool drain(int fd, std::string &into) {
  char buffer[4096];
  const auto got = read(fd, buffer, sizeof buffer);
  if (got > 0)
    into.append(buffer, static_cast<std::size_t>(got));
  return got > 0;
}

std::string first_line(const std::string &text) { return text.substr(0, text.find('\n')); }

} // namespace

outcome run_child(const std::vector<std::string> &command, const limits &limit,
                  const std::function<void()> &tick) {
  outcome o;
  if (access(command[0].c_str(), X_OK) != 0) {
    o.failure = "not built";
    return o;
  }
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
    o.failure = strerror(errno);
    return o;
  }
  const pid_t pid = fork();
  if (pid == 0)
    become(command, out[1], err[1]);
  close(out[1]);
  close(err[1]);
  if (pid < 0) {
    o.failure = strerror(errno);
    close(out[0]);
    close(err[0]);
    return o;
  }

  std::string complaint;
  const double begin = now_ns();
  pollfd wait[2] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  // Both ends closed means that it has ended, or is about to.
  while (wait[0].fd >= 0 || wait[1].fd >= 0) {
    if (poll(wait, 2, sample_ms) > 0) {
      if (wait[0].revents != 0 && !drain(out[0], o.output))
        wait[0].fd = -1;
      if (wait[1].revents != 0 && !drain(err[0], complaint))
        wait[1].fd = -1;
    }
    tick();
    o.peak_bytes = std::max(o.peak_bytes, resident_of(pid));
    if (o.failure.empty() && o.peak_bytes > limit.resident_bytes)
      o.failure =
          fmt::format("ended: more than {:.0f} GB resident", static_cast<double>(limit.resident_bytes) / 1e9);
    else if (o.failure.empty() && now_ns() - begin > limit.seconds * 1e9)
      o.failure = fmt::format("ended: more than {:.0f} s", limit.seconds);
    else
      continue;
    kill(pid, SIGKILL);
  }
  close(out[0]);
  close(err[0]);

  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (o.failure.empty() && WIFSIGNALED(status))
    o.failure = fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else if (o.failure.empty() && WEXITSTATUS(status) != 0)
    o.failure =
        complaint.empty() ? fmt::format("exit status {}", WEXITSTATUS(status)) : first_line(complaint);
  return o;
}

} // namespace bench::demo
