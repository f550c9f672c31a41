// What is known of a register or a word of the stack at one place in the code, and how ways that meet are joined.
#pragma once

#include "code/decode.hpp"

#include <array>
#include <limits>

namespace nth::stack {

// The domain. Everything not said is unknown.
//
//   stack       anchor - d, lo <= d <= hi          anchor 0 is the CFA; others: see frame_anchors
//   number      the low `width` bytes, unsigned, are lo + stride·i, at most hi. hi == far: lo + stride·i for any i
//   word        loaded from lo + stride·i, i < hi (hi 0: any i), `width` bytes, sign-extended if `sign`
//   target      such a word of 4 bytes, plus `base`: where a jump of a position-independent table goes; or, if
//               `or_base`, the base itself
//   first_word  the word at an address of unknown origin, plus lo (a pointer to a vtable, if it is called through)
//   field       loaded from lo bytes behind a first_word
//   member      loaded from lo bytes behind a pointer of unknown origin
//   computed    unknown, made by arithmetic: not a pointer as some other code stored it
enum class value_kind : std::uint8_t {
  unknown,
  computed,
  stack,
  number,
  word,
  target,
  first_word,
  field,
  member
};

inline constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();

struct value {
  value_kind kind = value_kind::unknown;
  std::uint8_t width = 8;
  bool sign = false;
  bool or_base = false;
  bool loose = false;   // number, word: the upper bound comes from a type or a mask, not from a comparison
  bool of_code = false; // computed: from a constant that may be an address
  std::uint16_t anchor = 0;
  std::uint32_t stride = 0;
  std::uint32_t id = 0;   // values of the same id, not 0, less their `delta` have the same low 4 bytes
  std::int32_t delta = 0; // not 0: a number of 8 bytes that did not wrap
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  address base = 0;

  void forget_name() noexcept { id = 0, delta = 0; }

  bool operator==(const value &) const noexcept = default;

  [[nodiscard]] bool is_constant() const noexcept {
    return kind == value_kind::number && lo == hi && width == 8;
  }
  [[nodiscard]] bool is_range() const noexcept { return kind == value_kind::number && hi != far; }
  [[nodiscard]] bool is_exact_stack() const noexcept { return kind == value_kind::stack && lo == hi; }
};

value number(std::int64_t lo, std::int64_t hi) noexcept;
inline value constant(std::int64_t n) noexcept { return number(n, n); }
value on_stack(std::uint16_t anchor, std::int64_t lo, std::int64_t hi) noexcept;
value of_kind(value_kind k) noexcept;
// Made by arithmetic from both.
value computed_from(const value &a, const value &b) noexcept;
value loose_number(std::int64_t hi) noexcept;

// Range of the low `bytes` of any value.
struct range {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
};
range low_range(const value &v, unsigned bytes) noexcept;

value add(const value &a, const value &b) noexcept;
value subtract(const value &a, const value &b) noexcept;
value scale(const value &v, std::int64_t factor) noexcept;
// v & mask, where mask is sign-extended.
value mask(const value &v, std::int64_t bits) noexcept;
// The low 4 bytes of v, the upper ones cleared.
value clear_upper(const value &v) noexcept;
value sign_extend(const value &v, unsigned from_bytes) noexcept;

// Places below the CFA at a distance that is not one number: rsp after it was aligned, or after an allocation whose
// size is not known. What lies around them is told relative to them, exactly.
struct frame_anchors {
  struct anchor {
    address made_at = 0;
    std::int64_t lo = 0; // below the CFA
    std::int64_t hi = 0; // far: no bound
    std::int64_t alignment = 1;
    bool switched = false; // rsp came from elsewhere
    address cause = 0;     // without bound: the instruction that made it so
    unsigned changes = 0;
  };
  static constexpr std::size_t most = 200;
  static constexpr std::int64_t most_apart = 16 << 20;
  std::vector<anchor> list = {anchor{}};
  bool changed = false;

  // The anchor made by the instruction at `at`, now also where `place` may be.
  std::uint16_t make(address at, const value &place, std::int64_t alignment, bool switched);
  // The same place told from the CFA.
  [[nodiscard]] value from_cfa(const value &stack) const noexcept;
};

struct stack_slot {
  std::uint16_t anchor = 0;
  std::uint8_t size = 8;
  std::int64_t depth = 0; // of its lowest byte
  value held;
  bool operator==(const stack_slot &) const noexcept = default;
};

// The last comparison, while flags and what was compared are as they were.
struct comparison {
  enum class what : std::uint8_t { none, with_constant, slot_with_constant, word_with_constant, registers };
  what kind = what::none;
  reg left = reg::none;
  reg right = reg::none;
  std::uint8_t width = 0;
  std::uint16_t anchor = 0;
  std::int64_t depth = 0; // of the slot; the word's displacement from `left`
  std::int64_t number = 0;
  value subject; // what `left` held: copies of it tell the same when `left` holds something else
  bool operator==(const comparison &) const noexcept = default;
};

// A word in memory at base + displacement that was compared and not written since.
struct bounded_word {
  reg base = reg::none; // none: there is none
  std::uint8_t width = 0;
  std::int64_t displacement = 0;
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  bool operator==(const bounded_word &) const noexcept = default;
};

struct state {
  static constexpr std::size_t most_slots = 12;

  std::array<value, 16> registers{};
  std::array<stack_slot, most_slots> slots{};
  std::uint8_t slot_count = 0;
  comparison compared;
  bounded_word bounded;

  [[nodiscard]] const value &at(reg r) const noexcept { return registers[static_cast<std::size_t>(r)]; }
  [[nodiscard]] const value &rsp() const noexcept { return at(reg::rsp); }
  void set(reg r, const value &v) noexcept;

  [[nodiscard]] const stack_slot *slot(std::uint16_t anchor, std::int64_t depth) const noexcept;
  void store(std::uint16_t anchor, std::int64_t depth, std::uint8_t size, const value &v) noexcept;
  // Something was written, no one knows where: pointers to the stack that the compiler saved are not touched by that.
  void forget_numbers() noexcept;
  void forget_words() noexcept;
  // What lies below `top` may have changed.
  void forget_below(const value &top) noexcept;
  void forget_anchor(std::uint16_t anchor, const frame_anchors &anchors) noexcept;
  void forget_id(std::uint32_t id) noexcept;
};

// A value that is one of the two.
value either(const value &a, const value &b, const frame_anchors &anchors) noexcept;

// Makes `into` hold for the ways of both; tells whether it changed. `times`: how often this place was joined before.
bool join(state &into, const state &from, const frame_anchors &anchors, unsigned times) noexcept;

} // namespace nth::stack
