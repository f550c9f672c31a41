#include "link/process.hpp"

#include "image/elf_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace nth::stack {

int run_program(const std::vector<std::string> &words) {
  std::vector<char *> argv;
  argv.reserve(words.size() + 1);
  for (const std::string &word : words)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  if (const int error = posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ); error != 0)
    throw bad_input(
        fmt::format("{}: can't be started: {}", words.front(), std::generic_category().message(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw bad_input(fmt::format("{}: lost", words.front()));
  constexpr int ended_by_signal = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : ended_by_signal + WTERMSIG(status);
}

namespace {

constexpr std::array ending = {SIGHUP, SIGINT, SIGTERM};
volatile std::sig_atomic_t the_child = 0;

void pass_on(int signal) { kill(the_child, signal); }

// From here on this is a child. Its parent removes the folder when it has ended, by a signal too, and ends as it did.
void leave_to_parent(const std::filesystem::path &folder) {
  std::signal(SIGCHLD, SIG_DFL); // ignored, it would let children end unseen
  sigset_t all;
  sigset_t before;
  sigemptyset(&all);
  for (const int s : ending)
    sigaddset(&all, s);
  sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t child = fork();
  if (child > 0) {
    the_child = child;
    for (const int s : ending)
      if (std::signal(s, pass_on) == SIG_IGN)
        std::signal(s, SIG_IGN);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child == 0)
    return;
  const int why = errno;
  int status = 0;
  pid_t ended = 0;
  do
    ended = child < 0 ? child : waitpid(child, &status, 0);
  while (ended < 0 && child > 0 && errno == EINTR);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (child < 0)
    throw bad_input(fmt::format("no process can be started: {}", std::generic_category().message(why)));
  if (ended < 0)
    _exit(EXIT_FAILURE);
  if (WIFSIGNALED(status)) {
    std::signal(WTERMSIG(status), SIG_DFL);
    static_cast<void>(raise(WTERMSIG(status)));
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

} // namespace

scratch_folder::scratch_folder(const std::string &named) : path_(named) {
  if (!named.empty()) {
    std::error_code error;
    std::filesystem::create_directories(path_, error);
    if (error)
      throw bad_input(fmt::format("{}: no folder can be made there: {}", named, error.message()));
    return;
  }
  std::string name = (std::filesystem::temp_directory_path() / "nth-link-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw bad_input(fmt::format("{}: no folder can be made there: {}; TMPDIR names another place", name,
                                std::generic_category().message(errno)));
  path_ = name;
  leave_to_parent(path_);
}

} // namespace nth::stack
