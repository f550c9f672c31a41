#include "paint.hpp"

#include <bit>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <sys/mman.h>

extern "C" void nth_marks_call(nth::marks::call_frame *);

namespace nth::marks {

static_assert(offsetof(call_frame, general) == 0 && offsetof(call_frame, vector) == 48);
static_assert(offsetof(call_frame, vectors) == 176 && offsetof(call_frame, words) == 184);
static_assert(offsetof(call_frame, word_count) == 192 && offsetof(call_frame, function) == 200);
static_assert(offsetof(call_frame, top) == 208 && offsetof(call_frame, rax) == 216);
static_assert(offsetof(call_frame, rdx) == 224 && offsetof(call_frame, xmm0) == 240);
static_assert(offsetof(call_frame, xmm1) == 256);

namespace {

// A frame may step over one page of guard without touching it.
constexpr std::size_t guard_size = 1U << 20U;

std::uint64_t *words_of(std::byte *p) { return reinterpret_cast<std::uint64_t *>(p); }

} // namespace

painted_stack::painted_stack(std::size_t size, std::uint64_t paint_seed) : seed(paint_seed) {
  void *p = mmap(nullptr, guard_size + size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED || mprotect(p, guard_size, PROT_NONE) != 0) {
    std::perror("marks: no memory for a stack");
    std::_Exit(2);
  }
  mapping = static_cast<std::byte *>(p);
  bottom = mapping + guard_size;
  top = bottom + size;
  paint(0, size / 8);
}

painted_stack::~painted_stack() { munmap(mapping, static_cast<std::size_t>(top - mapping)); }

void painted_stack::paint(std::size_t from_word, std::size_t to_word) noexcept {
  std::uint64_t *words = words_of(bottom);
  for (std::size_t i = from_word; i < to_word; ++i)
    words[i] = paint_at(i);
}

// To the byte: of the lowest word that differs, the lowest byte that does. A byte that happens to be written with
// the paint's own value is missed with a chance of 1/256; other calls, on stacks of other paint, find it.
std::byte *painted_stack::lowest_touched(const std::byte *cfa) const noexcept {
  const std::uint64_t *words = words_of(bottom);
  const auto count = static_cast<std::size_t>(cfa - bottom) / 8;
  constexpr std::size_t block = 512;
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t end = begin + block < count ? begin + block : count;
    std::uint64_t differing = 0; // without a branch inside: the compiler takes several words at once
    for (std::size_t i = begin; i < end; ++i)
      differing |= words[i] ^ paint_at(i);
    if (differing == 0)
      continue;
    for (std::size_t i = begin; i < end; ++i)
      if (const std::uint64_t bits = words[i] ^ paint_at(i); bits != 0)
        return bottom + i * 8 + std::countr_zero(bits) / 8;
  }
  return bottom + count * 8;
}

std::size_t painted_stack::call(call_frame &frame) {
  frame.top = top;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
    sigdelset(&all, fault);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  nth_marks_call(&frame);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);

  const std::byte *cfa = top - frame.word_count * 8;
  const std::byte *low = lowest_touched(cfa);
  paint(static_cast<std::size_t>(low - bottom) / 8, static_cast<std::size_t>(top - bottom) / 8);
  return static_cast<std::size_t>(cfa - low);
}

bool painted_stack::guards(const void *address) const noexcept {
  return address >= mapping && address < bottom;
}

} // namespace nth::marks
