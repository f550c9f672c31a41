#include "image/module.hpp"

#include "image/cursor.hpp"
#include "image/elf_file.hpp"
#include "image/mapping.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <libelf.h>

namespace nth::stack {

namespace {

struct elf_closer {
  void operator()(Elf *e) const noexcept { elf_end(e); }
};

const segment *segment_of(const elf_file &f, address a) noexcept {
  auto after = std::ranges::upper_bound(f.segments, a, {}, [](const segment &s) noexcept { return s.begin; });
  if (after == f.segments.begin())
    return nullptr;
  --after;
  return a - after->begin < after->memory_size ? &*after : nullptr;
}

} // namespace

struct module::content : elf_file {
  mapping file;
  mapping split; // what names of split symbols are views of
  std::unique_ptr<Elf, elf_closer> handle;

  void read(module &m) {
    read_header(m, *this);
    read_segments(m, *this);
    read_sections(m, *this);
    read_dynamic(m, *this);
    read_symbols(m, *this);
    read_relocations(m, *this);
    read_initializers(m, *this);
    find_plt(m, *this);
    elf_version(EV_CURRENT);
    // libelf takes char *, and writes only if told to.
    handle.reset(
        elf_memory(reinterpret_cast<char *>(const_cast<std::uint8_t *>(bytes.data())), bytes.size()));
  }
};

module::module(const std::filesystem::path &file_path) :path(file_path.string()),
    name(file_path.filename().string()), content_(std::make_unique<content>()) {
  content_->file = mapping(file_path);
  content_->bytes = content_->file.bytes();
  content_->read(*this);
}

module::module(std::string file_name, std::span<const std::uint8_t> bytes) :path(std::move(file_name)),
    name(path), content_(std::make_unique<content>()) {
  content_->bytes = bytes;
  content_->read(*this);
}

module::module(module &&) noexcept = default;
module &module::operator=(module &&) noexcept = default;
module::~module() = default;

std::span<const std::uint8_t> module::bytes_at(address a) const noexcept {
  const segment *s = segment_of(*content_, a);
  if (s == nullptr || a - s->begin >= s->file_size)
    return {};
  const std::uint64_t skipped = a - s->begin;
  return content_->bytes.subspan(s->offset + skipped, s->file_size - skipped);
}

std::optional<std::uint64_t> module::read_word(address a) const noexcept {
  return read_at<std::uint64_t>(bytes_at(a), 0);
}

bool module::add_split_symbols(const std::filesystem::path &directory) {
  if (!stripped || build_id.size() <= 2)
    return false;
  const auto path_of = directory / ".build-id" / build_id.substr(0, 2) / (build_id.substr(2) + ".debug");
  std::error_code error;
  if (!std::filesystem::is_regular_file(path_of, error))
    return false;
  content_->split = mapping(path_of);
  return read_split_symbols(*this, content_->split.bytes());
}

const section *module::section_of(address a) const noexcept {
  const auto &order = content_->by_address;
  auto after = std::ranges::upper_bound(order, a, {}, [&](std::uint32_t i) { return sections[i].begin; });
  if (after == order.begin())
    return nullptr;
  const section &s = sections[*--after];
  return a - s.begin < s.size ? &s : nullptr;
}

// Constants may share a segment with code (ld -z noseparate-code): then the sections tell.
bool module::is_code(address a) const noexcept {
  const segment *s = segment_of(*content_, a);
  if (s == nullptr || !s->executable || a - s->begin >= s->file_size)
    return false;
  const section *in = section_of(a);
  return in == nullptr || in->executable;
}

bool module::is_constant(address a) const noexcept {
  const segment *s = segment_of(*content_, a);
  return s != nullptr && (!s->writable || (a >= content_->relro_begin && a < content_->relro_end));
}

std::optional<address> module::pointer_at(address place) const noexcept {
  for (const relocation &r : relocations_in(place, place + 1)) {
    if (!r.dynamic)
      continue;
    if (r.kind == relocation_kind::relative)
      return static_cast<address>(r.addend);
    if (r.kind == relocation_kind::absolute && r.symbol != no_symbol && symbols[r.symbol].defined)
      return symbols[r.symbol].at + static_cast<address>(r.addend);
    return std::nullopt;
  }
  return read_word(place);
}

std::span<const relocation> module::relocations_in(address begin, address end) const noexcept {
  if (begin >= end)
    return {};
  const auto first = std::ranges::lower_bound(relocations, begin, {}, &relocation::place);
  const auto last = std::ranges::lower_bound(relocations, end, {}, &relocation::place);
  return {first, last};
}

const plt_stub *module::plt_at(address a) const noexcept {
  const auto found = std::ranges::lower_bound(plt, a, {}, &plt_stub::at);
  return found != plt.end() && found->at == a ? &*found : nullptr;
}

std::span<const std::uint8_t> module::file() const noexcept { return content_->bytes; }

Elf *module::elf() const noexcept { return content_->handle.get(); }

} // namespace nth::stack
