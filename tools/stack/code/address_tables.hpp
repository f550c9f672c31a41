// Tables of addresses of code in data: their entries, and how far they may reach.
#pragma once

#include "code/flow.hpp"
#include "code/value.hpp"

namespace nth::stack {

// The table that a value of kind word or target is an entry of.
class address_table {
public:
  // `f`: the function that reads it; the next table begins where it names an address.
  address_table(const code_map &map, flow &f, const value &v);

  // False: nothing bounds the index but what the table's own bytes tell.
  [[nodiscard]] bool exact() const noexcept { return exact_; }
  [[nodiscard]] std::int64_t count() const noexcept { return count_; } // at most
  // nullopt: no address can be there.
  [[nodiscard]] std::optional<address> at(std::int64_t i) const noexcept;

private:
  [[nodiscard]] address end_of_words(flow &f) const;
  [[nodiscard]] bool relocated(std::int64_t i) const noexcept;

  const code_map &map_;
  value entry_;
  bool exact_ = false;
  bool in_relocations_ = false; // an entry without a relocation lies behind the table
  std::int64_t count_ = 0;
};

// Those of its entries that are functions, up to the first that is not where no comparison tells its length.
std::vector<address> functions_in_table(const code_map &map, flow &f, const value &v);

} // namespace nth::stack
