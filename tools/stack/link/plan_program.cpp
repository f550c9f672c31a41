#include "link/plan_program.hpp"

#include "graph/analyse.hpp"
#include "graph/build.hpp"
#include "notes/built_in.hpp"
#include "plan/special_calls.hpp"
#include "plan/weights.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace nth::stack {

namespace {

// glibc's functions that are part of the program get stubs of their own, so what notes say of their whole need is not
// wanted; what they say of frames, pointers and depths holds.
annotations notes_for(const program &p, const ld_command &c) {
  annotations notes;
  for (const analysed_module &m : p.modules) {
    append(notes, annotations_of(m.image));
    annotations more = built_in_notes(m.image);
    if (&m == &p.modules.front())
      std::erase_if(more.list, [](const annotation &a) {
        return a.kind == annotation::what::need && !a.function.starts_with("nth_");
      });
    append(notes, std::move(more));
  }
  for (const std::string &file : c.options.notes)
    append(notes, read_annotations(file));
  return notes;
}

// Empty: no profile was asked for.
std::vector<double> weights_for(const ld_command &c, const patched_program &program, const call_graph &g,
                                const annotations &notes) {
  if (c.options.profile.empty())
    return {};
  if (c.options.profile == "static")
    return estimated_weights(program, g, solve(g, notes));
  std::uint64_t found = 0;
  std::vector<double> weights = weights_of_run(g, read_callgrind(c.options.profile), found);
  if (found == 0)
    throw bad_input(
        fmt::format("{}: none of its calls is one of {}; it is the profile of another program, or was made "
                    "without --dump-instr=yes",
                    c.options.profile, c.output));
  return weights;
}

} // namespace

bool uses_nth(const module &m) {
  return std::any_of(m.symbols.begin(), m.symbols.end(), [](const symbol &s) {
    return s.kind == symbol_kind::function && s.name.starts_with("nth_");
  });
}

std::string why_not_small(const module &m) {
  for (const symbol &s : m.symbols)
    if (s.name == "__asan_init" || s.name == "__tsan_init" || s.name == "__msan_init" ||
        s.name == "__hwasan_init")
      return "it is instrumented by a sanitizer, whose run-time knows of one stack for each thread";
  return {};
}

planned_program plan_program(const std::filesystem::path &file, const ld_command &c) {
  analyse_options options;
  options.search.first.assign(c.library_dirs.begin(), c.library_dirs.end());
  const program p = analyse_program(file, options);
  build_options build;
  build.count_death_in_program = true; // it dies on a stack that is large enough
  planned_program result;
  build.believe_own_pointers = true;
  result.graph = build_call_graph(p, build);
  const annotations notes = notes_for(p, c);
  const patched_program patched(p, result.graph);
  result.weights = weights_for(c, patched, result.graph, notes);
  result.chosen = choose_stubs(result.graph, notes, find_patchable(patched, result.graph),
                               need_aimed_at(c.options.segment), result.weights);
  result.plan = make_plan(
      patched, result.graph, result.chosen,
      {bytes_at_first(c.options.segment), bytes_taken(c.options.segment), c.options.turns}, result.weights);
  result.shared_cxx = std::any_of(p.modules.begin(), p.modules.end(), [](const analysed_module &m) {
    return m.image.name.starts_with("libstdc++.so");
  });
  for (const analysed_module &m : p.modules)
    if (jumps_by_itself(m.image))
      result.jumping.push_back(m.image.name);
  result.suspending = find_suspending_calls(patched, result.graph);
  for (std::uint32_t n = 0; n < result.graph.nodes.size(); ++n)
    result.patched.push_back(patched.is_patched(n));
  return result;
}

} // namespace nth::stack
