// What the user asks of nth-stack.
#pragma once

#include "report/report.hpp"

#include <optional>

namespace nth::stack {

inline constexpr int exit_fine = 0;
inline constexpr int exit_failed = 1;  // a check failed, or something got worse
inline constexpr int exit_refused = 2; // bad input or usage

enum class subcommand : std::uint8_t { report, diff, patch, pool };

struct pool_request { // so many of each
  std::uint32_t stubs = 512;
  std::uint32_t needs = 1024;
  std::uint32_t sites = 4096;
  std::uint32_t text = 16384; // bytes
};

struct command_line {
  subcommand what = subcommand::report;

  std::string program;
  std::string root_dir = "/";
  std::vector<std::string> library_paths;

  std::vector<std::string> annotation_files;
  bool built_in_notes = true;
  bool strict = false; // nothing is believed beyond proof
  bool believe_tables = true;
  bool believe_signatures = true;
  bool believe_start = true;
  bool believe_survival = true;
  bool lazy_binding = false;

  report_options shown;
  bool table = false;
  bool count = false;
  std::string json, dot, html; // files; "-" is stdout, "" none
  std::string chain, blocks;   // functions
  std::string profile;         // of callgrind
  std::string check;           // roots
  std::optional<std::int64_t> limit;

  std::string before, after; // reports to compare

  std::string output;                  // of patch and pool; "": the program itself, standard output
  std::vector<std::string> link_words; // of patch, as nth-cc takes them: --nth-segment=1K, …
  pool_request room;
};

// Nothing: told the user what was asked for (--help, --version), or what is wrong, and `status` is set.
std::optional<command_line> parse_command_line(int argc, char **argv, int &status);

} // namespace nth::stack
