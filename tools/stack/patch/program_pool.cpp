#include "patch/program_pool.hpp"

#include "code/decode.hpp"
#include "image/cursor.hpp"

#include <algorithm>
#include <cstring>

#include <elf.h>
#include <fmt/format.h>

namespace nth::stack {

namespace {

[[noreturn]] void refuse(const module &m, std::string_view what) {
  throw bad_input(fmt::format("{}: {}", m.path, what));
}

const section &section_named(const module &m, std::string_view name) {
  const auto found = std::ranges::find(m.sections, name, &section::name);
  if (found == m.sections.end())
    refuse(m,
           fmt::format("has no section {}: it was not linked with a pool of stubs; link it by nth-stack link",
                       name));
  return *found;
}

// By a symbol in the section of the stubs: libgcc has a __morestack of its own.
address code_named(const module &m, const section &in, std::string_view name) {
  for (const symbol &s : m.symbols)
    if (s.name == name && s.defined && s.at - in.begin < in.size)
      return s.at;
  return 0;
}

// The linker sets it if all that was linked is made for it.
bool tracks_branches(const module &m) {
  for (const section &s : m.sections) {
    if (s.name != ".note.gnu.property")
      continue;
    const auto bytes = m.bytes_at(s.begin);
    cursor c(bytes.first(std::min<std::size_t>(bytes.size(), s.size)));
    while (!c.at_end()) {
      const auto note = c.take<Elf64_Nhdr>();
      c.skip((note.n_namesz + 3U) & ~3U);
      cursor properties(c.piece(note.n_descsz));
      c.skip(-c.at() % 8);
      while (note.n_type == NT_GNU_PROPERTY_TYPE_0 && !properties.at_end()) {
        const auto type = properties.take<std::uint32_t>();
        const auto size = properties.take<std::uint32_t>();
        cursor data(properties.piece(size));
        properties.skip(-properties.at() % 8);
        if (type == GNU_PROPERTY_X86_FEATURE_1_AND &&
            (data.take<std::uint32_t>() & GNU_PROPERTY_X86_FEATURE_1_IBT) != 0)
          return true;
      }
    }
  }
  return false;
}

bool fits(const section &s, std::int64_t at, std::uint64_t count, std::uint64_t size) {
  return at >= static_cast<std::int64_t>(sizeof(nth_growth_header)) &&
         static_cast<std::uint64_t>(at) <= s.size &&
         count <= (s.size - static_cast<std::uint64_t>(at)) / size;
}

void check_tables(const module &m, const section &s, const nth_growth_header &h) {
  const bool whole = fits(s, h.stub_at, h.stub_room, sizeof(nth_growth_stub)) &&
                     fits(s, h.need_at, h.need_room, sizeof(nth_growth_need)) &&
                     fits(s, h.site_at, h.site_room, sizeof(nth_growth_site)) &&
                     fits(s, h.text_at, h.text_room, 1);
  if (std::memcmp(h.magic, NTH_GROWTH_MAGIC, sizeof h.magic) != 0 || !whole)
    refuse(m, "its section .nth_growth is none that this version of nth-stack made; link it again by "
              "nth-stack link");
  const std::uint64_t tables = sizeof h + std::uint64_t{h.stub_room} * sizeof(nth_growth_stub) +
                               std::uint64_t{h.need_room} * sizeof(nth_growth_need) +
                               std::uint64_t{h.site_room} * sizeof(nth_growth_site) + h.text_room;
  if (s.size > tables + alignof(nth_growth_header))
    refuse(m, "was linked with more than one pool of stubs; link it with one");
}

// The comparison of a stub: 64 48 3b 24 25, then where the limit is.
std::optional<std::int32_t> limit_of_stub(const module &m, address stub) {
  auto bytes = m.bytes_at(stub);
  instruction i = decode(bytes, stub);
  if (i.kind == op::other && i.length == 4 && bytes.size() > 4) { // endbr64
    bytes = bytes.subspan(4);
    i = decode(bytes, stub + 4);
  }
  if (i.kind != op::cmp || i.length != 9 || !i.memory.segment || bytes[0] != 0x64)
    return std::nullopt;
  return static_cast<std::int32_t>(i.memory.displacement);
}

} // namespace

program_pool find_pool(const module &m) {
  const section &tables = section_named(m, ".nth_growth");
  const section &code = section_named(m, ".nth_stubs");
  program_pool pool;
  pool.header_at = tables.begin;
  const auto header = read_at<nth_growth_header>(m.bytes_at(tables.begin), 0);
  if (!header || tables.size < sizeof(nth_growth_header))
    refuse(m, "its section .nth_growth is cut short; link it again");
  pool.header = *header;
  check_tables(m, tables, pool.header);
  pool.stubs = pool.header_at + static_cast<address>(std::int64_t{pool.header.pool});
  if (pool.stubs < code.begin || pool.stubs - code.begin > code.size ||
      pool.header.stub_room > (code.size - (pool.stubs - code.begin)) / NTH_STUB_SIZE)
    refuse(m, "its sections .nth_stubs and .nth_growth do not fit each other; link it again");
  if (pool.header.stub_room == 0)
    refuse(m, "was linked with a pool of no stubs; link it with room for one at least");
  const std::size_t last = pool.header.stub_room - 1;
  const auto limits = limit_of_stub(m, pool.stub(last));
  if (!limits && pool.header.filled == 0)
    refuse(m, "its stubs are not as nth-stack leaves them; link it again");
  pool.limits = limits.value_or(0);
  pool.morestack = code_named(m, code, "__morestack");
  if (pool.morestack == 0)
    refuse(m, "its section .nth_stubs has no __morestack with a symbol; link it without -s");
  if (m.interpreter.empty() && !m.shared)
    pool.entry = code_named(m, code, "nth_growth_entry");
  pool.branch_tracking = tracks_branches(m);
  return pool;
}

std::optional<std::uint32_t> limit_for(const std::vector<std::uint32_t> &thresholds,
                                       std::uint32_t need) noexcept {
  for (std::size_t i = 0; i < thresholds.size(); ++i)
    if (thresholds[i] >= need)
      return static_cast<std::uint32_t>(i);
  return std::nullopt;
}

} // namespace nth::stack
