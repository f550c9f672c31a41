#include "link/ld_command.hpp"

#include "image/elf_file.hpp"
#include "report/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <unistd.h>

namespace nth::stack {

namespace {

constexpr std::int64_t least_segment = 512;
constexpr std::int64_t most_segment = 512 * 1024;
constexpr std::int64_t most_turns = 1024;

std::vector<std::string> words_of_file(const std::string &path) {
  std::ifstream in(path);
  if (!in)
    throw bad_input(fmt::format("{}: can't be read", path));
  // As GNU programs write them: white space separates, quotes and backslashes protect.
  std::vector<std::string> words;
  std::string word;
  bool any = false;
  char quote = 0;
  for (std::istreambuf_iterator<char> c(in), end; c != end; ++c) {
    if (*c == '\\') {
      if (++c == end)
        break;
      word += *c;
      any = true;
    } else if (quote != 0) {
      if (*c == quote)
        quote = 0;
      else
        word += *c;
    } else if (*c == '"' || *c == '\'') {
      quote = *c;
      any = true;
    } else if (*c == ' ' || *c == '\n' || *c == '\t' || *c == '\r') {
      if (any)
        words.push_back(std::move(word));
      word.clear();
      any = false;
    } else {
      word += *c;
      any = true;
    }
  }
  if (any)
    words.push_back(std::move(word));
  return words;
}

std::vector<std::string> without_files(const std::vector<std::string> &words) {
  std::vector<std::string> all;
  for (const std::string &word : words) {
    if (word.size() > 1 && word.front() == '@') {
      const std::vector<std::string> more = words_of_file(word.substr(1));
      all.insert(all.end(), more.begin(), more.end());
    } else {
      all.push_back(word);
    }
  }
  return all;
}

std::int64_t number_of(std::string_view option, std::string_view text, std::int64_t least,
                       std::int64_t most) {
  const std::optional<std::int64_t> n = parse_size(text);
  if (!n || *n < least || *n > most)
    throw bad_input(fmt::format("{}={}: a size from {} to {} is wanted behind the =, such as 2K", option,
                                text, least, most));
  return *n;
}

void read_option(ld_options &o, std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
  if (name == "--nth-segment")
    o.segment = number_of(name, value, least_segment, most_segment);
  else if (name == "--nth-turns")
    o.turns = number_of(name, value, 1, most_turns);
  else if (name == "--nth-notes" && !value.empty())
    o.notes.emplace_back(value);
  else if (name == "--nth-profile" && !value.empty())
    o.profile = value;
  else if (name == "--nth-report" && !value.empty())
    o.report = value;
  else if (name == "--nth-keep" && !value.empty())
    o.keep = value;
  else if (word == "--nth-verbose")
    o.verbose = true;
  else
    throw bad_input(fmt::format("{}: there is no such option; --nth-segment=SIZE, --nth-turns=N, "
                                "--nth-profile=FILE|static, --nth-notes=FILE, --nth-report=FILE, "
                                "--nth-keep=DIR, --nth-verbose are known",
                                word));
}

bool makes_no_program(std::string_view word) {
  static const std::set<std::string_view> words = {"-shared", "--shared",  "-Bshareable",   "-r",
                                                   "-i",      "-Ur",       "--relocatable", "-v",
                                                   "-V",      "--version", "--help",        "--verbose"};
  return words.contains(word);
}

// crt1.o, Scrt1.o, crti.o, crtbeginT.o, …
bool is_startup(const std::string &word) {
  const std::string name = std::filesystem::path(word).filename().string();
  return name.find("crt") <= 4 && name.ends_with(".o");
}

} // namespace

ld_options read_link_options(const std::vector<std::string> &words) {
  ld_options o;
  for (const std::string &word : words)
    read_option(o, word);
  return o;
}

ld_command read_ld_command(const std::string &name, const std::vector<std::string> &words) {
  ld_command c;
  c.linker = name;
  if (const char *more = std::getenv("NTH_LINK_OPTIONS")) {
    std::istringstream in(more);
    for (std::string word; in >> word;)
      read_option(c.options, word);
  }
  const std::vector<std::string> all = without_files(words);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string &word = all[i];
    if (word.starts_with("--nth-")) {
      read_option(c.options, word);
      continue;
    }
    if (word == "-s" || word == "--strip-all") {
      c.strips_all = true;
      continue;
    }
    if (word == "-S" || word == "--strip-debug") {
      c.strips_debug = true;
      continue;
    }
    c.makes_program = c.makes_program && !makes_no_program(word);
    c.words.push_back(word);
    if ((word == "-o" || word == "--output") && i + 1 < all.size()) {
      c.output_word = c.words.size();
      c.output = all[++i];
      c.words.push_back(c.output);
    } else if (word == "-L" && i + 1 < all.size()) {
      c.library_dirs.push_back(all[++i]);
      c.words.push_back(c.library_dirs.back());
    } else if (word.starts_with("-L")) {
      c.library_dirs.push_back(word.substr(2));
    } else if (word.starts_with("--output=")) {
      c.output = word.substr(std::string_view("--output=").size());
      c.words.back() = "-o";
      c.output_word = c.words.size();
      c.words.push_back(c.output);
    }
  }
  for (std::size_t i = 0; i < c.words.size(); ++i)
    if (is_startup(c.words[i]) && c.words[i].find("crtend") == std::string::npos &&
        c.words[i].find("crtn") == std::string::npos)
      c.first_object = i + 1;
  return c;
}

std::string find_linker(const std::string &name, const std::string &own_folder) {
  const char *path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  std::error_code ignored;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path candidate = std::filesystem::path(folder) / name;
    if (access(candidate.c_str(), X_OK) == 0 && !std::filesystem::equivalent(folder, own_folder, ignored))
      return candidate.string();
  }
  throw bad_input(fmt::format("{}: no such linker in PATH", name));
}

} // namespace nth::stack
