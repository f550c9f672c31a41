// Words and distances in data of which the linker kept the relocations.
#include "patch/references_parts.hpp"

#include "image/doubles.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace nth::stack {

void reference_finder::search_data() {
  std::ranges::sort(tables_);
  drop_doubles(tables_);
  const section *in = nullptr;
  for (const relocation &r : kept_.relocations) {
    if (r.dynamic || r.size == 0)
      continue;
    if (in == nullptr || r.place - in->begin >= in->size)
      in = image_.section_of(r.place);
    if (in == nullptr || in->executable || holds_no_references(*in))
      continue;
    if (r.kind == relocation_kind::absolute)
      add_word(r);
    else if (r.kind == relocation_kind::pc_relative)
      add_distance(r);
  }
}

void reference_finder::add_word(const relocation &r) {
  if (r.symbol == no_symbol || !kept_.symbols[r.symbol].defined)
    return;
  const address meant = kept_.symbols[r.symbol].at + static_cast<address>(r.addend);
  const address named = function_named(r.symbol);
  // In position-independent code the loader's own relocation tells what the word becomes.
  const address value = image_.position_independent
                            ? image_.pointer_at(r.place).value_or(0)
                            : static_cast<address>(signed_at(image_, r.place, r.size).value_or(0));
  if (!image_.position_independent && wanted(value))
    add(value, reference_kind::data_absolute, r.place, r.place, r.size);
  else if (wanted(meant) && value != meant)
    refuse(meant,
           fmt::format("the linker kept a relocation of {:#x} to it, but {:#x} is there", r.place, value));
  else if (named != 0 && value != named)
    refuse(named, fmt::format("an address some bytes from it is at {:#x}", r.place));
}

// All words between are distances too: one table.
bool reference_finder::is_table_from(address begin, address place) const noexcept {
  if (begin > place || (place - begin) % 4 != 0)
    return false;
  const auto entries = kept_.relocations_in(begin, place);
  address next = begin;
  for (const relocation &r : entries) {
    if (r.dynamic || r.kind != relocation_kind::pc_relative || r.size != 4 || r.place != next)
      return false;
    next += 4;
  }
  return next == place;
}

// `.long f - table`, in a table or alone (`.long f - .`). Where the relocation does not name the function, the beginning
// of the table must be known to tell what is meant: code computes it, or it has a symbol.
void reference_finder::add_distance(const relocation &r) {
  const auto held = signed_at(image_, r.place, r.size);
  if (!held)
    return;
  const auto distance = static_cast<address>(*held);
  if (const address named = function_named(r.symbol); named != 0) {
    if (distance == named + static_cast<address>(r.addend) - r.place)
      add(named, reference_kind::data_relative, r.place, r.place, r.size);
    else
      refuse(named,
             fmt::format("the linker kept a relocation of {:#x} to it, which does not tell what is there",
                         r.place));
    return;
  }
  const auto after = std::ranges::upper_bound(tables_, r.place);
  const address near = after == tables_.begin() ? r.place : *(after - 1);
  const bool in_table = is_table_from(near, r.place);
  const address base = in_table ? near : r.place;
  if (wanted(base + distance))
    add(base + distance, reference_kind::data_relative, r.place, r.place, r.size);
  else if (!in_table && image_.section_of(near) == image_.section_of(r.place) && wanted(near + distance))
    refuse(near + distance,
           fmt::format("{:#x} may be its distance from {:#x}, or no address", r.place, near));
}

} // namespace nth::stack
