// The scan of a whole module: what other modules tell it, and that damaged code does no harm.
#include "scanned_module.hpp"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>

namespace nth::stack {
namespace {

// What was found of another module goes before the list of names.
TEST(import, that_is_known_not_to_return_ends_the_flow) {
  const module m(std::filesystem::path(SUBJECTS "/shapes_c_O2"));
  const unwind_table u(m);
  const auto returning_calls_of_main = [&](const scan_options &options) {
    function_table f(m, u);
    const std::vector<function_facts> facts = scan_module(m, u, f, options);
    const std::vector<call_site> &calls = facts.at(f.named("main")).calls;
    return std::count_if(calls.begin(), calls.end(), [](const call_site &c) { return c.returns; });
  };
  scan_options nothing_returns;
  nothing_returns.import_never_returns = [](const symbol &) { return std::optional<bool>(true); };
  scan_options all_return;
  all_return.import_never_returns = [](const symbol &) { return std::optional<bool>(false); };
  EXPECT_LT(returning_calls_of_main(nothing_returns), returning_calls_of_main({}));
  EXPECT_GE(returning_calls_of_main(all_return), returning_calls_of_main({}));
}

// Bytes of the code, of its tables and of everything else changed at random.
TEST(damaged_code, does_no_harm) {
  std::ifstream in(SUBJECTS "/shapes_c_O0", std::ios::binary);
  const std::vector<char> whole{std::istreambuf_iterator<char>(in), {}};
  ASSERT_FALSE(whole.empty());
  std::size_t scanned = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(whole.begin(), whole.end());
    const std::size_t changes = 1U << (seed % 12);
    for (std::size_t i = 0; i < changes; ++i)
      bytes[64 + random() % (bytes.size() - 64)] = static_cast<std::uint8_t>(random());
    try {
      const module m("damaged", bytes);
      const unwind_table u(m);
      function_table f(m, u);
      const std::vector<function_facts> facts = scan_module(m, u, f, {});
      EXPECT_EQ(facts.size(), f.functions.size());
      ++scanned;
    } catch (const bad_input &) {
      continue;
    }
  }
  EXPECT_GT(scanned, 10U);
}

} // namespace
} // namespace nth::stack
