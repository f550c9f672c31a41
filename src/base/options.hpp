// The one table of options: environment name, field, default, range, text. nth_options_init,
// nth_options_print, the checks in nth_init and the test of doc/options.md all read it.
#pragma once

#include "nth/nth.h"

#include <cstddef>

namespace nth::detail {

enum class option_kind : unsigned char { number, size, flag, policy, text };

struct option_row {
  const char *name;         // environment variable
  long nth_options::*field; // null for kind text
  option_kind kind;         // size: accepts K, M, G, T (powers of 1024); must be a power of two
  long standard;            // default
  long lowest;
  long highest;
  const char *text;
  // Kind text alone: a string that lives where it was set, NULL for the default. It is judged where it is
  // used: what is right depends on the machine.
  const char *nth_options::*text_field = nullptr;
  const char *text_standard = nullptr; // what the default stands for
  const char *text_accepted = nullptr; // in a few words
};

// The most that NTH_STACK_SIZE may be: what a message about an overflow may advise.
inline constexpr long largest_stack_size = 1L << 20;

// The rows, and their number in `count`.
const option_row *option_table(int &count) noexcept;

nth_status read_options(nth_options &options) noexcept;        // defaults, then the environment
nth_status check_options(const nth_options &options) noexcept; // ranges; the message names field and range
void print_options(int fd) noexcept;
// Whether somebody has set stack_size: to something else than its default, or in the environment.
bool is_chosen_stack_size(const nth_options &options) noexcept;

// A value (of kind text: the default, whatever `value` is), and what a row accepts, as they are written in the
// environment and in doc/options.md: 64K, dsr; "16K..1M, a power of two". Each returns `buffer`.
inline constexpr std::size_t option_text_size = 80;
const char *option_value(const option_row &row, long value, char (&buffer)[option_text_size]) noexcept;
const char *option_range(const option_row &row, char (&buffer)[option_text_size]) noexcept;

} // namespace nth::detail
