#include "graph/targets_data.hpp"

#include "code/decode.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace nth::stack {

namespace {

constexpr address longest_row = 64; // bytes without a pointer to a function, within an object of unknown size

// Straight through the bytes: what is met so beyond the code that runs does no harm.
std::vector<address> named_places(const module &m, const function &f) {
  std::vector<address> all;
  std::span<const std::uint8_t> bytes = m.bytes_at(f.entry);
  bytes = bytes.first(std::min<std::size_t>(bytes.size(), f.end - f.entry));
  for (address at = f.entry; !bytes.empty();) {
    const instruction i = decode(bytes, at);
    if (i.memory.base == reg::none && !i.memory.segment && (i.memory.size != 0 || i.kind == op::lea))
      all.push_back(static_cast<address>(i.memory.displacement));
    if (i.has_immediate && !m.position_independent)
      all.push_back(static_cast<address>(i.width == 4 ? i.immediate & 0xffffffff : i.immediate));
    const std::size_t length = std::min<std::size_t>(i.length, bytes.size());
    bytes = bytes.subspan(length);
    at += length;
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// 0: no symbol tells.
address end_of_object(const module &m, address a) {
  for (const symbol &s : m.symbols)
    if (s.defined && s.kind == symbol_kind::object && a >= s.at && a - s.at < s.size)
      return s.at + s.size;
  return 0;
}

class object_reader {
public:
  object_reader(const analysed_module &m, named_functions &to) : m_(m), to_(to) {}

  void read(address place) {
    const section *s = m_.image.section_of(place);
    if (s == nullptr || s->executable || s->type == SHT_NOBITS)
      return;
    const bool slot = s->name == ".got" || s->name == ".got.plt"; // each of its words is an object
    address end = slot ? place + 8 : end_of_object(m_.image, place);
    const bool told = end != 0;
    end = told ? std::min(end, s->begin + s->size) : s->begin + s->size;
    address last = place; // that was known to be in the object
    for (address a = place; a < end && (told || a - last <= longest_row); ++a)
      if (is_pointer(a))
        last = a;
  }

private:
  bool is_pointer(address place) {
    bool any = false;
    for (const relocation &r : m_.image.relocations_in(place, place + 1)) {
      if (!r.dynamic)
        continue;
      if (r.kind == relocation_kind::relative) {
        any = add(static_cast<address>(r.addend)) || any;
      } else if (r.kind == relocation_kind::absolute && r.symbol != no_symbol) {
        to_.imported.push_back(&r);
        any = true;
      }
    }
    if (any || m_.image.position_independent)
      return any;
    const std::span<const std::uint8_t> bytes = m_.image.bytes_at(place);
    std::uint32_t half = 0;
    if (bytes.size() >= sizeof half)
      std::memcpy(&half, bytes.data(), sizeof half);
    return add(half) || add(m_.image.read_word(place).value_or(0));
  }

  bool add(address a) {
    if (m_.table.at(a) == no_function)
      return false;
    to_.here.push_back(a);
    return true;
  }

  const analysed_module &m_;
  named_functions &to_;
};

} // namespace

named_functions functions_in_named_data(const analysed_module &m, const function &f) {
  named_functions all;
  object_reader reader(m, all);
  for (const address place : named_places(m.image, f))
    reader.read(place);
  return all;
}

} // namespace nth::stack
