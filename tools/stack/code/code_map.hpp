// What the scan of every function asks about the module around it.
#pragma once

#include "code/scan.hpp"

#include <unordered_map>

namespace nth::stack {

// What a call instruction reaches, as far as it matters to the caller's own flow.
struct callee_traits {
  bool never_returns = false;
  bool returns_twice = false;   // setjmp, vfork: control comes back when the frame may have moved on
  bool keeps_registers = false; // a stack probe: touches, changes nothing
  std::int64_t pops = 0;        // bytes of arguments that it takes off the stack as it returns
};

class code_map {
public:
  code_map(const module &m, const unwind_table &u, const function_table &f, const scan_options &options);

  const module &image;
  const unwind_table &unwind;
  const function_table &table;
  address global_offsets = 0; // _GLOBAL_OFFSET_TABLE_; 0: there is none

  // What is at `a` when the program runs, if it is known before that: after relocation.
  [[nodiscard]] std::optional<address> pointer_at(address a) const noexcept;
  // The same where it is surely an address: in position-independent code a word that no relocation names is a number.
  [[nodiscard]] std::optional<address> pointer_in_data(address a) const noexcept;
  // Of the data behind `a`, where the next object with a symbol begins.
  [[nodiscard]] address next_object(address a) const noexcept;
  // Places in the middle of functions, in [begin, end), that pointers in data hold: labels of computed jumps.
  [[nodiscard]] std::span<const address> labels(address begin, address end) const noexcept;

  [[nodiscard]] callee_traits callee(address target) const noexcept;
  [[nodiscard]] callee_traits callee_through(address slot) const noexcept;

  // Learnt from the scan; false: known already. To be called by one thread while none scans.
  bool set_never_returns(std::uint32_t function);
  bool set_pops(std::uint32_t function, std::int64_t bytes);
  // Its name says that it never returns, its code that it does. False: nothing said so.
  bool set_returns(std::uint32_t function);
  // Whether data holds this address, as far as relocations and words tell.
  [[nodiscard]] bool in_data(address a) const noexcept;
  // After functions were added to the table.
  void grow();

private:
  [[nodiscard]] static callee_traits traits_of_import(const symbol &s, const scan_options &options);
  void collect_imports(const scan_options &options);
  void renew_stubs();
  [[nodiscard]] bool keeps_its_value(const relocation &r) const;
  void name_functions(std::size_t first);
  void collect_labels();
  void collect_objects();

  std::vector<callee_traits> functions_;
  std::vector<callee_traits> stubs_; // of module::plt
  std::unordered_map<address, callee_traits> slots_;
  std::vector<address> labels_;  // sorted
  std::vector<address> objects_; // the same
};

} // namespace nth::stack
