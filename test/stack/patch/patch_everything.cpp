// patch_everything --pool STUBS NEEDS SITES TEXT    writes the source of a pool
// patch_everything PROGRAM OUTPUT                   patches all that can be; tells how much that is
#include "everything.hpp"
#include "nth/growth.h"
#include "patch/apply.hpp"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string_view>

namespace {

using namespace nth::stack;

std::uint32_t number(const char *text) { return static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)); }

int patch(const char *program, const char *output) {
  const module m(program);
  check_patchable(m);
  std::vector<std::string> refused;
  const link_plan plan = test::everything(m, &refused);
  apply_plan(program, plan, output);
  std::size_t entries = 0;
  for (const planned_stub &s : plan.stubs)
    entries += (s.flags & NTH_STUB_ENTRY) != 0 ? 1 : 0;
  std::cout << entries << " entries, " << plan.calls.size() << " calls, " << plan.stubs.size() << " stubs, "
            << refused.size() << " refused\n";
  for (const std::string &each : refused)
    std::cerr << each << '\n';
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    if (argc == 6 && argv[1] == std::string_view("--pool")) {
      std::cout << pool_source({number(argv[2]), number(argv[3]), number(argv[4]), number(argv[5])});
      return 0;
    }
    if (argc == 3)
      return patch(argv[1], argv[2]);
    std::cerr << "patch_everything PROGRAM OUTPUT\n";
  } catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
  }
  return 2;
}
