#include "subject.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>
#include <unistd.h>

namespace nth::stack::test {

namespace fs = std::filesystem;

namespace {

struct directory {
  directory() {
    std::string pattern = (fs::temp_directory_path() / "nth-stack-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw std::runtime_error("no directory for subjects: " + pattern);
    path = pattern;
  }
  ~directory() {
    std::error_code error;
    fs::remove_all(path, error);
  }
  fs::path path;
};

fs::path new_file() {
  static int count = 0;
  return work_directory() / ("subject" + std::to_string(count++));
}

} // namespace

bool succeeds(const std::string &command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

std::string output_of(const std::string &command) {
  FILE *pipe = popen(command.c_str(), "r");
  if (pipe == nullptr)
    throw std::runtime_error("can't be run: " + command);
  std::string text;
  char buffer[1 << 16];
  for (std::size_t size = 0; (size = fread(buffer, 1, sizeof buffer, pipe)) != 0;)
    text.append(buffer, size);
  if (pclose(pipe) != 0)
    throw std::runtime_error("has failed: " + command);
  return text;
}

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

const fs::path &work_directory() {
  static const directory made;
  return made.path;
}

fs::path build(const std::string &source, const std::string &flags, const std::string &compiler) {
  static std::map<std::string, fs::path> known;
  const std::string command = compiler + " -O2 -g0 -w " + flags + " " + SUBJECTS "/" + source;
  fs::path &path = known[command];
  if (path.empty()) {
    path = new_file();
    output_of(command + " -o " + path.string() + " 2>&1");
  }
  return path;
}

fs::path changed(const fs::path &file, const std::string &command) {
  const fs::path copy = new_file();
  fs::copy_file(file, copy);
  std::string full = command;
  full.replace(full.find('@'), 1, copy.string());
  output_of(full);
  return copy;
}

std::vector<std::uint8_t> read_bytes(const fs::path &file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> system_files() {
  std::vector<fs::path> found;
  const std::string libraries = "/lib/x86_64-linux-gnu/";
  for (const std::string &path :
       {libraries + "libc.so.6", libraries + "libm.so.6", libraries + "libstdc++.so.6",
        libraries + "ld-linux-x86-64.so.2", libraries + "libz.so.1", libraries + "libgcc_s.so.1",
        libraries + "libexpat.so.1", libraries + "libsqlite3.so.0", libraries + "libgmp.so.10",
        std::string("/bin/ls"), std::string("/bin/bash"), std::string("/usr/bin/python3"),
        std::string("/usr/bin/make"), std::string("/usr/bin/ld.gold")})
    if (fs::exists(path))
      found.emplace_back(path);
  EXPECT_FALSE(found.empty());
  return found;
}

} // namespace nth::stack::test
