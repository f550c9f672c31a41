// What a compiler's driver asks of its linker. `nth-stack ld` stands in the linker's place (the drivers' option -B), so
// that any way of building works: one command, many, with link-time optimization or without.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace nth::stack {

struct ld_options {               // words of the linker's command that begin with --nth-
  std::int64_t segment = 4096;    // --nth-segment=SIZE
  std::int64_t turns = 1;         // --nth-turns=N
  std::vector<std::string> notes; // --nth-notes=FILE
  std::string profile;            // --nth-profile=FILE: of callgrind; "static": estimated
  std::string report;             // --nth-report=FILE: the plan in JSON
  std::string keep;               // --nth-keep=DIR: what lies between the steps stays there
  bool verbose = false;           // --nth-verbose
};

struct ld_command {
  std::string linker;                    // the real one
  std::vector<std::string> words;        // for it, without --nth- and what strips
  std::vector<std::string> library_dirs; // -L
  std::string output = "a.out";
  std::size_t output_word = 0; // index in `words` of the file's name; 0: there is none
  std::size_t first_object =
      0; // index in `words` of the first object that is no start-up code: what is linked before
         // the C compiler's crtbegin.o has no unwind tables in a static program
  bool makes_program = true; // not a shared object, not -r, not --version
  bool strips_all = false;   // -s
  bool strips_debug = false; // -S
  ld_options options;
};

// argv[0] and what follows, `name`: by which the driver called the linker ("ld", "ld.lld"). Further options are read from
// the environment's NTH_LINK_OPTIONS, before those of the command. Throws bad_input.
ld_command read_ld_command(const std::string &name, const std::vector<std::string> &words);

// --nth-… words; throws bad_input.
ld_options read_link_options(const std::vector<std::string> &words);

// The first program of that name in PATH that is not in `own_folder`; throws bad_input.
std::string find_linker(const std::string &name, const std::string &own_folder);

} // namespace nth::stack
