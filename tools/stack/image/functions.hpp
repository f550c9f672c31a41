// Where the functions of a module begin and end: from symbols, from .eh_frame where there are none, and from what
// is called.
#pragma once

#include "image/module.hpp"
#include "image/unwind.hpp"

#include <unordered_map>

namespace nth::stack {

enum class function_kind : std::uint8_t {
  normal,
  fragment, // part of other functions, reached by jumps: foo.cold; of nameless ones: its first CFA is not rsp + 8
  resolver // of an ifunc: runs when the program is loaded; whom it may answer is found in its code
};

struct function {
  address entry = 0;
  address end = 0;    // the next function's entry at most
  std::string name;   // the best known of its names, demangled; of a nameless one "module+0x1234"
  std::string symbol; // as the linker knows it; "" for none
  std::vector<std::string> aliases; // other linker names
  function_kind kind = function_kind::normal;
  bool has_size = false;  // end comes from a symbol or from an FDE, not from the next function
  bool cut_short = false; // its size reaches beyond `end`, where the next entry is: it runs on there
  bool exported = false;  // in .dynsym
};

inline constexpr std::uint32_t no_function = ~std::uint32_t{0};

class function_table {
public:
  function_table() = default;
  function_table(const module &m, const unwind_table &u);

  // Adds an entry that code calls and that no symbol names; false: known already, or not in code.
  bool add(address entry, const module &m);

  [[nodiscard]] std::uint32_t at(address entry) const noexcept;              // that begins here; no_function
  [[nodiscard]] std::uint32_t containing(address a) const noexcept;          // no_function
  [[nodiscard]] std::uint32_t named(std::string_view symbol) const noexcept; // by linker name, aliases too

  std::vector<function> functions; // indexes stay as they are when add() appends

private:
  struct symbol_place {
    address at = 0;
    std::uint32_t index = 0; // in module::symbols
  };
  struct extent {
    address begin = 0, end = 0;
  };
  struct seed { // what may become a function
    address entry = 0;
    address end = 0;          // 0: not known
    bool must_return = false; // to a caller: it is no fragment, whatever its unwind entry says
  };

  void collect_symbols(const module &m);
  [[nodiscard]] std::vector<seed> seeds(const module &m, const unwind_table &u) const;
  [[nodiscard]] std::span<const symbol_place> symbols_at(address a) const noexcept;
  [[nodiscard]] bool inside_symbol(address a, const module &m) const noexcept;
  [[nodiscard]] bool is_fragment(const function &f, const unwind_table &u) const;
  [[nodiscard]] function make(const seed &s, const module &m) const;
  void set_end(function &f, address known_end, address next, const module &m) const;
  void index_names(const module &m);

  std::vector<symbol_place> symbols_;                           // that name code, sorted
  std::vector<extent> frames_;                                  // FDEs, sorted
  std::vector<std::uint32_t> order_;                            // functions by entry
  std::unordered_map<address, std::uint32_t> by_entry_;         // functions
  std::unordered_map<std::string_view, std::uint32_t> by_name_; // the same; texts of the module
};

} // namespace nth::stack
