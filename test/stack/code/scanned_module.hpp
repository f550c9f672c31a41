// A module with the facts of its functions, for tests.
#pragma once

#include "code/scan.hpp"

namespace nth::stack {

struct scanned_module {
  explicit scanned_module(const std::filesystem::path &path)
      : image(path), unwind(image), table(image, unwind), facts(scan_module(image, unwind, table, {})) {}

  // By linker name; nullptr: there is none.
  [[nodiscard]] const function_facts *of(std::string_view symbol) const {
    const std::uint32_t f = table.named(symbol);
    return f == no_function ? nullptr : &facts[f];
  }
  [[nodiscard]] address entry_of(std::string_view symbol) const {
    const std::uint32_t f = table.named(symbol);
    return f == no_function ? 0 : table.functions[f].entry;
  }

  module image;
  unwind_table unwind;
  function_table table;
  std::vector<function_facts> facts;
};

} // namespace nth::stack
