#include "patch/drop_relocations.hpp"

#include "image/cursor.hpp"
#include "image/module.hpp"

#include <algorithm>

#include <elf.h>
#include <fmt/format.h>

namespace nth::stack {

namespace {

class rewriter {
public:
  rewriter(const std::vector<std::uint8_t> &bytes, const std::string &name) : old_(bytes), name_(name) {}

  std::vector<std::uint8_t> run() {
    read();
    number_anew();
    // All that is loaded, and what lies between it.
    result_.assign(old_.begin(), old_.begin() + static_cast<std::ptrdiff_t>(end_of_loaded()));
    for (Elf64_Shdr &each : kept_)
      place(each);
    for (Elf64_Shdr &each : kept_)
      renumber(each);
    write_headers();
    return std::move(result_);
  }

private:
  [[noreturn]] void refuse(std::string_view what) const {
    throw bad_input(fmt::format("{}: {}", name_, what));
  }

  void read() {
    cursor c(old_);
    header_ = c.take<Elf64_Ehdr>();
    if (header_.e_shnum == 0 || header_.e_shstrndx == SHN_XINDEX)
      refuse("has more sections than can be renumbered");
    cursor s(old_, header_.e_shoff);
    for (unsigned i = 0; i != header_.e_shnum; ++i)
      sections_.push_back(s.take<Elf64_Shdr>());
    cursor p(old_, header_.e_phoff);
    for (unsigned i = 0; i != header_.e_phnum; ++i)
      segments_.push_back(p.take<Elf64_Phdr>());
    if (s.failed() || p.failed())
      refuse("is cut short: a table of headers ends after the file does");
  }

  static bool loaded(const Elf64_Shdr &s) noexcept { return (s.sh_flags & SHF_ALLOC) != 0; }
  static bool has_bytes(const Elf64_Shdr &s) noexcept {
    return s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL;
  }

  void number_anew() {
    for (const Elf64_Shdr &s : sections_) {
      const bool dropped = s.sh_type == SHT_RELA && !loaded(s);
      numbers_.push_back(dropped ? SHN_UNDEF : static_cast<std::uint16_t>(kept_.size()));
      if (!dropped)
        kept_.push_back(s);
    }
  }

  [[nodiscard]] std::uint64_t end_of_loaded() const {
    std::uint64_t end =
        std::max<std::uint64_t>(sizeof(Elf64_Ehdr), header_.e_phoff + header_.e_phnum * sizeof(Elf64_Phdr));
    for (const Elf64_Phdr &p : segments_)
      if (p.p_type == PT_LOAD)
        end = std::max(end, p.p_offset + p.p_filesz);
    for (const Elf64_Shdr &s : sections_)
      if (loaded(s) && has_bytes(s))
        end = std::max(end, s.sh_offset + s.sh_size);
    if (end > old_.size())
      refuse("is cut short: what is loaded ends after the file does");
    return end;
  }

  void align(std::uint64_t to) {
    while (to > 1 && result_.size() % to != 0)
      result_.push_back(0);
  }

  void place(Elf64_Shdr &s) {
    if (loaded(s) || !has_bytes(s))
      return;
    if (s.sh_offset > old_.size() || s.sh_size > old_.size() - s.sh_offset)
      refuse("is cut short: a section ends after the file does");
    if (s.sh_addralign > largest_alignment)
      refuse("has a section of an alignment that makes no sense; is it damaged?");
    align(s.sh_addralign);
    const auto begin = old_.begin() + static_cast<std::ptrdiff_t>(s.sh_offset);
    s.sh_offset = result_.size();
    result_.insert(result_.end(), begin, begin + static_cast<std::ptrdiff_t>(s.sh_size));
  }

  [[nodiscard]] std::uint16_t number(std::uint32_t old) const {
    return old < numbers_.size() ? numbers_[old] : SHN_UNDEF;
  }

  void renumber(Elf64_Shdr &s) {
    s.sh_link = number(s.sh_link);
    if (s.sh_type == SHT_RELA || (s.sh_flags & SHF_INFO_LINK) != 0)
      s.sh_info = number(s.sh_info);
    if (s.sh_type != SHT_SYMTAB && s.sh_type != SHT_DYNSYM)
      return;
    for (std::uint64_t at = s.sh_offset; at + sizeof(Elf64_Sym) <= s.sh_offset + s.sh_size;
         at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, result_.data() + at, sizeof symbol);
      if (symbol.st_shndx < SHN_LORESERVE)
        symbol.st_shndx = number(symbol.st_shndx);
      std::memcpy(result_.data() + at, &symbol, sizeof symbol);
    }
  }

  void write_headers() {
    align(alignof(Elf64_Shdr));
    header_.e_shoff = result_.size();
    header_.e_shnum = static_cast<std::uint16_t>(kept_.size());
    header_.e_shstrndx = number(header_.e_shstrndx);
    for (const Elf64_Shdr &s : kept_) {
      const auto *begin = reinterpret_cast<const std::uint8_t *>(&s);
      result_.insert(result_.end(), begin, begin + sizeof s);
    }
    std::memcpy(result_.data(), &header_, sizeof header_);
  }

  static constexpr std::uint64_t largest_alignment = 1 << 16;

  const std::vector<std::uint8_t> &old_;
  const std::string &name_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> kept_;
  std::vector<std::uint16_t> numbers_; // of the old sections
  std::vector<std::uint8_t> result_;
};

} // namespace

std::vector<std::uint8_t> without_kept_relocations(const std::vector<std::uint8_t> &bytes,
                                                   const std::string &name) {
  return rewriter(bytes, name).run();
}

} // namespace nth::stack
