// Tables of pointers to code that lie in the data of the modules: vtables of C++ classes, vtables of stdio's streams,
// arrays that code indexes.
#pragma once

#include "graph/targets_code.hpp"

namespace nth::stack {

class pointer_tables {
public:
  explicit pointer_tables(code_targets &targets);

  // Functions at this offset from the address point of any vtable, in all modules. Sorted.
  [[nodiscard]] const std::vector<std::uint32_t> &virtual_functions(std::int64_t offset) const;
  // Whether the module has classes with virtual functions: only then is a call through the first word of an object
  // likely a virtual one.
  [[nodiscard]] bool has_classes(std::uint32_t module) const { return has_classes_[module]; }

  // stdio checks that a stream's table lies in this section of libc, so that code that has the section's address
  // at hand calls through such a table. Functions at this offset of each of them; empty: not such a call.
  [[nodiscard]] const std::vector<std::uint32_t> &stream_functions(std::uint32_t module,
                                                                   const function &caller,
                                                                   std::int64_t offset) const;

  // Entries of the table that an indirect call indexes. `open` where a word in it or its end is not known.
  [[nodiscard]] callees entries(std::uint32_t module, const pointer_source &s);

private:
  enum class word_kind : std::uint8_t { code, data, zero, negative, other };
  struct word {
    word_kind kind = word_kind::other;
    std::uint32_t node = no_node; // code
  };
  struct object { // of data, by its symbol
    address at = 0;
    std::uint64_t size = 0;
    bool is_vtable = false;
  };
  struct stream_table { // one section __libc_IO_vtables
    std::uint32_t module = 0;
    address begin = 0;
    address end = 0;
    std::vector<std::vector<std::uint32_t>> by_slot; // nodes
  };

  [[nodiscard]] std::vector<word> words_of(std::uint32_t module, const section &s) const;
  [[nodiscard]] const object *object_at(std::uint32_t module, address a); // that holds a; nullptr: none
  [[nodiscard]] std::uint64_t bytes_left(std::uint32_t module, address a);
  // The arrays of constructors and destructors, which symbols of the linker bound.
  [[nodiscard]] bool is_in_starters(std::uint32_t module, address a);
  [[nodiscard]] callees starters(std::uint32_t module) const;
  [[nodiscard]] callees word_entry(std::uint32_t module, address place) const;
  [[nodiscard]] callees relative_entry(std::uint32_t module, address base, address place) const;
  void find_vtables(std::uint32_t module, address begin, const std::vector<word> &words);
  void find_streams(std::uint32_t module, const section &s, const std::vector<word> &words);

  code_targets &targets_;
  std::vector<std::vector<std::uint32_t>> by_slot_; // of vtables: nodes, sorted
  std::vector<bool> has_classes_;                   // by module
  std::vector<stream_table> streams_;
  std::vector<std::vector<object>> objects_; // by module, sorted; made when first asked for
};

} // namespace nth::stack
