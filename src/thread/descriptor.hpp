// The descriptor: all that a thread which has not started, or has ended, costs.
//
//   0        8       16       24                     32
//   | next   | root  | succ   | ndep gen state flags | args[4]                       |  64 bytes
//                                                      once started:
//                                                      | sp | caught | errno,… | fp   |
//
// Who may touch what: before a thread is enqueued, its creator; while it runs, its worker; `ndep` and
// `generation` by anyone, atomically (one 64-bit word, so that a late call is told from a right one).
#pragma once

#include "nth/nth.h"

#include <cstddef>
#include <cstdint>

namespace nth::detail {

enum class thread_state : std::uint8_t {
  free = 0,    // not in use: fresh memory reads so
  created,     // made, not enqueued
  ready_fresh, // enqueued or running, never suspended
  ready_again, // its stack holds a saved context
  blocked,     // suspended, waits for its count
  outside,     // stands for a kernel thread that is no worker
  spill        // holds successors or arguments of another descriptor
};

// flags
constexpr std::uint8_t flag_spilled = 0x08; // args[0] leads to spill blocks, args[1] words of arguments
constexpr std::uint8_t flag_many = 0x10;    // succ leads to spill blocks with several successors
constexpr std::uint8_t flag_keep_fp = 0x20;
constexpr std::uint8_t flag_token = 0x80; // an unblock came before its block

// ndep: bits 0 … 28 the count, and
constexpr std::uint32_t dep_waiting = 0x4000'0000; // one of the count is taken off by nth_unblock
constexpr std::uint32_t dep_count = 0x1fff'ffff;

} // namespace nth::detail

struct alignas(64) nth_desc {
  nth_desc *next;
  void (*root)();
  nth_desc *succ;
  std::uint32_t ndep;
  std::uint16_t generation;
  std::uint8_t state; // a thread_state
  std::uint8_t flags;
  long args[4];
};

static_assert(sizeof(nth_desc) == 64);
static_assert(offsetof(nth_desc, next) == 0 && offsetof(nth_desc, root) == 8 &&
              offsetof(nth_desc, succ) == 16);
static_assert(offsetof(nth_desc, ndep) == 24 && offsetof(nth_desc, generation) == 28);
static_assert(offsetof(nth_desc, state) == 30 && offsetof(nth_desc, flags) == 31 &&
              offsetof(nth_desc, args) == 32);

namespace nth::detail {

// args once the thread has started
enum saved_word { saved_sp = 0, saved_caught = 1, saved_errno = 2, saved_fp = 3 };

// The fields are plain in type, for creation writes them without ceremony, and atomic in use.
inline thread_state state_of(const nth_desc *d) noexcept {
  return static_cast<thread_state>(__atomic_load_n(&d->state, __ATOMIC_RELAXED));
}
inline void set_state(nth_desc *d, thread_state s) noexcept {
  __atomic_store_n(&d->state, static_cast<std::uint8_t>(s), __ATOMIC_RELAXED);
}
inline std::uint8_t flags_of(const nth_desc *d) noexcept {
  return __atomic_load_n(&d->flags, __ATOMIC_RELAXED);
}
inline std::uint32_t dependencies(const nth_desc *d) noexcept {
  return __atomic_load_n(&d->ndep, __ATOMIC_ACQUIRE);
}
inline std::uint16_t generation_of(const nth_desc *d) noexcept {
  return __atomic_load_n(&d->generation, __ATOMIC_RELAXED);
}

// ndep and generation (and state, flags) as one word, for calls by handle.
using dep_word [[gnu::may_alias]] = std::uint64_t;
inline dep_word *word_of(nth_desc *d) noexcept { return reinterpret_cast<dep_word *>(&d->ndep); }
constexpr std::uint32_t ndep_in(dep_word w) noexcept { return static_cast<std::uint32_t>(w); }
constexpr std::uint16_t generation_in(dep_word w) noexcept { return static_cast<std::uint16_t>(w >> 32); }
constexpr thread_state state_in(dep_word w) noexcept {
  return static_cast<thread_state>(static_cast<std::uint8_t>(w >> 48));
}
constexpr dep_word token_in_word = dep_word{flag_token} << 56;

// State and flags at once, for what is common: never suspended, nothing special.
using state_flags [[gnu::may_alias]] = std::uint16_t;
inline bool is_plain_fresh(const nth_desc *d) noexcept {
  return __atomic_load_n(reinterpret_cast<const state_flags *>(&d->state), __ATOMIC_RELAXED) ==
         static_cast<std::uint16_t>(thread_state::ready_fresh);
}

// The fields that every creation writes. The generation is left alone: it was counted up when the last
// use ended, and reading it here would wait for a line that need only be written.
inline void prepare_desc(nth_desc *d, void (*root)(), nth_desc *succ, int ndep, std::uint8_t flags) noexcept {
  d->root = root;
  d->succ = succ;
  __atomic_store_n(&d->ndep, static_cast<std::uint32_t>(ndep), __ATOMIC_RELAXED);
  __atomic_store_n(
      reinterpret_cast<state_flags *>(&d->state),
      static_cast<std::uint16_t>(static_cast<unsigned>(thread_state::created) | unsigned{flags} << 8),
      __ATOMIC_RELAXED);
}

// Ends the use of a descriptor: whoever holds a handle of it is late from now on. One store of generation,
// state (free) and flags (none).
using generation_word [[gnu::may_alias]] = std::uint32_t;
inline void retire(nth_desc *d) noexcept {
  __atomic_store_n(reinterpret_cast<generation_word *>(&d->generation),
                   static_cast<std::uint16_t>(generation_of(d) + 1), __ATOMIC_RELAXED);
}

// A spill block: a descriptor's memory that holds further words of another one, linked by `next`.
// Words 0 and 1 lie in root and succ, 2 … 5 in args.
constexpr int spill_words = 6;

} // namespace nth::detail
