// The steps of verify().
#pragma once

#include "code/decode.hpp"
#include "patch/program_pool.hpp"

namespace nth::stack {

class verifier {
public:
  verifier(const std::filesystem::path &original, const std::filesystem::path &patched,
           const link_plan &plan);

  void run();

private:
  struct file_range {
    std::uint64_t begin = 0, end = 0;
  };

  [[noreturn]] void wrong(std::string_view what) const;
  [[nodiscard]] instruction next_at(address &at) const;
  void allow(address a, std::uint64_t size);

  void check_stubs();
  [[nodiscard]] address check_stub(std::size_t i) const;
  void check_limit(std::size_t i, const instruction &comparison) const;
  void check_header();
  void check_tables();
  void check_need(const std::vector<nth_growth_need> &table, const planned_need &n, address a) const;
  void check_call(const call_redirect &call);
  void check_references();
  void check_loaded_bytes();
  void check_sections() const;
  void check_symbols(std::span<const std::uint8_t> was, std::span<const std::uint8_t> is,
                     const std::vector<std::uint32_t> &numbers, bool dynamic) const;

  // A table that libnth reads; its bytes may differ from the original's.
  template <typename T>
  std::vector<T> table_of(std::int32_t from_header, std::uint32_t count);

  const module before_;
  const module after_;
  const link_plan &plan_;
  program_pool blank_;
  program_pool pool_;
  std::vector<address> called_;     // of each stub: what __morestack calls
  std::vector<file_range> allowed_; // to change; both files have them at the same place
};

} // namespace nth::stack
