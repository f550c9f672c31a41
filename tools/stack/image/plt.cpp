// The procedure linkage table, by its code: names of sections are not needed, layouts of ld, gold and lld are known.
#include "image/cursor.hpp"
#include "image/doubles.hpp"
#include "image/elf_file.hpp"

#include <algorithm>
#include <array>

namespace nth::stack {

namespace {

constexpr std::uint64_t unit = 8; // each stub begins at a multiple of this, and is 8 or 16 bytes long

bool begins_with(std::span<const std::uint8_t> code, std::initializer_list<std::uint8_t> bytes) {
  return code.size() >= bytes.size() && std::equal(bytes.begin(), bytes.end(), code.begin());
}

struct jump {
  std::uint64_t size = 0; // 0: there is none
  address slot = 0;
};

// [endbr64] [bnd] jmp *slot(%rip)
jump jump_at(std::span<const std::uint8_t> code, address at) {
  std::uint64_t size = 0;
  if (begins_with(code, {0xf3, 0x0f, 0x1e, 0xfa}))
    size = 4;
  if (code.size() > size && code[size] == 0xf2)
    ++size;
  if (!begins_with(code.subspan(size), {0xff, 0x25}))
    return {};
  const auto distance = read_at<std::int32_t>(code, size + 2);
  if (!distance)
    return {};
  size += 6;
  return {size, at + size + static_cast<address>(std::int64_t{*distance})};
}

// What follows the jump in a stub; in a function that ends with such a jump, anything may.
// 0: not a stub. Else the size of the stub.
std::uint64_t size_by_rest(std::span<const std::uint8_t> code, std::uint64_t jump_size) {
  const auto rest = code.subspan(jump_size);
  if (jump_size == 6 && rest.size() >= 10 && rest[0] == 0x68 && rest[5] == 0xe9)
    return 16; // push index; jmp to the first stub
  if (jump_size == 6 && begins_with(rest, {0x66, 0x90}))
    return 8;
  if (jump_size == 6 && begins_with(rest, {0x0f, 0x1f}))
    return 16;
  if (jump_size == 7 && begins_with(rest, {0x90}))
    return 8;
  if (jump_size == 10 && begins_with(rest, {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}))
    return 16;
  if (jump_size == 11 && begins_with(rest, {0x0f, 0x1f, 0x44, 0x00, 0x00}))
    return 16;
  if (jump_size >= 10 && code.size() >= 16 &&
      std::ranges::all_of(code.subspan(jump_size, 16 - jump_size),
                          [](std::uint8_t b) { return b == 0x90 || b == 0xcc; }))
    return 16;
  return 0;
}

class finder {
public:
  finder(module &m, std::uint64_t file_size) : module_(m), left_(file_size) {
    for (const symbol &s : m.symbols)
      if (s.defined && s.kind == symbol_kind::function)
        functions_.push_back(s.at);
    std::ranges::sort(functions_);
  }

  // Never more than the file has bytes, however often its sections name the same ones.
  // `surely`: the section is named as one of stubs; else a stub must look like one in all its bytes.
  void look(address begin, std::uint64_t size, bool surely) {
    auto code = module_.bytes_at(begin);
    code = code.first(std::min<std::uint64_t>({size, code.size(), left_}));
    left_ -= code.size();
    const std::uint64_t skipped = -begin % unit;
    for (std::uint64_t i = skipped; i < code.size();) {
      const auto here = code.subspan(i);
      const std::uint64_t stub_size = stub(here, begin + i, surely);
      i += stub_size != 0 ? stub_size : unit;
    }
  }

private:
  std::uint64_t stub(std::span<const std::uint8_t> code, address at, bool surely) {
    const jump j = jump_at(code, at);
    // In a section of stubs a symbol names the stub: of an ifunc that a program with fixed addresses takes the address of.
    if (j.size == 0 || !is_slot(j.slot) || (!surely && std::ranges::binary_search(functions_, at)))
      return 0;
    std::uint64_t size = size_by_rest(code, j.size);
    if (size == 0 && !surely)
      return 0;
    if (size == 0)
      size = j.size <= unit ? unit : 2 * unit;
    size = std::min<std::uint64_t>(size, code.size());
    module_.plt.push_back({at, size, j.slot});
    return size;
  }

  // Written by a relocation to a function that is looked up, or by one that asks a resolver.
  bool is_slot(address slot) const {
    return std::ranges::any_of(module_.relocations_in(slot, slot + 1), [](const relocation &r) {
      return r.dynamic && (r.kind == relocation_kind::irelative || r.kind == relocation_kind::absolute);
    });
  }

  module &module_;
  std::uint64_t left_;
  std::vector<address> functions_;
};

} // namespace

void find_plt(module &m, const elf_file &f) {
  finder search(m, f.bytes.size());
  bool named = false;
  for (const section &s : m.sections)
    if (s.executable && (s.name == ".plt" || s.name.starts_with(".plt.") || s.name == ".iplt")) {
      search.look(s.begin, s.size, true);
      named = true;
    }
  if (!named && !m.relocations.empty())
    for (const segment &s : f.segments)
      if (s.executable)
        search.look(s.begin, s.file_size, false);
  std::ranges::sort(m.plt, {}, &plt_stub::at);
  drop_doubles(m.plt, &plt_stub::at);
}

} // namespace nth::stack
