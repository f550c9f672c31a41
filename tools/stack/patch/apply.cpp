#include "patch/apply.hpp"

#include "image/unwind.hpp"
#include "patch/drop_relocations.hpp"
#include "patch/new_file.hpp"
#include "patch/patcher.hpp"
#include "patch/program_pool.hpp"
#include "patch/verify.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace nth::stack {

namespace {

[[noreturn]] void refuse(const module &m, std::string_view what) {
  throw bad_input(fmt::format("{}: {}", m.path, what));
}

void refuse_sanitizers(const module &m) {
  struct sanitizer {
    std::string_view symbol, name;
  };
  constexpr std::array<sanitizer, 4> known = {{{"__asan_init", "AddressSanitizer"},
                                               {"__tsan_init", "ThreadSanitizer"},
                                               {"__msan_init", "MemorySanitizer"},
                                               {"__hwasan_init", "HWAddressSanitizer"}}};
  for (const symbol &s : m.symbols)
    for (const sanitizer &each : known)
      if (s.name == each.symbol)
        refuse(m, fmt::format("is built with {}, which keeps account of stacks by itself; build it without",
                              each.name));
}

} // namespace

void check_patchable(const module &m) {
  if (m.shared)
    refuse(m, "is a shared library; only programs can be patched");
  refuse_sanitizers(m);
  const bool kept = std::ranges::any_of(m.relocations, [](const relocation &r) { return !r.dynamic; });
  if (!kept && m.stripped)
    refuse(m, "is stripped; link it with -Wl,-q and without -s, and strip it when it is patched");
  if (find_pool(m).header.filled != 0)
    refuse(m, "is patched already; link it again");
  if (!kept)
    refuse(m, "has no relocations that say where its addresses are; link it with -Wl,-q");
  const bool lazy =
      std::ranges::any_of(m.relocations, [](const relocation &r) { return r.dynamic && r.jump_slot; });
  if (lazy && !m.bound_now)
    refuse(m, "binds functions of libraries when they are called first, on whatever stack that is; link it "
              "with -Wl,-z,now");
}

void apply_plan(const std::filesystem::path &program, const link_plan &plan,
                const std::filesystem::path &output) {
  const module m(program);
  check_patchable(m);
  const unwind_table u(m);
  const function_table table(m, u);
  // The program with stubs, tables, calls and references changed, each in its place.
  const std::vector<std::uint8_t> patched = patch(m, table, plan);
  // Into a file of its own, which takes the output's place once it is right.
  new_file file(output, program);
  file.write(without_kept_relocations(patched, m.path));
  verify(program, file.path(), plan);
  file.commit();
}

} // namespace nth::stack
