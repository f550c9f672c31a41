// A test that hangs must fail: SIGALRM ends the process with a message after some seconds, many times what the test
// takes on an idle machine.
#pragma once

#include "size.hpp"

#include <csignal>
#include <cstdlib>
#include <unistd.h>

namespace nth::test {

class watchdog {
public:
  explicit watchdog(unsigned seconds = 60) {
    struct sigaction action = {};
    action.sa_handler = bark;
    sigaction(SIGALRM, &action, &before);
    alarm(under_tsan ? 10 * seconds : under_asan ? 3 * seconds : seconds);
  }
  ~watchdog() {
    alarm(0);
    sigaction(SIGALRM, &before, nullptr);
  }
  watchdog(const watchdog &) = delete;
  watchdog &operator=(const watchdog &) = delete;

private:
  static void bark(int) {
    constexpr char text[] = "watchdog: the test hangs\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    std::abort();
  }
  struct sigaction before = {};
};

} // namespace nth::test
