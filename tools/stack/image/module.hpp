// One ELF file for x86-64, executable or shared object, as it lies in the file: bytes, sections, symbols, relocations.
// Nothing is loaded or run. Addresses are those of the file (of a position-independent one: from load base 0).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

struct Elf;

namespace nth::stack {

using address = std::uint64_t;

// What is wrong with a file or an argument, in words for the user: names the file, the place, and what to do.
struct bad_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct section {
  std::string_view name;
  address begin = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0; // in the file
  std::uint32_t type = 0;   // SHT_…
  bool allocated = false;
  bool executable = false;
  bool writable = false;
};

enum class symbol_kind : std::uint8_t { function, ifunc, object, tls, section, none };

struct symbol {
  std::string_view name;    // without version
  std::string_view version; // "" where there is none
  address at = 0;
  std::uint64_t size = 0;
  symbol_kind kind = symbol_kind::none;
  bool defined = false;
  bool global = false; // weak ones too
  bool weak = false;
  bool dynamic = false; // from .dynsym
  bool hidden = false;  // name@version, not name@@version: only who asks for this version gets it
};

// What is written at the place, S the symbol, A the addend, P the place, G its slot in the GOT.
enum class relocation_kind : std::uint8_t {
  absolute,    // S + A, 8 bytes (R_X86_64_64, GLOB_DAT, JUMP_SLOT) or 4 (32, 32S)
  relative,    // base + A (RELATIVE, also of .relr.dyn)
  irelative,   // what the resolver at base + A returns
  pc_relative, // S + A - P (PC32, PLT32, PC64)
  got,         // G + A - P (GOTPCREL, GOTPCRELX, REX_GOTPCRELX)
  copy,        // an object of another module is copied here
  other        // thread-local and sizes: no address of code comes from these
};

inline constexpr std::uint32_t no_symbol = ~std::uint32_t{0};

struct relocation {
  address place = 0;
  std::int64_t addend = 0;          // where the file keeps it in the place, read from there
  std::uint32_t symbol = no_symbol; // index in module::symbols
  relocation_kind kind = relocation_kind::other;
  bool dynamic = false;   // applied when the program is loaded; else kept by the linker (--emit-relocs)
  bool jump_slot = false; // JUMP_SLOT: bound lazily unless module::bound_now
  std::uint8_t size = 0;  // bytes of the place, 4 or 8, where the kind tells of an address; else 0
};

// A stub of the procedure linkage table (.plt, .plt.sec, .plt.got): jumps through a slot of the GOT.
struct plt_stub {
  address at = 0;
  std::uint64_t size = 0;
  address slot = 0;
};

class module {
public:
  // Throws bad_input. Sections, symbols and relocations that are cut short or make no sense are left out and
  // named in `warnings`.
  explicit module(const std::filesystem::path &path);
  // The same for a file in memory, which must live as long (tests, fuzzing).
  module(std::string name, std::span<const std::uint8_t> bytes);
  module(module &&) noexcept;
  module &operator=(module &&) noexcept;
  module(const module &) = delete;
  module &operator=(const module &) = delete;
  ~module();

  // Of a stripped file: adds the symbols that were split from it, if `directory` has them by its build id.
  bool add_split_symbols(const std::filesystem::path &directory);

  std::string path;
  std::string name;    // soname, else the file's name
  bool shared = false; // no program: a library
  bool position_independent = false;
  bool bound_now = false; // -z now
  bool stripped = false;  // no .symtab
  address entry = 0;
  std::string interpreter;
  std::string build_id;
  std::vector<std::string> needed;    // DT_NEEDED
  std::vector<std::string> run_paths; // DT_RUNPATH, else DT_RPATH; $ORIGIN not yet replaced
  bool run_paths_inherited = false;   // DT_RPATH: they hold for the libraries of its libraries too
  std::vector<section> sections;
  std::vector<symbol> symbols;         // .symtab, then .dynsym, neither's entry 0
  std::vector<relocation> relocations; // sorted by place, dynamic ones after kept ones at the same place;
                                       // kept ones of .eh_frame, which names all code, are left out
  std::vector<plt_stub> plt;           // sorted by address
  std::vector<address> run_by_loader;  // DT_INIT, DT_FINI and what the arrays of initializers hold
  address unwind_header = 0;           // of .eh_frame_hdr; 0 for none
  std::vector<std::string> warnings;

  // From `a` to the end of what the file holds there; empty where nothing is mapped or .bss is.
  [[nodiscard]] std::span<const std::uint8_t> bytes_at(address a) const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> read_word(address a) const noexcept; // 8 bytes, unrelocated
  [[nodiscard]] const section *section_of(address a) const noexcept;
  [[nodiscard]] bool is_code(address a) const noexcept; // in an executable segment
  // Can't be written once the program runs: in a read-only segment, or under RELRO and (for .got.plt) bound now.
  [[nodiscard]] bool is_constant(address a) const noexcept;
  // The address that is in the 8 bytes at `place` when the module is loaded: after its relocation, if that is
  // one to code or data of this module.
  [[nodiscard]] std::optional<address> pointer_at(address place) const noexcept;
  // All relocations whose place is in [begin, end).
  [[nodiscard]] std::span<const relocation> relocations_in(address begin, address end) const noexcept;
  [[nodiscard]] const plt_stub *plt_at(address a) const noexcept; // that begins at a
  // The whole file.
  [[nodiscard]] std::span<const std::uint8_t> file() const noexcept;
  // The loaded file for libdw; nullptr for none.
  [[nodiscard]] Elf *elf() const noexcept;

private:
  struct content;
  std::unique_ptr<content> content_;
};

} // namespace nth::stack
