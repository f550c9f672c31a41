#include "code/address_tables.hpp"

#include <algorithm>
#include <cstring>

namespace nth::stack {

address_table::address_table(const code_map &map, flow &f, const value &v)
    : map_(map), entry_(v), exact_(v.stride == 0 || (v.hi > 0 && !v.loose)) {
  if (exact_) {
    count_ = v.stride == 0 ? 1 : v.hi;
    return;
  }
  const address begin = static_cast<address>(v.lo);
  const address end = end_of_words(f);
  const std::int64_t fit = end <= begin ? 0 : static_cast<std::int64_t>((end - begin) / v.stride);
  count_ = v.hi == 0 ? fit : std::min(fit, v.hi);
  in_relocations_ = relocated(0);
}

// The next address that the function names, the next object, or the section's end, whichever comes first.
address address_table::end_of_words(flow &f) const {
  const auto begin = static_cast<address>(entry_.lo);
  address end = begin + map_.image.bytes_at(begin).size();
  if (const section *s = map_.image.section_of(begin))
    end = std::min(end, s->begin + s->size);
  end = std::min(end, map_.next_object(begin));
  const straight_sweep &s = f.sweep();
  const auto next = std::upper_bound(s.constants.begin(), s.constants.end(), begin);
  return s.reliable && next != s.constants.end() ? std::min(end, *next) : end;
}

bool address_table::relocated(std::int64_t i) const noexcept {
  const address place = static_cast<address>(entry_.lo) + static_cast<address>(i) * entry_.stride;
  return !map_.image.relocations_in(place, place + 1).empty();
}

std::optional<address> address_table::at(std::int64_t i) const noexcept {
  if (in_relocations_ && !relocated(i))
    return std::nullopt;
  const address place = static_cast<address>(entry_.lo) + static_cast<address>(i) * entry_.stride;
  if (entry_.width == 8)
    return map_.pointer_at(place);
  const std::span<const std::uint8_t> bytes = map_.image.bytes_at(place);
  if (bytes.size() < 4)
    return std::nullopt;
  std::int32_t word = 0;
  std::memcpy(&word, bytes.data(), 4);
  const auto distance =
      entry_.sign ? std::int64_t{word} : static_cast<std::int64_t>(static_cast<std::uint32_t>(word));
  return entry_.base + static_cast<address>(distance);
}

std::vector<address> functions_in_table(const code_map &map, flow &f, const value &v) {
  std::vector<address> all;
  const address_table table(map, f, v);
  for (std::int64_t i = 0; i < table.count(); ++i) {
    const std::optional<address> to = table.at(i);
    const bool is_function = to && map.table.at(*to) != no_function;
    if (is_function)
      all.push_back(*to);
    else if (!table.exact() || !to)
      break;
  }
  return all;
}

} // namespace nth::stack
