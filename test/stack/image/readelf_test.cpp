// What readelf and objdump say of the same files.
#include "image/module.hpp"
#include "subject.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include <elf.h>
#include <gtest/gtest.h>

using namespace nth::stack;
using namespace nth::stack::test;

namespace {

address hex(const std::string &text) { return std::strtoull(text.c_str(), nullptr, 16); }

std::vector<std::string> words_of(const std::string &line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;)
    words.push_back(word);
  return words;
}

std::vector<std::filesystem::path> files() {
  auto all = system_files();
  all.push_back(build("plain.c", "-Wl,-z,now,--emit-relocs"));
  all.push_back(build("plain.c", "-no-pie -fno-plt"));
  all.push_back(build("plain.c", "-static"));
  all.push_back(build("plain.c", "-static-pie"));
  all.push_back(build("ifunc.c", "-Wl,-z,ibtplt -fcf-protection"));
  all.push_back(build("throwing.cpp", "", "g++"));
  return all;
}

using symbol_row = std::tuple<std::string, address, std::uint64_t, std::string>;

const char *word_of(symbol_kind kind) {
  switch (kind) {
  case symbol_kind::function:
    return "FUNC";
  case symbol_kind::ifunc:
    return "IFUNC";
  case symbol_kind::object:
    return "OBJECT";
  case symbol_kind::tls:
    return "TLS";
  case symbol_kind::section:
    return "SECTION";
  case symbol_kind::none:
    break;
  }
  return "NOTYPE";
}

// readelf's lines: "number: value size type binding visibility index name[@version [(n)]]"
std::multiset<symbol_row> symbols_by_readelf(const std::string &text) {
  std::multiset<symbol_row> all;
  for (const std::string &line : lines_of(text)) {
    const auto words = words_of(line);
    if (words.size() < 8 || words[0].back() != ':' || words[0] == "0:" || words[0] == "Num:")
      continue;
    std::string kind = words[3] == "FILE" ? "SECTION" : words[3];
    std::string name = words[7];
    if (kind != "SECTION")
      all.emplace(name, hex(words[1]), std::strtoull(words[2].c_str(), nullptr, 0), kind);
  }
  return all;
}

std::multiset<symbol_row> symbols_of(const module &m, bool dynamic) {
  std::multiset<symbol_row> all;
  for (const symbol &s : m.symbols) {
    if (s.dynamic != dynamic || s.kind == symbol_kind::section || s.name.empty())
      continue;
    std::string name(s.name);
    // Two @ are for versions that the file defines; of the symbol that stands for a version, readelf shows the name.
    if (!s.version.empty() && s.version != s.name)
      name += (s.hidden || !s.defined || !m.shared ? "@" : "@@") + std::string(s.version);
    all.emplace(name, s.at, s.size, word_of(s.kind));
  }
  return all;
}

template <typename T>
std::string first_difference(const T &a, const T &b) {
  const auto [left, right] = std::ranges::mismatch(a, b);
  std::ostringstream out;
  if (left != a.end())
    out << "here: " << std::get<0>(*left) << " " << std::hex << std::get<1>(*left);
  if (right != b.end())
    out << " there: " << std::get<0>(*right) << " " << std::hex << std::get<1>(*right);
  return out.str();
}

} // namespace

TEST(readelf, agrees_in_symbols) {
  for (const auto &path : files()) {
    const module m(path);
    EXPECT_TRUE(m.warnings.empty()) << m.warnings.front();
    const auto dynamic = symbols_of(m, true);
    const auto expected = symbols_by_readelf(output_of("readelf -W --dyn-syms " + path.string()));
    EXPECT_EQ(dynamic.size(), expected.size()) << path;
    EXPECT_TRUE(dynamic == expected) << path << " " << first_difference(dynamic, expected);
    if (m.stripped)
      continue;
    const auto kept = symbols_of(m, false);
    // Without --dyn-syms' table: the second one.
    std::string text = output_of("readelf -W -s " + path.string());
    text.erase(0, text.find("Symbol table '.symtab'"));
    EXPECT_TRUE(kept == symbols_by_readelf(text))
        << path << " " << first_difference(kept, symbols_by_readelf(text));
  }
}

TEST(readelf, agrees_in_sections) {
  for (const auto &path : files()) {
    const module m(path);
    std::set<std::tuple<std::string, address, std::uint64_t>> expected, got;
    for (std::string line : lines_of(output_of("readelf -W -S " + path.string()))) {
      const auto bracket = line.find(']');
      if (bracket == std::string::npos || line.find("  [") != 0 || line.find("NULL") != std::string::npos)
        continue;
      const auto words = words_of(line.substr(bracket + 1));
      if (words.size() > 5 && words[0] != "Name")
        expected.emplace(words[0], hex(words[2]), hex(words[4]));
    }
    for (const section &s : m.sections)
      got.emplace(s.name, s.begin, s.size);
    EXPECT_TRUE(got == expected) << path << " " << first_difference(got, expected);
  }
}

TEST(readelf, agrees_in_dynamic_relocations) {
  for (const auto &path : files()) {
    const module m(path);
    std::map<address, std::string> expected;
    bool packed = false;
    for (const std::string &line : lines_of(output_of("readelf -W -r " + path.string() + " 2>/dev/null"))) {
      if (line.find("elocation section") != std::string::npos)
        packed = line.find(".rela.dyn") == std::string::npos && line.find(".rela.plt") == std::string::npos;
      const auto words = words_of(line);
      if (!packed && words.size() >= 3 && words[2].starts_with("R_X86_64_"))
        expected[hex(words[0])] = words[2].substr(9);
    }
    std::size_t found = 0;
    for (const relocation &r : m.relocations) {
      if (!r.dynamic)
        continue;
      const auto e = expected.find(r.place);
      if (e == expected.end()) // a packed one
        continue;
      ++found;
      EXPECT_EQ(r.kind == relocation_kind::relative, e->second == "RELATIVE") << path << " " << r.place;
      EXPECT_EQ(r.kind == relocation_kind::irelative, e->second.starts_with("IRELATIV"))
          << path << " " << r.place;
      EXPECT_EQ(r.kind == relocation_kind::copy, e->second == "COPY") << path << " " << r.place;
      EXPECT_EQ(r.jump_slot, e->second == "JUMP_SLOT" || e->second == "JUMP_SLO") << path << " " << r.place;
    }
    EXPECT_EQ(found, expected.size()) << path;
  }
}

// objdump makes up a name for each stub, from the relocation of its slot.
TEST(readelf, agrees_in_stubs_of_the_plt) {
  for (const auto &path : files()) {
    const module m(path);
    std::map<address, std::string> expected;
    for (const section &s : m.sections)
      if (s.executable && s.name.starts_with(".plt"))
        for (const std::string &line :
             lines_of(output_of("objdump -d -j " + std::string(s.name) + " " + path.string()))) {
          const auto at = line.find("@plt>:");
          const auto name = line.find('<');
          if (at != std::string::npos && line.find("*ABS*") == std::string::npos)
            expected[hex(line)] = line.substr(name + 1, at - name - 1);
        }
    std::map<address, std::string> got;
    for (const plt_stub &stub : m.plt)
      for (const relocation &r : m.relocations_in(stub.slot, stub.slot + 1))
        if (r.dynamic && r.symbol != no_symbol)
          got[stub.at] = m.symbols[r.symbol].name;
    for (const auto &[at, name] : expected) {
      EXPECT_EQ(got[at], name.substr(0, name.find('@'))) << path << " " << std::hex << at;
    }
    EXPECT_GE(got.size(), expected.size()) << path;
  }
}
