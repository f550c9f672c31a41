#include "graph/analyse.hpp"
#include "code/scan.hpp"
#include "graph/noreturn_exports.hpp"
#include "image/library_paths.hpp"

#include <utility>

namespace nth::stack {

namespace {

// A function without symbol or unwind entry that only a pointer in data leads to would not be known.
void add_pointed_functions(const module &m, function_table &t) {
  for (const relocation &r : m.relocations) {
    if (r.kind != relocation_kind::relative && r.kind != relocation_kind::irelative)
      continue;
    const auto to = static_cast<address>(r.addend);
    const std::uint32_t around = t.containing(to);
    if (m.is_code(to) && (around == no_function || !t.functions[around].has_size))
      t.add(to, m);
  }
}

} // namespace

program analyse_modules(loaded_program loaded, const analyse_options &options) {
  program p;
  p.missing = std::move(loaded.missing);
  p.modules.reserve(loaded.modules.size());
  for (module &m : loaded.modules) {
    analysed_module a{std::move(m), {}, {}, {}};
    a.unwind = unwind_table(a.image);
    a.table = function_table(a.image, a.unwind);
    add_pointed_functions(a.image, a.table);
    p.modules.push_back(std::move(a));
  }
  noreturn_exports ends(p);
  for (const std::uint32_t m : ends.order()) {
    analysed_module &a = p.modules[m];
    scan_options scan;
    if (options.progress)
      scan.progress = [&](std::size_t done, std::size_t all) { options.progress(a.image, done, all); };
    scan.import_never_returns = [&](const symbol &wanted) { return ends.ask(m, wanted); };
    a.facts = scan_module(a.image, a.unwind, a.table, scan);
    ends.add(m);
  }
  return p;
}

program analyse_program(const std::filesystem::path &path, const analyse_options &options) {
  program p = analyse_modules(load_program(path, options.search), options);
  p.debug_directory = path_in_root(options.search.root, p.debug_directory);
  return p;
}

} // namespace nth::stack
