// nth-stack: how much stack the functions of a linked program may need, and why.
#include "graph/analyse.hpp"
#include "graph/build.hpp"
#include "link/link_program.hpp"
#include "notes/built_in.hpp"
#include "patch/pool.hpp"
#include "report/check.hpp"
#include "report/command_line.hpp"
#include "report/diff.hpp"
#include "report/progress.hpp"
#include "report/text.hpp"

#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <iostream>
#include <utility>

namespace {

using namespace nth::stack;

program read_program(const command_line &c) {
  progress_line line;
  analyse_options options;
  options.search.first.assign(c.library_paths.begin(), c.library_paths.end());
  options.search.root = c.root_dir;
  options.progress = [&](const module &m, std::size_t done, std::size_t all) {
    line.show(m.name, done, all);
  };
  return analyse_program(c.program, options);
}

annotations read_notes(const command_line &c, const program &p) {
  annotations notes;
  for (const analysed_module &m : p.modules) {
    append(notes, annotations_of(m.image));
    if (c.built_in_notes)
      append(notes, built_in_notes(m.image));
  }
  for (const std::string &file : c.annotation_files)
    append(notes, read_annotations(file));
  return notes;
}

build_options beliefs(const command_line &c) {
  build_options options;
  options.believe_tables = c.believe_tables;
  options.believe_signatures = c.believe_signatures;
  options.believe_start = c.believe_start;
  options.believe_survival = c.believe_survival;
  options.resolver_on_lazy_calls = c.lazy_binding;
  return options;
}

// What a report tells of the files themselves.
analysis describe(const command_line &c, const program &p) {
  analysis a;
  a.program = c.program;
  a.missing = p.missing;
  for (const analysed_module &m : p.modules) {
    a.modules.push_back(m.image.path);
    a.module_names.push_back(m.image.name);
    for (const auto *warnings : {&m.image.warnings, &m.unwind.warnings})
      for (const std::string &warning : *warnings)
        a.warnings.push_back(fmt::format("{}: {}", m.image.name, warning));
  }
  return a;
}

void warn(const analysis &a) {
  for (const std::string &library : a.missing)
    fmt::print(stderr,
               "nth-stack: {}: not found; calls of it have no bound (--library-path names its folder)\n",
               printable(library));
  for (const std::string &note : a.needs.unused_notes)
    fmt::print(stderr, "nth-stack: an annotation has no effect: {}\n", printable(note));
}

void write_to(const std::string &file, const std::function<void(std::ostream &)> &write) {
  if (file == "-") {
    write(std::cout);
    return;
  }
  std::ofstream out(file, std::ios::binary);
  if (out)
    write(out);
  out.close();
  if (!out)
    throw bad_input(fmt::format("{}: can't be written; is there such a folder, and room?", file));
}

int write_reports(const command_line &c, const analysis &a) {
  if (!c.json.empty())
    write_to(c.json, [&](std::ostream &out) { write_json(out, a, c.shown); });
  if (!c.dot.empty())
    write_to(c.dot, [&](std::ostream &out) { write_graphviz(out, a, c.shown); });
  if (!c.html.empty())
    write_to(c.html, [&](std::ostream &out) { write_page(out, a, c.shown); });
  if (c.table)
    write_table(std::cout, a, c.shown);
  if (c.count)
    write_counts(std::cout, a, c.shown);
  if (a.profile)
    write_profile(c.json == "-" ? std::cerr : std::cout, a, *a.profile);
  if (!c.chain.empty())
    write_chain(std::cout, a, c.chain);
  if (!c.blocks.empty())
    write_blocking_chain(std::cout, a, c.blocks);
  if (!c.check.empty() && check_roots(std::cout, a, read_roots(c.check, c.limit), c.strict, c.shown) > 0)
    return exit_failed;
  return exit_fine;
}

int report(const command_line &c) {
  // The program and its libraries; of each function its frames and calls.
  const program p = read_program(c);
  // What the user, the program's source and nth itself say beyond that.
  const annotations notes = read_notes(c, p);
  // Who calls whom.
  analysis a = describe(c, p);
  a.graph = build_call_graph(p, beliefs(c));
  // What each function needs, and what that rests on.
  a.needs = solve(a.graph, notes);
  // What a run made of it.
  if (!c.profile.empty())
    a.profile = lay_over(a, read_callgrind(c.profile), c.shown.roots);
  // What the user gets to see.
  warn(a);
  return write_reports(c, a);
}

int diff(const command_line &c) {
  const std::vector<reported_function> before = read_report(c.before);
  const std::vector<reported_function> after = read_report(c.after);
  return write_difference(std::cout, before, after, c.shown.roots) > 0 ? exit_failed : exit_fine;
}

int write_pool(const command_line &c) {
  const pool_room room = {c.room.stubs, c.room.needs, c.room.sites, c.room.text};
  write_to(c.output.empty() ? "-" : c.output, [&](std::ostream &out) { out << pool_source(room); });
  return exit_fine;
}

int patch(const command_line &c) {
  patch_linked(c.program, c.output, c.link_words);
  return exit_fine;
}

int run(const command_line &c) {
  switch (c.what) {
  case subcommand::report:
    return report(c);
  case subcommand::diff:
    return diff(c);
  case subcommand::patch:
    return patch(c);
  case subcommand::pool:
    return write_pool(c);
  }
  return exit_refused;
}

// nth-stack ld NAME FOLDER WORD…: called by the script NAME in FOLDER, which a compiler's driver takes for its linker.
bool stands_for_linker(int argc, char **argv) { return argc >= 4 && std::string_view(argv[1]) == "ld"; }

} // namespace

int main(int argc, char **argv) {
  int status = exit_fine;
  try {
    if (stands_for_linker(argc, argv))
      return link_as(argv[2], argv[3], {argv + 4, argv + argc});
    const std::optional<command_line> c = parse_command_line(argc, argv, status);
    if (c)
      status = run(*c);
    std::cout.flush();
    if (!std::cout)
      throw bad_input("the standard output can't be written");
  } catch (const std::exception &error) {
    fmt::print(stderr, "nth-stack: {}\n", error.what());
    status = exit_refused;
  }
  return status;
}
