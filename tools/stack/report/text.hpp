// Names and sizes as people and formats want them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nth::stack {

// A JSON string with its quotes. Names may hold any bytes: what is no UTF-8 becomes U+FFFD.
std::string json_string(std::string_view s);
// The same for a script element in HTML: holds no '<' either.
std::string json_string_for_html(std::string_view s);
// For a terminal: what is no UTF-8 and what a terminal would obey becomes '?'.
std::string printable(std::string_view s);

// A demangled name cut to `width` characters: parameters and template arguments go first, then its middle.
std::string shorten(std::string_view name, std::size_t width);
std::size_t width_of(std::string_view utf8) noexcept; // in characters

// "4096", "4K", "1M", "64KiB"; nothing for what is no size or above 2^62.
std::optional<std::int64_t> parse_size(std::string_view s) noexcept;
std::string human_size(std::int64_t bytes); // "312 B", "4.0 KiB"
std::string hex(std::uint64_t address);     // "0x401000"

// Of `names`, those that a mistyped `wanted` may have meant, the nearest first, `most` of them.
std::vector<std::string> near_names(std::string_view wanted, const std::vector<std::string_view> &names,
                                    std::size_t most);

} // namespace nth::stack
