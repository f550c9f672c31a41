#include "image/debug_info.hpp"

#include <memory>
#include <utility>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <libelf.h>
#include <unistd.h>

namespace nth::stack {

namespace {

constexpr int longest_type_chain = 64;
constexpr int deepest_nesting = 64;
constexpr std::size_t most_parameters = 256;

struct dwarf_closer {
  void operator()(Dwarf *d) const noexcept { dwarf_end(d); }
};
using dwarf_handle = std::unique_ptr<Dwarf, dwarf_closer>;

bool has_section(const module &m, std::string_view name) {
  for (const section &s : m.sections)
    if (s.name == name && s.size != 0)
      return true;
  return false;
}

// Damaged information may lead in circles: what comes after something must lie after it.
bool next_sibling(Dwarf_Die &die) {
  const Dwarf_Off before = dwarf_dieoffset(&die);
  return dwarf_siblingof(&die, &die) == 0 && dwarf_dieoffset(&die) > before;
}

bool first_child(Dwarf_Die &die, Dwarf_Die &child) {
  return dwarf_haschildren(&die) == 1 && dwarf_child(&die, &child) == 0 &&
         dwarf_dieoffset(&child) > dwarf_dieoffset(&die);
}

bool follow(Dwarf_Die &die, unsigned attribute, Dwarf_Die &to) {
  Dwarf_Attribute a{};
  return dwarf_attr(&die, attribute, &a) != nullptr && dwarf_formref_die(&a, &to) != nullptr;
}

// Of a parameter or function, which may have it from what it is an instance of.
bool type_of(Dwarf_Die die, Dwarf_Die &type) {
  for (int i = 0; i != longest_type_chain; ++i) {
    if (follow(die, DW_AT_type, type))
      return true;
    Dwarf_Die origin{};
    if (!follow(die, DW_AT_abstract_origin, origin) && !follow(die, DW_AT_specification, origin))
      return false;
    die = origin;
  }
  return false;
}

std::string sized(char letter, Dwarf_Die &type) {
  const int size = dwarf_bytesize(&type);
  if (size >= 0)
    return letter + std::to_string(size);
  Dwarf_Word computed = 0;
  Dwarf_Attribute vector{};
  // Of arrays, libdw multiplies the bounds; of all else it would follow types on its own.
  if (dwarf_attr(&type, DW_AT_GNU_vector, &vector) != nullptr && dwarf_aggregate_size(&type, &computed) == 0)
    return letter + std::to_string(computed);
  return "?";
}

std::string base_type(Dwarf_Die &type) {
  Dwarf_Attribute a{};
  Dwarf_Word encoding = 0;
  if (dwarf_formudata(dwarf_attr(&type, DW_AT_encoding, &a), &encoding) != 0)
    return "?";
  switch (encoding) {
  case DW_ATE_float:
    return sized('f', type);
  case DW_ATE_complex_float:
    return sized('c', type);
  case DW_ATE_boolean:
  case DW_ATE_signed:
  case DW_ATE_signed_char:
  case DW_ATE_unsigned:
  case DW_ATE_unsigned_char:
  case DW_ATE_UTF:
    return sized('i', type);
  default:
    return "?";
  }
}

// Pointers to members: an offset, or for functions two words.
std::string member_pointer(Dwarf_Die &type) {
  Dwarf_Die target{};
  return follow(type, DW_AT_type, target) && dwarf_tag(&target) == DW_TAG_subroutine_type ? "s16" : "i8";
}

std::string class_of(Dwarf_Die type) {
  for (int i = 0; i != longest_type_chain; ++i) {
    switch (dwarf_tag(&type)) {
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
    case DW_TAG_subrange_type: {
      Dwarf_Die inner{};
      if (!follow(type, DW_AT_type, inner))
        return "?";
      type = inner;
      break;
    }
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_unspecified_type:
      return "p";
    case DW_TAG_base_type:
      return base_type(type);
    case DW_TAG_enumeration_type:
      return sized('i', type);
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
      return sized('s', type);
    case DW_TAG_array_type: {
      Dwarf_Attribute vector{};
      return sized(dwarf_attr(&type, DW_AT_GNU_vector, &vector) != nullptr ? 'v' : 's', type);
    }
    case DW_TAG_ptr_to_member_type:
      return member_pointer(type);
    default:
      return "?";
    }
  }
  return "?";
}

bool is_c(Dwarf_Die &unit) {
  switch (dwarf_srclang(&unit)) {
  case DW_LANG_C:
  case DW_LANG_C89:
  case DW_LANG_C99:
  case DW_LANG_C11:
    return true;
  default:
    return false;
  }
}

bool follows_psabi(Dwarf_Die &unit) {
  switch (dwarf_srclang(&unit)) {
  case DW_LANG_C_plus_plus:
  case DW_LANG_C_plus_plus_03:
  case DW_LANG_C_plus_plus_11:
  case DW_LANG_C_plus_plus_14:
  case DW_LANG_ObjC:
  case DW_LANG_ObjC_plus_plus:
  case DW_LANG_Fortran77:
  case DW_LANG_Fortran90:
  case DW_LANG_Fortran95:
  case DW_LANG_Fortran03:
  case DW_LANG_Fortran08:
    return true;
  default:
    return is_c(unit);
  }
}

// Of what gcc adds to constructors and destructors, some have the parameter and others not.
bool is_added(Dwarf_Die &parameter, std::size_t place) {
  Dwarf_Attribute a{};
  return place != 0 && dwarf_attr_integrate(&parameter, DW_AT_artificial, &a) != nullptr;
}

signature signature_of(Dwarf_Die function, bool c) {
  // An instance may lack parameters that were optimised away.
  Dwarf_Die declared{};
  if (!follow(function, DW_AT_abstract_origin, declared))
    declared = function;
  signature s;
  if (c) {
    Dwarf_Attribute a{};
    s.prototyped = dwarf_attr_integrate(&declared, DW_AT_prototyped, &a) != nullptr;
  }
  Dwarf_Die child{};
  std::size_t parameters = 0;
  for (bool more = first_child(declared, child); more && parameters != most_parameters;
       more = next_sibling(child)) {
    if (dwarf_tag(&child) == DW_TAG_unspecified_parameters)
      s.variadic = true;
    if (dwarf_tag(&child) != DW_TAG_formal_parameter)
      continue;
    Dwarf_Die type{};
    const bool told = !is_added(child, parameters) && type_of(child, type);
    s.text += (told ? class_of(type) : "?") + ' ';
    ++parameters;
  }
  Dwarf_Die type{};
  s.text += "-> " + (type_of(declared, type) ? class_of(type) : "-");
  return s;
}

address entry_of(Dwarf_Die &function) {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  if (dwarf_lowpc(&function, &begin) == 0)
    return begin;
  return dwarf_ranges(&function, 0, &base, &begin, &end) > 0 ? begin : 0; // the first one has the entry
}

} // namespace

class debug_reader {
public:
  debug_reader(debug_info &into, Dwarf *from) : into_(into), from_(from) {}

  void read() {
    Dwarf_Off at = 0, next = 0;
    std::size_t header = 0;
    for (; dwarf_nextcu(from_, at, &next, &header, nullptr, nullptr, nullptr) == 0 && next > at; at = next) {
      Dwarf_Die unit{};
      if (dwarf_offdie(from_, at + header, &unit) == nullptr)
        continue;
      c_ = is_c(unit);
      if (follows_psabi(unit))
        read_children(unit, 0);
    }
  }

private:
  void read_children(Dwarf_Die &parent, int depth) {
    Dwarf_Die die{};
    if (depth == deepest_nesting)
      return;
    for (bool more = first_child(parent, die); more; more = next_sibling(die)) {
      switch (dwarf_tag(&die)) {
      case DW_TAG_subprogram:
        if (const address entry = entry_of(die); entry != 0)
          into_.add(entry, signature_of(die, c_));
        [[fallthrough]]; // functions may lie in functions
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_lexical_block:
        read_children(die, depth + 1);
        break;
      default:
        break;
      }
    }
  }

  debug_info &into_;
  Dwarf *from_;
  bool c_ = false;
};

namespace {

// A file of debug information, open as long as this lives.
class debug_file {
public:
  explicit debug_file(const std::filesystem::path &path)
      : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)),
        dwarf_(file_ < 0 ? nullptr : dwarf_begin(file_, DWARF_C_READ)) {}
  debug_file(const debug_file &) = delete;
  debug_file &operator=(const debug_file &) = delete;
  ~debug_file() {
    dwarf_.reset();
    if (file_ >= 0)
      close(file_);
  }
  [[nodiscard]] Dwarf *dwarf() const noexcept { return dwarf_.get(); }

private:
  int file_;
  dwarf_handle dwarf_;
};

// A file of that name that was made for another build would tell of other functions.
bool has_build_id(Dwarf *d, const std::string &wanted) {
  const void *id = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(dwarf_getelf(d), &id);
  std::string text;
  for (ssize_t i = 0; i < size; ++i)
    text += fmt::format("{:02x}", static_cast<const std::uint8_t *>(id)[i]);
  return text == wanted;
}

} // namespace

debug_info::debug_info(const module &m, const std::filesystem::path &directory) {
  if (has_section(m, ".debug_info") || has_section(m, ".zdebug_info")) {
    if (const dwarf_handle own{dwarf_begin_elf(m.elf(), DWARF_C_READ, nullptr)}; own != nullptr) {
      path = m.path;
      debug_reader(*this, own.get()).read();
    }
    return;
  }
  if (m.build_id.size() <= 2)
    return;
  const auto split = directory / ".build-id" / m.build_id.substr(0, 2) / (m.build_id.substr(2) + ".debug");
  const debug_file file(split);
  if (file.dwarf() == nullptr || !has_build_id(file.dwarf(), m.build_id))
    return;
  path = split.string();
  debug_reader(*this, file.dwarf()).read();
}

void debug_info::add(address entry, signature s) {
  const std::string key = s.text + (s.variadic ? "v" : "") + (s.prototyped ? "" : "k");
  const auto [known, added] = known_.emplace(key, static_cast<std::uint32_t>(signatures_.size()));
  if (added)
    signatures_.push_back(std::move(s));
  const auto [at_entry, first] = by_entry_.emplace(entry, known->second);
  if (!first && at_entry->second != known->second)
    at_entry->second = contradicting;
}

const signature *debug_info::of(address entry) const noexcept {
  const auto found = by_entry_.find(entry);
  return found != by_entry_.end() && found->second != contradicting ? &signatures_[found->second] : nullptr;
}

} // namespace nth::stack
