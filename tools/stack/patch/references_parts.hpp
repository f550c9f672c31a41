// The steps in which the references to functions are found, and what they share.
#pragma once

#include "patch/references.hpp"

#include <unordered_map>

namespace nth::stack {

class reference_finder {
public:
  reference_finder(const module &m, const function_table &t, const std::vector<address> &functions,
                   const module &with_relocations);

  // In this order.
  void refuse_what_is_no_function();
  void search_code();         // also finds where tables begin
  void search_data();         // words and distances that the linker kept relocations of
  void search_loader_words(); // what the loader relocates
  void search_offset_table(); // the GOT of a program with fixed addresses
  void search_exports();
  void search_personalities();
  std::vector<function_references> take();

  [[nodiscard]] const module &image() const noexcept { return image_; }
  [[nodiscard]] const module &kept() const noexcept { return kept_; }
  [[nodiscard]] const function_table &table() const noexcept { return table_; }
  [[nodiscard]] address global_offsets() const noexcept { return global_offsets_; }
  [[nodiscard]] bool wanted(address a) const noexcept { return index_.contains(a); }
  // That a relocation names by a symbol of its own, not as a place in a section; 0: none of those that are wanted.
  [[nodiscard]] address function_named(std::uint32_t symbol) const noexcept;
  void add(address function, reference_kind kind, address at, address field, std::uint8_t size);
  void add_in_file(address function, const reference &r);
  void refuse(address function, std::string why);
  void add_table(address begin) { tables_.push_back(begin); }

private:
  void add_word(const relocation &r);
  void add_distance(const relocation &r);
  void add_from_loader_table(const section &s, std::vector<address> &places);
  [[nodiscard]] bool is_table_from(address begin, address place) const noexcept;

  const module &image_;
  const function_table &table_;
  const module &kept_;
  std::vector<function_references> found_;
  std::unordered_map<address, std::size_t> index_; // in found_
  address global_offsets_ = 0;
  std::vector<address> tables_; // where tables in data may begin; sorted once search_data has begun
};

// Where addresses of functions are that are not used to call them from code, or are used by the loader alone.
bool holds_no_references(const section &s) noexcept;

// The low bytes, as a signed number; nullopt: outside of what the file holds.
std::optional<std::int64_t> signed_at(const module &m, address a, unsigned bytes) noexcept;

} // namespace nth::stack
