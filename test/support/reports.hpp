// An error handler that keeps what it was told, for as long as it lives.
#pragma once

#include "nth/nth.h"

#include <atomic>
#include <mutex>
#include <string>

namespace nth::test {

class reports {
public:
  reports() : before(nth_set_error_handler(note)) {
    const std::lock_guard lock(mutex);
    number = 0;
    status = NTH_OK;
    text.clear();
  }
  ~reports() { nth_set_error_handler(before); }
  reports(const reports &) = delete;
  reports &operator=(const reports &) = delete;

  static int count() { return number; }
  static nth_status last_status() {
    const std::lock_guard lock(mutex);
    return status;
  }
  static std::string messages() { // all of them, a line each
    const std::lock_guard lock(mutex);
    return text;
  }

private:
  static void note(nth_status one, const char *message) {
    const std::lock_guard lock(mutex);
    status = one;
    text += message;
    text += '\n';
    ++number;
  }
  nth_error_handler before;
  static inline std::mutex mutex;
  static inline std::atomic<int> number = 0;
  static inline nth_status status = NTH_OK;
  static inline std::string text;
};

} // namespace nth::test
