#include "base/error.hpp"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

namespace nth::detail {

namespace {

constexpr std::size_t message_size = 512;

// Initial-exec: reached without a call, so that no allocation can hide behind the first use in a kernel
// thread. The functions that name it are never inlined: a compiler may keep the address of a
// thread_local over a switch to another worker.
__attribute__((tls_model("initial-exec"))) constinit thread_local char last_message[message_size] = {};

constinit std::atomic<nth_error_handler> error_handler{nullptr};

void print_line(const char *prefix, const char *message) noexcept {
  char line[message_size + 32];
  const int wanted = std::snprintf(line, sizeof line, "%s%s\n", prefix, message);
  if (wanted < 0)
    return;
  std::size_t length = static_cast<std::size_t>(wanted);
  if (length >= sizeof line) {
    length = sizeof line - 1;
    line[length - 1] = '\n';
  }
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, length); // nobody is left to tell
}

// Formats beside the buffer first: an argument may be the last message itself.
[[gnu::noinline]] const char *keep_message(const char *format, va_list arguments) noexcept {
  char text[message_size];
  if (std::vsnprintf(text, sizeof text, format, arguments) < 0)
    text[0] = '\0';
  std::memcpy(last_message, text, sizeof text);
  return last_message;
}

} // namespace

nth_status fail(nth_status status, const char *format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  keep_message(format, arguments);
  va_end(arguments);
  return status;
}

void misuse(nth_status status, const char *format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  const char *message = keep_message(format, arguments);
  va_end(arguments);
  if (nth_error_handler handler = error_handler.load(std::memory_order_acquire)) {
    handler(status, message);
    return;
  }
  end_program(message);
}

void end_program(const char *message) noexcept {
  print_line("nth: ", message);
  std::abort();
}

void assertion_failed(const char *what, const char *file, int line) noexcept {
  char text[message_size];
  std::snprintf(text, sizeof text, "%s (%s:%d)", what, file, line);
  print_line("nth: internal error: ", text);
  std::abort();
}

// Called in the handler of a stack overflow as well: glibc's snprintf neither allocates nor locks for
// %s and %lx, and the lock that dladdr takes may be taken again by its owner.
const char *describe_function(const void *address, char *buffer, unsigned long size) noexcept {
  const auto value = reinterpret_cast<unsigned long>(address);
  Dl_info found;
  void *entry = nullptr; // of the nearest symbol below, which may have ended
  if (address == nullptr || dladdr1(address, &found, &entry, RTLD_DL_SYMENT) == 0) {
    std::snprintf(buffer, size, "0x%lx", value);
  } else if (found.dli_sname != nullptr &&
             (entry == nullptr || value - reinterpret_cast<unsigned long>(found.dli_saddr) <=
                                      static_cast<const ElfW(Sym) *>(entry)->st_size)) {
    const unsigned long offset = value - reinterpret_cast<unsigned long>(found.dli_saddr);
    if (offset == 0)
      std::snprintf(buffer, size, "%s", found.dli_sname);
    else
      std::snprintf(buffer, size, "%s+0x%lx", found.dli_sname, offset);
  } else {
    // A static function, or one of an executable that exports none: the offset is what addr2line wants.
    const char *slash = std::strrchr(found.dli_fname, '/');
    std::snprintf(buffer, size, "0x%lx (%s+0x%lx)", value, slash != nullptr ? slash + 1 : found.dli_fname,
                  value - reinterpret_cast<unsigned long>(found.dli_fbase));
  }
  return buffer;
}

} // namespace nth::detail

extern "C" {

nth_error_handler nth_set_error_handler(nth_error_handler handler) {
  return nth::detail::error_handler.exchange(handler, std::memory_order_acq_rel);
}

const char *nth_strstatus(nth_status status) {
  switch (status) {
  case NTH_OK:
    return "no error";
  case NTH_EINVAL:
    return "an argument is wrong";
  case NTH_ENOMEM:
    return "no memory, or a limit on memory was met";
  case NTH_ESTATE:
    return "the call does not fit the state of the run-time or of the thread";
  case NTH_EBUSY:
    return "threads are alive";
  case NTH_ESTALE:
    return "the handle's thread has ended";
  case NTH_ESYS:
    return "the operating system refused";
  case NTH_EDEADLOCK:
    return "every worker idles and only blocked threads are left";
  }
  return "unknown status";
}

[[gnu::noinline]] const char *nth_last_error(void) { return nth::detail::last_message; }

} // extern "C"
