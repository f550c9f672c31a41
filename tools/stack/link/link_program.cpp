#include "link/link_program.hpp"

#include "link/plan_program.hpp"
#include "link/process.hpp"
#include "link/report_plan.hpp"
#include "patch/apply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace nth::stack {

namespace {

std::string compiler_for_assembly() {
  const char *chosen = std::getenv("NTH_LINK_CC");
  return chosen != nullptr && *chosen != 0 ? chosen : "cc";
}

class program_link {
public:
  explicit program_link(const ld_command &c) : c_(c), scratch_(c.options.keep) {}

  int run() {
    const std::filesystem::path first = scratch_ / "first";
    if (const int status = link(first, false); status != 0)
      return status;
    const module m(first);
    if (!uses_nth(m))
      return link_plainly();
    if (const std::string why = why_not_small(m); !why.empty()) {
      fmt::print(stderr, "nth-stack: {}: linked without small stacks: {}\n", c_.output, why);
      return link_plainly();
    }
    room_ = room_for(plan_program(first, c_).plan);
    room_.stubs = std::max(room_.stubs, 1U);
    // The second link moves code, which may change what an analysis finds: it has to fit.
    for (int tries = 0;; ++tries) {
      const std::filesystem::path second = scratch_ / "second";
      make_pool();
      if (const int status = link(second, true); status != 0)
        return status;
      const planned_program planned = plan_program(second, c_);
      if (fits(room_for(planned.plan))) {
        report(planned, c_);
        write_output(second, planned.plan);
        return strip();
      }
      constexpr int most_tries = 3;
      if (tries == most_tries)
        throw bad_input(fmt::format("{}: its stubs are not the same in each link; link it with "
                                    "--nth-verbose, and report what that says",
                                    c_.output));
    }
  }

private:
  int link(const std::filesystem::path &to, bool with_pool) {
    std::vector<std::string> words = c_.words;
    if (c_.output_word != 0)
      words[c_.output_word] = to.string();
    else
      words.insert(words.end(), {"-o", to.string()});
    if (with_pool)
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(c_.first_object),
                   (scratch_ / "pool.o").string());
    words.insert(words.begin(), c_.linker);
    words.insert(words.end(), {"--emit-relocs", "-z", "now"});
    return run_program(words);
  }

  int link_plainly() {
    std::vector<std::string> words = {c_.linker};
    words.insert(words.end(), c_.words.begin(), c_.words.end());
    if (c_.strips_all)
      words.emplace_back("-s");
    if (c_.strips_debug)
      words.emplace_back("-S");
    return run_program(words);
  }

  void make_pool() {
    const std::filesystem::path source = scratch_ / "pool.S";
    std::ofstream(source) << pool_source(room_);
    if (run_program({compiler_for_assembly(), "-c", source.string(), "-o", (scratch_ / "pool.o").string()}) !=
        0)
      throw bad_input(
          fmt::format("{}: the stubs can't be assembled by \"{}\"; NTH_LINK_CC names the C compiler",
                      c_.output, compiler_for_assembly()));
  }

  // A device (configure links to /dev/null) is written to, not replaced.
  void write_output(const std::filesystem::path &linked, const link_plan &plan) {
    std::error_code none;
    const auto status = std::filesystem::status(c_.output, none);
    if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) {
      apply_plan(linked, plan, c_.output);
      return;
    }
    const std::filesystem::path patched = scratch_ / "patched";
    apply_plan(linked, plan, patched);
    std::ofstream out(c_.output, std::ios::binary);
    out << std::ifstream(patched, std::ios::binary).rdbuf();
    out.close();
    if (!out)
      throw bad_input(fmt::format("{}: can't be written", c_.output));
  }

  bool fits(const pool_room &wanted) {
    const pool_room before = room_;
    room_.stubs = std::max(room_.stubs, wanted.stubs);
    room_.needs = std::max(room_.needs, wanted.needs);
    room_.sites = std::max(room_.sites, wanted.sites);
    room_.text = std::max(room_.text, wanted.text);
    return room_.stubs == before.stubs && room_.needs == before.needs && room_.sites == before.sites &&
           room_.text == before.text;
  }

  int strip() {
    if ((!c_.strips_all && !c_.strips_debug) || !std::filesystem::is_regular_file(c_.output))
      return 0;
    return run_program({"strip", c_.strips_all ? "--strip-all" : "--strip-debug", c_.output});
  }

  const ld_command &c_;
  scratch_folder scratch_;
  pool_room room_;
};

} // namespace

void patch_linked(const std::filesystem::path &program, const std::string &output,
                  const std::vector<std::string> &options) {
  ld_command c;
  c.options = read_link_options(options);
  c.output = output.empty() ? program.string() : output;
  check_patchable(module(program));
  const planned_program planned = plan_program(program, c);
  report(planned, c);
  apply_plan(program, planned.plan, c.output);
}

int link_as(const std::string &called_as, const std::string &own_folder,
            const std::vector<std::string> &words) {
  const std::string linker = find_linker(called_as, own_folder);
  const ld_command c = read_ld_command(linker, words);
  if (!c.makes_program) {
    std::vector<std::string> all = {linker};
    std::copy_if(words.begin(), words.end(), std::back_inserter(all),
                 [](const std::string &w) { return !w.starts_with("--nth-"); });
    return run_program(all);
  }
  return program_link(c).run();
}

} // namespace nth::stack
