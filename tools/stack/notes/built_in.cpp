#include "notes/built_in.hpp"

#include "notes/built_in_text.hpp"

#include <algorithm>
#include <array>

namespace nth::stack {

namespace {

// libgcc_s is the unwinder that glibc loads.
constexpr std::array<std::string_view, 4> parts_of_glibc = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2",
                                                            "libgcc_s.so.1"};

// Its malloc is glibc's: both names stand for one place.
bool has_static_glibc(const module &m) {
  address own = 0;
  address glibc = 0;
  for (const symbol &s : m.symbols) {
    if (s.defined && s.name == "malloc")
      own = s.at;
    if (s.defined && s.name == "__libc_malloc")
      glibc = s.at;
  }
  return own != 0 && own == glibc;
}

// Names with a `?`: what a static program has no symbol for was not linked. Of a library only some names may be known.
void settle_names(annotation &note, const module &m, bool all_names_known) {
  const auto is_missing = [&](const std::string &name) {
    return std::none_of(m.symbols.begin(), m.symbols.end(),
                        [&](const symbol &s) { return s.defined && s.name == name; });
  };
  std::vector<std::string> names;
  for (std::string &name : note.names) {
    const bool optional = name.ends_with('?');
    if (optional)
      name.pop_back();
    if (!optional || !all_names_known || !is_missing(name))
      names.push_back(std::move(name));
  }
  note.names = std::move(names);
}

bool has_nth(const module &m) {
  return std::ranges::any_of(m.symbols,
                             [](const symbol &s) { return s.defined && s.name == "nth_create_ls_v"; });
}

annotations notes_for(const module &m, std::string_view text, std::string_view file, bool all_names_known) {
  annotations notes = parse_annotations(text, file);
  for (annotation &note : notes.list) {
    note.module = m.name;
    note.built_in = true;
    settle_names(note, m, all_names_known);
  }
  return notes;
}

} // namespace

annotations built_in_notes(const module &m) {
  annotations notes;
  const bool linked_in = has_static_glibc(m);
  if (linked_in || std::ranges::find(parts_of_glibc, m.name) != parts_of_glibc.end())
    append(notes, notes_for(m, glibc_notes, "glibc.notes", linked_in && !m.shared && !m.stripped));
  if (has_nth(m))
    append(notes, notes_for(m, nth_notes, "nth.notes", false));
  return notes;
}

} // namespace nth::stack
