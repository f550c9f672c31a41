// Runs a function on a stack of its own that was painted before, and tells how far down it wrote: the mark. A need
// that an analysis claims for the function must cover every mark.
//
//   stack:  | guard | painted ........ touched | return address | arguments on the stack |
//                    ^bottom           ^low                     ^CFA                     ^top
//
// The mark is CFA - low: the return address counts, so a function that does nothing has a mark of 8, and bytes of
// the red zone count where they are written. What is reserved without being written isn't seen: a mark is a lower
// bound of what the function needs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nth::marks {

// Read and written by paint_call.S, which knows the offsets.
struct call_frame {
  std::uint64_t general[6] = {};               // rdi, rsi, rdx, rcx, r8, r9
  alignas(16) std::uint64_t vector[8][2] = {}; // xmm0 to xmm7
  std::uint64_t vectors = 0;                   // how many of these: al, for functions of variable arguments
  const std::uint64_t *words = nullptr;        // arguments on the stack
  std::uint64_t word_count = 0;                // even: the stack stays aligned
  const void *function = nullptr;
  std::byte *top = nullptr;       // of the stack to run on; a multiple of 16
  std::uint64_t rax = 0, rdx = 0; // what came back
  alignas(16) std::uint64_t xmm0[2] = {};
  std::uint64_t xmm1[2] = {};
};

class painted_stack {
public:
  // `seed` chooses the paint. Sizes are whole pages. Ends the process where there is no memory.
  painted_stack(std::size_t size, std::uint64_t seed);
  ~painted_stack();
  painted_stack(const painted_stack &) = delete;
  painted_stack &operator=(const painted_stack &) = delete;

  // Calls frame.function with all signals blocked but those of faults; returns the mark in bytes.
  std::size_t call(call_frame &frame);

  [[nodiscard]] bool guards(const void *address) const noexcept; // it lies in the guard area

private:
  std::byte *mapping = nullptr;
  std::byte *bottom = nullptr;
  std::byte *top = nullptr;
  std::uint64_t seed = 0;

  // A word that is different at each place: no run of equal bytes hides what is written.
  [[nodiscard]] std::uint64_t paint_at(std::size_t word) const noexcept {
    return (seed + word * 0x9e3779b97f4a7c15U) ^ (word << 29);
  }
  void paint(std::size_t from_word, std::size_t to_word) noexcept;
  [[nodiscard]] std::byte *lowest_touched(const std::byte *cfa) const noexcept;
};

} // namespace nth::marks
