// The records that nth/stack.h leaves in a program.
#include "notes/annotations.hpp"
#include "notes/names.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <libelf.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>

namespace nth::stack {

namespace {

using what = annotation::what;

// As NTH_STACK_NOTE_ writes it.
struct record {
  std::uint64_t mark_and_kind;
  address at;
  std::int64_t number;
  address function;
  address file;
  std::uint64_t line;
  address names;
};
static_assert(sizeof(record) == 56);

constexpr std::uint64_t mark = 0x6b7473687400;

struct kind_of_record {
  std::uint64_t number;
  what kind;
  std::string_view word;
  std::int64_t least;
};
constexpr std::array<kind_of_record, 5> kinds = {{{1, what::need, "NTH_STACK_NEED", 8},
                                                  {2, what::frame, "NTH_STACK_FRAME", 8},
                                                  {3, what::depth, "NTH_STACK_DEPTH", 1},
                                                  {4, what::targets, "NTH_STACK_TARGETS", 0},
                                                  {6, what::blocks, "NTH_STACK_BLOCKS", 0}}};

std::span<const char> section_bytes(const module &m) {
  const auto s = std::find_if(m.sections.begin(), m.sections.end(),
                              [](const section &x) { return x.name == ".nth_stack"; });
  if (s == m.sections.end() || m.elf() == nullptr)
    return {};
  std::size_t size = 0;
  const char *file = elf_rawfile(m.elf(), &size);
  if (file == nullptr || s->offset > size || s->size > size - s->offset)
    return {};
  return {file + s->offset, static_cast<std::size_t>(s->size)};
}

std::string text_at(const module &m, address a) {
  constexpr std::size_t longest = 4096;
  const std::span<const std::uint8_t> bytes = m.bytes_at(a);
  const auto end =
      std::find(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), longest)),
                std::uint8_t{0});
  return {bytes.begin(), end};
}

std::string demangled(std::string_view symbol) {
  int status = 0;
  char *name = abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status);
  std::string result(name != nullptr && status == 0 ? name : symbol);
  std::free(name); // NOLINT(cppcoreguidelines-no-malloc): __cxa_demangle allocates so
  return result;
}

// __func__ of the source is the last part of a C++ name.
bool is_of(std::string_view symbol, std::string_view function) {
  const std::string_view base = without_clone(symbol);
  return base == function || last_part(without_parameters(demangled(base))) == function;
}

std::vector<std::string> split_names(std::string_view list) {
  std::vector<std::string> names;
  int depth = 0;
  std::string name;
  for (const char c : list) {
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      names.push_back(std::move(name));
      name.clear();
    } else if (c != ' ' || !name.empty()) {
      name += c;
    }
  }
  names.push_back(std::move(name));
  return names;
}

class section_reader {
public:
  explicit section_reader(const module &m) : m_(m) {
    for (const symbol &s : m.symbols)
      if (s.defined && (s.kind == symbol_kind::function || s.kind == symbol_kind::ifunc))
        functions_.push_back(&s);
    std::sort(functions_.begin(), functions_.end(),
              [](const symbol *a, const symbol *b) { return a->at < b->at; });
  }

  annotations read() {
    std::span<const char> bytes = section_bytes(m_);
    if (bytes.size() % sizeof(record) != 0)
      result_.misplaced.push_back(fmt::format(
          "{}: section .nth_stack is no list of records; build it with the nth/stack.h of this version",
          m_.path));
    for (; bytes.size() >= sizeof(record); bytes = bytes.subspan(sizeof(record))) {
      record r;
      std::memcpy(&r, bytes.data(), sizeof r);
      if (!take(r))
        break;
    }
    for (const auto &[spot, why] : homeless_)
      if (!placed_.contains(spot))
        result_.misplaced.push_back(fmt::format("{}: {}", std::get<0>(spot), why));
    return std::move(result_);
  }

private:
  using record_place = std::tuple<std::string, what>; // file and line

  bool take(const record &r) {
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const kind_of_record &k) {
      return mark + k.number == r.mark_and_kind;
    });
    if (kind == kinds.end()) {
      result_.misplaced.push_back(fmt::format(
          "{}: a record in section .nth_stack is unknown; build it with the nth/stack.h of this version",
          m_.path));
      return false;
    }
    annotation a;
    a.kind = kind->kind;
    a.module = m_.name;
    a.bytes = r.number;
    a.where = fmt::format("{}:{}", text_at(m_, r.file), r.line);
    a.because = fmt::format("said in the source by {}", kind->word);
    if (a.kind == what::targets)
      a.names = split_names(text_at(m_, r.names));
    a.function = text_at(m_, r.function);
    std::string why = find_home(a, r.at);
    if (why.empty() && r.number < kind->least)
      why = fmt::format("its number is {}, and at least {} makes sense", r.number, kind->least);
    if (!why.empty()) {
      homeless_.try_emplace({a.where, a.kind}, fmt::format("{} of {}: {}", kind->word, a.function, why));
      return true;
    }
    placed_.try_emplace({a.where, a.kind});
    const bool is_new = std::none_of(result_.list.begin(), result_.list.end(), [&](const annotation &b) {
      return a.kind == b.kind && a.within == b.within && a.bytes == b.bytes && a.names == b.names;
    });
    if (is_new)
      result_.list.push_back(std::move(a));
    return true;
  }

  // All symbols of the function in whose code it lies.
  [[nodiscard]] std::vector<const symbol *> around(address at) const {
    auto after = std::upper_bound(functions_.begin(), functions_.end(), at,
                                  [](address a, const symbol *s) { return a < s->at; });
    std::vector<const symbol *> found;
    while (after != functions_.begin() && (found.empty() || (*(after - 1))->at == found.front()->at)) {
      const symbol *s = *--after;
      if (s->size == 0 || at - s->at < s->size)
        found.push_back(s);
      else if (found.empty())
        break;
    }
    return found;
  }

  // Sets a.within, and a.function to what it is called; or answers why it has no place.
  std::string find_home(annotation &a, address at) const {
    const std::vector<const symbol *> symbols = around(at);
    if (symbols.empty()) {
      if (a.kind == what::blocks) { // which of the functions is settled by where they begin
        a.within = at;
        return {};
      }
      return m_.stripped ? "the program is stripped, and nothing tells which of its functions this is; "
                           "analyse it before "
                           "that, or say it in a file"
                         : "it lies in no function that has a name; say it in a file";
    }
    const auto own = std::find_if(symbols.begin(), symbols.end(),
                                  [&](const symbol *s) { return is_of(s->name, a.function); });
    if (own == symbols.end() && a.kind != what::blocks)
      return fmt::format(
          "the compiler has put that function into {}; forbid it (noinline), or say it in a file",
          demangled(symbols.front()->name));
    const symbol *home = own != symbols.end() ? *own : symbols.front();
    if (const std::size_t cold = home->name.find(".cold"); cold != std::string_view::npos) {
      home = whole_of(home->name.substr(0, cold));
      if (home == nullptr)
        return fmt::format("it lies in a part of {}, which several functions are called; say it in a file",
                           a.function);
    }
    a.function = demangled(without_clone(home->name));
    a.within = home->at;
    return {};
  }

  // The only function of this name; nullptr.
  [[nodiscard]] const symbol *whole_of(std::string_view name) const {
    const symbol *found = nullptr;
    for (const symbol *s : functions_)
      if (s->name == name) {
        if (found != nullptr && found->at != s->at)
          return nullptr;
        found = s;
      }
    return found;
  }

  const module &m_;
  std::vector<const symbol *> functions_;
  annotations result_;
  std::map<record_place, std::string> homeless_;
  std::map<record_place, bool> placed_;
};

} // namespace

annotations annotations_of(const module &m) { return section_reader(m).read(); }

} // namespace nth::stack
