// All that the analysis may ask of a file, asked of bytes that may be anything: must end, without fault.
#pragma once

#include "image/functions.hpp"

namespace nth::stack::test {

// What was found, so that nothing can be left out. 0: refused.
inline std::uint64_t use_image(std::span<const std::uint8_t> bytes) {
  try {
    const module m("mutant", bytes);
    const unwind_table u(m);
    function_table f(m, u);
    std::uint64_t sum = 1 + m.warnings.size() + m.symbols.size() + m.run_by_loader.size();
    for (const unwind_entry &e : u.entries) {
      for (const cfa_row &row : u.rows(e))
        sum += row.end - row.begin;
      sum += static_cast<std::uint64_t>(u.first_row(e).offset) + e.landing_pads.size();
    }
    for (const relocation &r : m.relocations)
      sum += m.pointer_at(r.place).value_or(0) + m.is_constant(r.place) + m.relocations_in(0, r.place).size();
    for (const plt_stub &stub : m.plt)
      sum += m.bytes_at(stub.at).size() + m.read_word(stub.slot).value_or(0);
    for (const symbol &s : m.symbols)
      sum += s.name.size() + s.version.size() + f.named(s.name) + f.at(s.at) + f.containing(s.at - 1);
    for (const section &s : m.sections)
      sum += f.add(s.begin + 1, m) + f.add(s.begin + s.size - 1, m);
    return sum | 1u;
  } catch (const bad_input &e) {
    return e.what()[0] == '\0' ? 1 : 0;
  }
}

} // namespace nth::stack::test
