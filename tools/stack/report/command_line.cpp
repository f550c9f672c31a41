#include "report/command_line.hpp"

#include "nth/nth.h"
#include "report/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <sys/auxv.h>

#include <charconv>
#include <map>

namespace nth::stack {

namespace {

constexpr const char *examples = R"(Examples:
  nth-stack report ./a.out                               what each function needs, the worst first
  nth-stack report ./a.out --root worker --html a.html   a page to look at, of what worker reaches
  nth-stack report ./a.out --chain parse                 the calls that make the need of parse
  nth-stack report ./a.out --check roots.txt --limit 4K  fails if a root needs more (for a build)
  nth-stack report ./a.out --json new.json               for programs, and for:
  nth-stack diff old.json new.json                       fails if something needs more than before
  valgrind --tool=callgrind --dump-instr=yes --callgrind-out-file=run ./a.out
  nth-stack report ./a.out --profile run                 which of the calls a run made

Status: 0 fine; 1 a check failed, or a difference is for the worse; 2 bad input or usage.
Sizes are bytes, or 4K, 1M. A function is given by its linker name, its demangled name with or without
parameters, or "0x" and its address.)";

// Linux skips the red zone below rsp before it stores a signal frame.
constexpr std::int64_t red_zone = 128;
constexpr std::int64_t least_signal_frame = 3376; // where the kernel does not tell AT_MINSIGSTKSZ

std::int64_t size_of(const std::string &text, const std::string &option) {
  const std::optional<std::int64_t> size = parse_size(text);
  if (!size)
    throw CLI::ValidationError(option, fmt::format("{} is no size: 4096, 4K, 1M", printable(text)));
  return *size;
}

std::int64_t signal_charge(const std::string &text) {
  if (text != "auto")
    return size_of(text, "--signal-frame") + red_zone;
  const auto told = static_cast<std::int64_t>(getauxval(AT_MINSIGSTKSZ));
  return (told > 0 ? told : least_signal_frame) + red_zone;
}

struct raw_texts { // options that CLI11 only stores
  std::string signal_frame, limit;
  std::vector<std::string> diff;
};

void add_input(CLI::App &report, command_line &c) {
  constexpr const char *group = "What is analysed";
  report.add_option("program", c.program, "An x86-64 ELF executable or shared library")->type_name("PROGRAM");
  report.add_option("--library-path", c.library_paths, "Look for libraries here first; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->group(group);
  report.add_option("--root-dir", c.root_dir, "The system that the program is for lies here")
      ->type_name("DIR")
      ->group(group);
  report
      .add_option("--notes,--annotations", c.annotation_files,
                  "What analysis can't know, as doc/stack-notes.md says; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group(group);
  report
      .add_flag("!--no-built-in-notes", c.built_in_notes,
                "Leave out the notes that come with the command, on glibc and on nth")
      ->group(group);
}

void add_beliefs(CLI::App &report, command_line &c) {
  constexpr const char *group = "What is believed beyond proof (a need that rests on it counts as assumed)";
  report
      .add_flag(
          "--believe-tables,!--no-believe-tables", c.believe_tables,
          "A pointer out of a table or of an object is one of those in such tables (believed by default)")
      ->group(group);
  report
      .add_flag("--believe-signatures,!--no-believe-signatures", c.believe_signatures,
                "A pointer is called with all arguments that its function takes, as its type or its code "
                "tells (by default)")
      ->group(group);
  report
      .add_flag("--believe-start,!--no-believe-start", c.believe_start,
                "main and constructors are called by start-up code alone (by default)")
      ->group(group);
  report
      .add_flag("--believe-survival,!--no-believe-survival", c.believe_survival,
                "Calls with which the program dies (abort, failed assertions, checks of heap and stack) are "
                "not made (by default)")
      ->group(group);
  report
      .add_flag(
          "--lazy-binding", c.lazy_binding,
          "Calls are bound when first made: each lazily bound one may run the dynamic linker's resolver. "
          "By default the program is taken to run with LD_BIND_NOW or linked with -z now")
      ->group(group);
  report
      .add_flag("--strict", c.strict,
                "Believe none of these, leave out the built-in notes; in --check, assumed needs fail")
      ->group(group);
}

sort_order order_of(const std::string &text) {
  const std::map<std::string, sort_order> orders = {
      {"need", sort_order::need}, {"frame", sort_order::frame}, {"name", sort_order::name}};
  const auto found = orders.find(text);
  if (found == orders.end())
    throw CLI::ValidationError("--sort", fmt::format("there is no order \"{}\": need, frame or name", text));
  return found->second;
}

std::size_t lines_of(const std::string &text) {
  std::size_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size())
    throw CLI::ValidationError("--top", fmt::format("\"{}\" is no number of lines, such as 20", text));
  return n;
}

void add_choice(CLI::App &report, command_line &c, raw_texts &raw) {
  constexpr const char *group = "What is shown";
  report.add_option("--root", c.shown.roots, "Only this function and what it calls; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->group(group);
  report.add_flag("--all-modules", c.shown.all_modules, "Functions of shared libraries too")->group(group);
  report
      .add_option_function<std::string>(
          "--sort", [&c](const std::string &text) { c.shown.sort = order_of(text); }, "need, frame or name")
      ->type_name("ORDER")
      ->group(group);
  report
      .add_option_function<std::string>(
          "--top", [&c](const std::string &text) { c.shown.top = lines_of(text); },
          "Only so many lines of the table")
      ->type_name("N")
      ->group(group);
  report
      .add_option(
          "--signal-frame", raw.signal_frame,
          "A signal may be handled on the same stack: add to each need what its frame and its handlers take "
          "(and 128 bytes that the kernel skips); \"auto\" is what the kernel's frame takes here, without "
          "handlers. Default none, for nth handles signals on an alternate stack")
      ->type_name("BYTES")
      ->group(group);
}

void add_output(CLI::App &report, command_line &c, raw_texts &raw) {
  constexpr const char *group = "What is written (the table if nothing else); \"-\" is the standard output";
  report.add_flag("--table", c.table, "The table of functions")->group(group);
  report.add_option("--json", c.json, "The report for programs")->type_name("FILE")->group(group);
  report.add_option("--dot", c.dot, "The call graph, for Graphviz")->type_name("FILE")->group(group);
  report.add_option("--html", c.html, "A page to look at, in one file")->type_name("FILE")->group(group);
  report.add_flag("--count", c.count, "Procedures, call sites, back edges, indirect calls")->group(group);
  report.add_option("--chain", c.chain, "The calls that make the need of a function")
      ->type_name("NAME")
      ->group(group);
  report.add_option("--blocks", c.blocks, "The calls by which a function may block")
      ->type_name("NAME")
      ->group(group);
  report
      .add_option("--profile", c.profile,
                  "Lay a run over the call graph: a file of valgrind --tool=callgrind")
      ->type_name("FILE")
      ->group(group);
  report
      .add_option("--check", c.check,
                  "Fail unless each root in the file (\"name\" or \"name 2K\") stays in its limit")
      ->type_name("FILE")
      ->group(group);
  report.add_option("--limit", raw.limit, "Of roots that have no own one in that file")
      ->type_name("SIZE")
      ->group(group);
  report.add_option("--diff", raw.diff, "As nth-stack diff")->expected(2)->type_name("OLD NEW")->group(group);
}

void add_pool(CLI::App &pool, command_line &c) {
  pool.footer("Assemble it (cc -c pool.S), link it into the program with -Wl,-q and -Wl,-z,now, and patch "
              "that. nth-cc does "
              "all of this by itself, with as much room as is needed.");
  pool.add_option("-o,--output", c.output, "Assembly for the C compiler; default the standard output")
      ->type_name("FILE");
  pool.add_option("--stubs", c.room.stubs, "Calls and functions that may get stubs")->capture_default_str();
  pool.add_option("--needs", c.room.needs, "Entries of the table of needs")->capture_default_str();
  pool.add_option("--sites", c.room.sites, "Calls through pointers")->capture_default_str();
  pool.add_option("--text", c.room.text, "Bytes of reasons")->capture_default_str();
}

void add_patch(CLI::App &patch, command_line &c) {
  patch.footer("The program was linked with a pool of stubs (nth-stack pool), -Wl,-q and -Wl,-z,now.");
  patch.add_option("program", c.program, "An x86-64 ELF executable")->required()->type_name("PROGRAM");
  patch.add_option("-o,--output", c.output, "The patched program; default: in its own place")
      ->type_name("FILE");
  const auto add = [&](const char *name, const char *type, const char *text) {
    patch
        .add_option_function<std::vector<std::string>>(
            fmt::format("--{}", name),
            [&c, name](const std::vector<std::string> &values) {
              for (const std::string &v : values)
                c.link_words.push_back(fmt::format("--nth-{}={}", name, v));
            },
            text)
        ->type_name(type)
        ->allow_extra_args(false);
  };
  add("segment", "SIZE", "What a function and all that it calls without a stub are to stay within (4K)");
  add("turns", "N", "A segment taken on a recursive call holds so many turns of it (1)");
  add("profile", "FILE",
      "Rare calls get the stubs: of valgrind --tool=callgrind --dump-instr=yes, or \"static\"");
  add("notes", "FILE", "What analysis can't know, as doc/stack-notes.md says; may be repeated");
  add("report", "FILE", "What was done, in JSON");
  patch.add_flag_callback(
      "--verbose", [&c] { c.link_words.emplace_back("--nth-verbose"); }, "What was done, in words");
}

void finish(command_line &c, const CLI::App &report, const raw_texts &raw) {
  if (!raw.signal_frame.empty())
    c.shown.signal_charge = signal_charge(raw.signal_frame);
  if (!raw.limit.empty())
    c.limit = size_of(raw.limit, "--limit");
  if (c.limit && c.check.empty())
    throw CLI::RequiresError("--limit", "--check");
  if (raw.diff.size() == 2) {
    c.what = subcommand::diff;
    c.before = raw.diff[0];
    c.after = raw.diff[1];
  } else if (report.parsed() && c.program.empty()) {
    throw CLI::RequiredError("PROGRAM");
  }
  if (c.strict) {
    c.believe_tables = c.believe_signatures = c.believe_start = c.believe_survival = c.built_in_notes = false;
    c.lazy_binding = true;
  }
  const bool other = c.count || !c.json.empty() || !c.dot.empty() || !c.html.empty() || !c.chain.empty() ||
                     !c.blocks.empty() || !c.profile.empty() || !c.check.empty();
  c.table = c.table || !other;
}

} // namespace

std::optional<command_line> parse_command_line(int argc, char **argv, int &status) {
  command_line c;
  raw_texts raw;
  CLI::App app("nth-stack tells how much stack the functions of a linked program may need, and why.",
               "nth-stack");
  app.set_version_flag("--version", fmt::format("nth-stack {}.{}.{}", NTH_VERSION_MAJOR, NTH_VERSION_MINOR,
                                                NTH_VERSION_PATCH));
  app.footer(examples);
  app.require_subcommand(1);
  CLI::App &report = *app.add_subcommand("report", "What each function of a program needs");
  report.footer(examples);
  add_input(report, c);
  add_choice(report, c, raw);
  add_output(report, c, raw);
  add_beliefs(report, c);
  CLI::App &diff = *app.add_subcommand("diff", "What changed between two reports in JSON");
  diff.add_option("old", c.before, "The earlier report")->required()->type_name("OLD");
  diff.add_option("new", c.after, "The later report")->required()->type_name("NEW");
  diff.add_option("--root", c.shown.roots, "Only this function; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);

  CLI::App &patch =
      *app.add_subcommand("patch", "Small stacks for a program that was linked with a pool of stubs");
  add_patch(patch, c);
  CLI::App &pool = *app.add_subcommand("pool", "The pool of stubs, to be linked into a program");
  add_pool(pool, c);

  try {
    const std::string_view first = argc > 1 ? argv[1] : "report";
    if (app.get_subcommands([&](CLI::App *s) { return s->get_name() == first; }).empty() &&
        !first.starts_with('-'))
      throw CLI::ValidationError(
          "nth-stack", fmt::format("there is no command \"{}\": report, diff, patch or pool", first));
    app.parse(argc, argv);
    if (diff.parsed())
      c.what = subcommand::diff;
    if (patch.parsed())
      c.what = subcommand::patch;
    if (pool.parsed())
      c.what = subcommand::pool;
    finish(c, report, raw);
  } catch (const CLI::ParseError &e) {
    status = app.exit(e) == 0 ? exit_fine : exit_refused;
    return std::nullopt;
  }
  return c;
}

} // namespace nth::stack
