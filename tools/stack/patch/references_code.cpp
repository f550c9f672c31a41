// Instructions that make the address of a function.
#include "code/decode.hpp"
#include "patch/references_parts.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace nth::stack {

namespace {

bool is_direct(const instruction &i) noexcept {
  return i.kind == op::call || i.kind == op::jump || i.kind == op::branch;
}

// Where its memory operand is, if that is one place whatever the registers hold.
std::optional<address> fixed_place(const instruction &i) noexcept {
  const bool fixed = i.memory.base == reg::none && i.memory.index == reg::none && !i.memory.segment;
  return fixed && (i.memory.size != 0 || i.kind == op::lea)
             ? std::optional(static_cast<address>(i.memory.displacement))
             : std::nullopt;
}

// The code from one entry to the next, decoded one instruction after the other, as compilers lay it out, and from wherever
// a jump leads.
class code_sweep {
public:
  code_sweep(reference_finder &finder, address begin, address end)
      : finder_(finder), begin_(begin), bytes_(finder.image().bytes_at(begin)) {
    bytes_ = bytes_.first(std::min<std::size_t>(bytes_.size(), end - begin));
    begins_.assign(bytes_.size(), 0);
    explained_.assign(bytes_.size(), 0);
  }

  void run() {
    std::size_t end = bytes_.size(); // gold fills up with zeros behind it
    while (end != 0 && bytes_[end - 1] == 0)
      --end;
    follow(0, end);
    // A jump past a prefix (lock), or into what seemed to be an instruction: that way counts, too.
    for (std::size_t k = 0; k < targets_.size(); ++k)
      follow(targets_[k] - begin_, end);
    if (!reliable_)
      distrust();
  }

private:
  // From there on, up to what was followed before.
  void follow(std::size_t at, std::size_t end) {
    while (at < end && begins_[at] == 0) {
      const instruction i = decode(bytes_.subspan(at), begin_ + at);
      begins_[at] = 1;
      reliable_ = reliable_ && i.kind != op::undecoded;
      look_at(i);
      at += i.length;
    }
  }

  void look_at(const instruction &i) {
    if (is_direct(i)) {
      if (i.target() - begin_ < bytes_.size())
        targets_.push_back(i.target());
      if (i.length >= 5)
        explained_[i.next() - 4 - begin_] = 1;
      return;
    }
    if (const auto place = fixed_place(i))
      look_at_place(i, *place);
    for (const relocation &r : finder_.kept().relocations_in(i.at, i.next()))
      if (!r.dynamic)
        look_at_relocation(i, r);
  }

  void look_at_place(const instruction &i, address place) {
    if (i.kind == op::lea && !finder_.image().is_code(place))
      finder_.add_table(place);
    if (!finder_.wanted(place))
      return;
    if (i.kind != op::lea)
      return finder_.refuse(place, fmt::format("its code is read as data at {:#x}", i.at));
    const address field = i.next() - 4;
    const auto distance = signed_at(finder_.image(), field, 4);
    // Else it is an absolute address, which has a relocation.
    if (distance && i.next() + static_cast<address>(*distance) == place)
      add(place, reference_kind::code_relative, i, field, 4);
  }

  void look_at_relocation(const instruction &i, const relocation &r) {
    const bool ends = r.size != 0 && r.place + r.size == i.next();
    const auto held = signed_at(finder_.image(), r.place, r.size);
    const address named = finder_.function_named(r.symbol);
    if (!held || r.size == 0)
      return;
    const auto value = static_cast<address>(*held);
    const bool constant = ends && (i.has_immediate || i.kind == op::lea);
    if (constant && finder_.wanted(value) && r.kind != relocation_kind::pc_relative)
      add_constant(i, r, value);
    else if (constant && r.size == 8 && r.kind == relocation_kind::absolute &&
             finder_.wanted(finder_.global_offsets() + value))
      add(finder_.global_offsets() + value, reference_kind::code_absolute, i, r.place, 8);
    else if (named != 0 && ((r.kind == relocation_kind::pc_relative && fixed_place(i) != named) ||
                            r.kind == relocation_kind::absolute))
      finder_.refuse(named, fmt::format("an address some bytes from it is made at {:#x}", i.at));
    if (constant && !finder_.image().is_code(value))
      finder_.add_table(value);
  }

  void add_constant(const instruction &i, const relocation &r, address function) {
    if (finder_.image().position_independent)
      finder_.refuse(function, fmt::format("the loader changes code that has its address, at {:#x}", i.at));
    else
      add(function, reference_kind::code_absolute, i, r.place, r.size);
  }

  void add(address function, reference_kind kind, const instruction &i, address field, std::uint8_t size) {
    explained_[field - begin_] = 1;
    finder_.add(function, kind, i.at, field, size);
  }

  // Instructions may begin elsewhere than they seem to: whatever could be the address of a function may be one.
  void distrust() {
    for (std::size_t at = 0; at + 4 <= bytes_.size(); ++at) {
      const address field = begin_ + at;
      const auto held = signed_at(finder_.image(), field, 4);
      if (explained_[at] == 0 && held && finder_.wanted(field + 4 + static_cast<address>(*held)))
        finder_.refuse(
            field + 4 + static_cast<address>(*held),
            fmt::format("{:#x} may hold its address: the code there can't be decoded for sure", field));
    }
  }

  reference_finder &finder_;
  address begin_;
  std::span<const std::uint8_t> bytes_;
  std::vector<std::uint8_t> begins_;    // of each byte: an instruction begins there
  std::vector<std::uint8_t> explained_; // the same: a distance that is accounted for begins there
  std::vector<address> targets_;
  bool reliable_ = true;
};

} // namespace

void reference_finder::search_code() {
  std::vector<address> entries;
  for (const function &f : table_.functions)
    entries.push_back(f.entry);
  for (const section &s : image_.sections)
    if (s.allocated && s.executable)
      entries.insert(entries.end(), {s.begin, s.begin + s.size});
  std::ranges::sort(entries);
  for (const section &s : image_.sections) {
    if (!s.allocated || !s.executable || s.name == ".nth_stubs")
      continue;
    for (auto each = std::ranges::upper_bound(entries, s.begin);
         each != entries.end() && *each <= s.begin + s.size; ++each)
      if (*each != *(each - 1))
        code_sweep(*this, *(each - 1), *each).run();
  }
}

} // namespace nth::stack
