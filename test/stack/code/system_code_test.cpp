// stack_system_code FILE PART   of code as it is installed, at least this part of the functions has an exact frame,
// and hardly a depth differs from what the unwind tables say. Status 77: there is no such file.
#include "scanned_module.hpp"

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int skipped = 77;
constexpr double most_differing = 0.002; // the tables of hand-written code are wrong here and there
constexpr int least_functions = 100;

bool is_understood(const std::filesystem::path &path, double least_exact) {
  using namespace nth::stack;
  const scanned_module m{path};
  double all = 0;
  double exact = 0;
  double compared = 0;
  double differing = 0;
  for (std::size_t f = 0; f < m.facts.size(); ++f) {
    if (m.table.functions[f].kind == function_kind::fragment)
      continue;
    const function_facts &each = m.facts[f];
    all += 1;
    exact += each.bound == frame_bound::exact ? 1 : 0;
    compared += each.cfa_compared;
    differing += each.cfa_differing;
  }
  std::printf("%.0f functions, %.4f of them exact; of %.0f depths compared, %.5f differ\n", all, exact / all,
              compared, differing / compared);
  return all >= least_functions && exact / all >= least_exact && differing / compared <= most_differing;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    return EXIT_FAILURE;
  if (!std::filesystem::exists(argv[1])) {
    std::printf("%s is not on this machine\n", argv[1]);
    return skipped;
  }
  return is_understood(argv[1], std::atof(argv[2])) ? EXIT_SUCCESS : EXIT_FAILURE;
}
