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

#include "arch/desc_offsets.h"
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
  spill,       // holds successors or arguments of another descriptor, or what a loop has in common
  member,      // of a batch, not initialised yet
  waits        // suspended at a sync, until a call that it has spawned has ended
};

// flags
constexpr std::uint8_t flag_class = 0x0f; // 0: a stack of the default class; else 1 + the region of its stack
constexpr std::uint8_t flag_spilled = 0x10; // args[0] leads to spill blocks, args[1] words of arguments
constexpr std::uint8_t flag_no_suspend =
    0x10; // once started: in nth_no_suspend scopes, counted beside the saved fp
constexpr std::uint8_t flag_many = 0x20; // succ leads to spill blocks with several successors
constexpr std::uint8_t flag_keep_fp = 0x40;
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
static_assert(offsetof(nth_desc, next) == NTH_DESC_NEXT && offsetof(nth_desc, root) == NTH_DESC_ROOT &&
              offsetof(nth_desc, succ) == NTH_DESC_SUCC);
static_assert(offsetof(nth_desc, ndep) == NTH_DESC_NDEP && offsetof(nth_desc, generation) == 28);
static_assert(offsetof(nth_desc, state) == NTH_DESC_STATE && offsetof(nth_desc, flags) == 31 &&
              offsetof(nth_desc, args) == NTH_DESC_ARGS);

namespace nth::detail {

// args once the thread has started. saved_fp: MXCSR and x87 control word in 48 bits, with flag_keep_fp; the
// number of nth_no_suspend scopes above them, with flag_no_suspend. The flags end with the thread.
enum saved_word { saved_sp = 0, saved_caught = 1, saved_errno = 2, saved_fp = 3 };
constexpr unsigned scopes_shift = 48;
constexpr std::uint64_t below_scopes = (std::uint64_t{1} << scopes_shift) - 1;

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

// State and flags are written together where they are soon read together: a load of two bytes that were
// written one by one waits for both stores.
inline unsigned state_and_flags(const nth_desc *d) noexcept {
  return __atomic_load_n(reinterpret_cast<const state_flags *>(&d->state), __ATOMIC_RELAXED);
}
inline void set_state_and_flags(nth_desc *d, unsigned both) noexcept {
  __atomic_store_n(reinterpret_cast<state_flags *>(&d->state), static_cast<std::uint16_t>(both),
                   __ATOMIC_RELAXED);
}
// A thread that was made, and now waits in a queue.
inline void set_ready_fresh(nth_desc *d, unsigned created) noexcept {
  set_state_and_flags(d, created + static_cast<unsigned>(thread_state::ready_fresh) -
                             static_cast<unsigned>(thread_state::created));
}

// A member of a batch that is to be initialised. Threads leave a count of zero behind, so a predecessor that ends too
// early is noticed. `common`: its creation needs no look at the table of needs.
constexpr unsigned member_common = static_cast<unsigned>(thread_state::member);
constexpr unsigned member_by_need = member_common | 0x100;
static_assert(member_common == NTH_DESC_MEMBER &&
              static_cast<unsigned>(thread_state::created) == NTH_DESC_CREATED &&
              NTH_MAX_DEPENDENCIES == NTH_MOST_DEPENDENCIES);

inline bool is_plain_fresh(const nth_desc *d) noexcept {
  return state_and_flags(d) == static_cast<unsigned>(thread_state::ready_fresh);
}
// A thread that has been suspended, on a stack of the default class.
inline bool is_plain_again(const nth_desc *d) noexcept {
  constexpr unsigned wanted = static_cast<unsigned>(thread_state::ready_again);
  return (state_and_flags(d) & (0xffU | unsigned{flag_class} << 8)) == wanted;
}
inline unsigned class_of(const nth_desc *d) noexcept { return flags_of(d) & flag_class; }

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
