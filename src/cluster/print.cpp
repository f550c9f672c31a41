// Whole lines: one process writes them. In order per thread: a call returns when its text is written, so what the
// thread prints next, on whatever rank, comes later.
#include "cluster/print.hpp"

#include "base/error.hpp"
#include "cluster/cluster.hpp"
#include "cluster/progress.hpp"
#include "nth/cluster.h"
#include "thread/roomy.hpp"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace nth::detail::cluster {

namespace {

constexpr std::size_t usual_text = 512;

// What a caller waits for: its address comes back from rank 0.
struct waiter {
  std::atomic<bool> done{false};
  int error{0};
};

struct answer {
  waiter *who;
  int error;
};

// A text of another rank that waits to be written.
struct waiting_text {
  waiting_text *next;
  int from;
  waiter *who;
  std::size_t bytes;
  char *text() noexcept { return reinterpret_cast<char *>(this + 1); }
};
waiting_text *oldest; // under the lock of progress, as is `youngest`
waiting_text *youngest;
std::atomic<long> waiting{0};
std::atomic<bool> writing{false}; // somebody writes them: in order

// errno, or 0. The lock keeps lines of this rank's own threads and of others apart.
int write_lines(int rank, const char *text, std::size_t bytes) noexcept {
  char head[32];
  const auto head_bytes = static_cast<std::size_t>(std::snprintf(head, sizeof head, "[rank %d] ", rank));
  const char *const end = text + bytes;
  errno = 0;
  bool good = true;
  flockfile(stdout);
  while (text < end) {
    const auto left = static_cast<std::size_t>(end - text);
    const char *line = static_cast<const char *>(std::memchr(text, '\n', left));
    const std::size_t length = line != nullptr ? static_cast<std::size_t>(line - text) : left;
    good = std::fwrite(head, 1, head_bytes, stdout) == head_bytes && good;
    good = std::fwrite(text, 1, length, stdout) == length && good;
    good = std::fputc('\n', stdout) != EOF && good;
    text += line != nullptr ? length + 1 : length;
  }
  good = std::fflush(stdout) == 0 && good;
  funlockfile(stdout);
  return good ? 0 : errno != 0 ? errno : EIO;
}

// print: the waiter's address, then the text. printed: an answer.
void read_print(const envelope &e) noexcept {
  const std::size_t bytes = e.bytes - sizeof(waiter *);
  auto *t = static_cast<waiting_text *>(std::malloc(sizeof(waiting_text) + bytes));
  if (t == nullptr)
    end_program("no memory for a line that another rank prints; raise the limit on it");
  *t = {nullptr, e.from, nullptr, bytes};
  std::memcpy(&t->who, e.data, sizeof t->who);
  std::memcpy(t->text(), static_cast<const char *>(e.data) + sizeof t->who, bytes);
  (oldest == nullptr ? oldest : youngest->next) = t;
  youngest = t;
  waiting.fetch_add(1, std::memory_order_release);
}

void write_one() noexcept {
  waiting_text *t = nullptr;
  with_transport([&] {
    t = oldest;
    oldest = t->next;
  });
  const answer a{t->who, write_lines(t->from, t->text(), t->bytes)};
  with_transport([&] { transport::send(t->from, channel::printed, &a, sizeof a); });
  std::free(t);
  waiting.fetch_sub(1, std::memory_order_release);
}

void read_printed(const envelope &e) noexcept {
  answer a{};
  std::memcpy(&a, e.data, sizeof a);
  a.who->error = a.error;
  a.who->done.store(true, std::memory_order_release);
}

// `parcel`: room for a waiter's address, and the text behind it. errno, or 0.
int print_parcel(char *parcel, std::size_t text_bytes) noexcept {
  if (nth_rank() == 0 || !is_up())
    return roomy(current_worker(),
                 [=] { return write_lines(nth_rank(), parcel + sizeof(waiter *), text_bytes); });
  waiter w;
  waiter *const address = &w;
  std::memcpy(parcel, &address, sizeof address);
  with_transport([&] { transport::send(0, channel::print, parcel, sizeof address + text_bytes); });
  wait_until(true, [&] { return w.done.load(std::memory_order_acquire); });
  return w.error;
}

struct formatted {
  char *parcel;
  int length; // of the text, or negative
};

// Formats behind a place for the waiter's address, in `usual` if that is enough, else in memory to be freed.
formatted format_text(char *usual, std::size_t size, const char *format, va_list arguments) noexcept {
  constexpr std::size_t head = sizeof(waiter *);
  va_list again;
  va_copy(again, arguments);
  formatted f{usual, std::vsnprintf(usual + head, size - head, format, arguments)};
  if (f.length >= 0 && static_cast<std::size_t>(f.length) >= size - head) {
    const std::size_t needed = head + static_cast<std::size_t>(f.length) + 1;
    f.parcel = static_cast<char *>(std::malloc(needed));
    if (f.parcel == nullptr)
      f.length = -1;
    else
      std::vsnprintf(f.parcel + head, needed - head, format, again);
  }
  va_end(again);
  return f;
}

[[gnu::noinline]] int give_up(int error) noexcept {
  errno = error;
  return -1;
}

} // namespace

bool write_waiting_lines() noexcept {
  if (waiting.load(std::memory_order_acquire) == 0 || writing.exchange(true, std::memory_order_acquire))
    return false;
  const bool any = waiting.load(std::memory_order_acquire) != 0;
  while (waiting.load(std::memory_order_acquire) != 0)
    roomy(current_worker(), [] { write_one(); });
  writing.store(false, std::memory_order_release);
  return any;
}

void open_print() noexcept {
  set_reader(channel::print, read_print);
  set_reader(channel::printed, read_printed);
}

} // namespace nth::detail::cluster

using namespace nth::detail;

extern "C" NTH_API int nth_printf(const char *format, ...) {
  char usual[cluster::usual_text];
  va_list arguments;
  va_start(arguments, format);
  const cluster::formatted f =
      roomy(current_worker(), [&] { return cluster::format_text(usual, sizeof usual, format, arguments); });
  va_end(arguments);
  if (f.length < 0)
    return cluster::give_up(f.parcel == nullptr ? ENOMEM : EILSEQ);
  const int error = cluster::print_parcel(f.parcel, static_cast<std::size_t>(f.length));
  if (f.parcel != usual)
    roomy(current_worker(), [=] { std::free(f.parcel); });
  return error != 0 ? cluster::give_up(error) : f.length;
}
