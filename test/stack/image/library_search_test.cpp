// Which libraries are loaded with a program, in a system made for it and in this one.
#include "image/library_paths.hpp"
#include "image/library_search.hpp"
#include "subject.hpp"

#include <algorithm>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

using namespace nth::stack;
using namespace nth::stack::test;

namespace fs = std::filesystem;

namespace {

// An empty library, linked with what `flags` name, at a place in a system.
void make_library(const fs::path &place, const std::string &flags) {
  fs::create_directories(place.parent_path());
  fs::copy_file(build("empty.c", "-shared -fPIC -nostdlib -Wl,--no-as-needed " + flags), place,
                fs::copy_options::overwrite_existing);
}

// As a library that others can be linked with.
std::string stub_of(const std::string &name) {
  return build("empty.c", "-shared -fPIC -nostdlib -Wl,-soname," + name).string();
}

struct made_system {
  explicit made_system(const std::string &name) : root(work_directory() / name) {
    fs::create_directories(root / "etc");
  }
  fs::path root;

  void write(const std::string &path, const std::string &text) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path, std::ios::binary) << text;
  }
};

std::vector<std::string> paths_below(const loaded_program &p, const fs::path &root) {
  std::vector<std::string> paths;
  for (const module &m : p.modules)
    paths.push_back("/" + fs::path(m.path).lexically_relative(root).string());
  return paths;
}

using list = std::vector<std::string>;

} // namespace

TEST(library_search, goes_breadth_first_through_run_paths_and_directories) {
  const made_system system("system1");
  make_library(system.root / "app/libs/liba.so", stub_of("libc1.so"));
  make_library(system.root / "opt/b/libb.so", stub_of("libd.so") + " " + stub_of("libc1.so"));
  make_library(system.root / "usr/lib/libc1.so", stub_of("liba.so"));
  make_library(system.root / "conf/libd.so", "");
  system.write("etc/ld.so.conf", "# comment\ninclude ld.so.conf.d/*.conf\ninclude /etc/ld.so.conf\n");
  system.write("etc/ld.so.conf.d/x.conf", "/nowhere\n/conf # and more\n");
  make_library(system.root / "app/bin/program", "-Wl,-rpath,'$ORIGIN/../libs:/opt/b' " + stub_of("liba.so") +
                                                    " " + stub_of("libb.so") + " " + stub_of("libe.so"));
  const auto p = load_program(system.root / "app/bin/program", {{}, system.root});
  ASSERT_EQ(p.modules.size(), 5u);
  EXPECT_EQ(fs::weakly_canonical(p.modules[1].path), fs::weakly_canonical(system.root / "app/libs/liba.so"));
  const auto paths = paths_below(p, system.root);
  EXPECT_EQ(list(paths.begin() + 2, paths.end()),
            (list{"/opt/b/libb.so", "/usr/lib/libc1.so", "/conf/libd.so"}));
  EXPECT_EQ(p.missing, list{"libe.so"});
}

TEST(library_search, takes_given_directories_before_all_others) {
  const made_system system("system2");
  make_library(system.root / "usr/lib/liba.so", "");
  make_library(work_directory() / "mine/liba.so", "");
  make_library(system.root / "program", stub_of("liba.so"));
  EXPECT_EQ(load_program(system.root / "program", {{}, system.root}).modules.at(1).path,
            (system.root / "usr/lib/liba.so").string());
  EXPECT_EQ(
      load_program(system.root / "program", {{work_directory() / "mine"}, system.root}).modules.at(1).path,
      (work_directory() / "mine/liba.so").string());
}

// DT_RPATH holds for the libraries of libraries, DT_RUNPATH does not.
TEST(library_search, inherits_old_run_paths_only) {
  for (const bool old : {false, true}) {
    const made_system system(old ? "system3-old" : "system3-new");
    make_library(system.root / "x/libb.so", "");
    make_library(system.root / "usr/lib/liba.so", stub_of("libb.so"));
    make_library(system.root / "program", std::string("-Wl,-rpath,/x,") +
                                              (old ? "--disable-new-dtags " : "--enable-new-dtags ") +
                                              stub_of("liba.so"));
    const auto p = load_program(system.root / "program", {{}, system.root});
    EXPECT_EQ(p.modules.size(), old ? 3u : 2u);
    EXPECT_EQ(p.missing, old ? list{} : list{"libb.so"});
  }
}

TEST(library_search, passes_by_what_is_no_library_for_the_machine) {
  const made_system system("system4");
  system.write("lib/x86_64-linux-gnu/liba.so", "/* GNU ld script */");
  system.write("usr/lib/x86_64-linux-gnu/liba.so", std::string("\177ELF\1\1\1", 7) + std::string(60, '\0'));
  fs::create_directories(system.root / "lib64/liba.so");
  make_library(system.root / "usr/lib/real.so", "");
  fs::create_symlink("/usr/lib/real.so", system.root / "usr/lib/liba.so"); // within the system
  make_library(system.root / "program", stub_of("liba.so"));
  const auto p = load_program(system.root / "program", {{}, system.root});
  ASSERT_EQ(p.modules.size(), 2u);
  EXPECT_EQ(p.modules[1].path, (system.root / "usr/lib/real.so").string());
  EXPECT_TRUE(p.missing.empty());
}

TEST(library_search, agrees_with_the_dynamic_linker) {
  for (const fs::path program :
       {"/bin/ls", "/bin/bash", "/usr/bin/gdb", "/usr/bin/cmake", "/usr/bin/python3"}) {
    if (!fs::exists(program))
      continue;
    std::vector<fs::path> expected, got;
    for (const std::string &line : lines_of(output_of("ldd " + program.string()))) {
      const auto slash = line.find('/');
      if (slash != std::string::npos)
        expected.push_back(fs::canonical(line.substr(slash, line.find(' ', slash) - slash)));
    }
    const auto p = load_program(program, {});
    EXPECT_EQ(p.modules.front().path, program.string());
    for (std::size_t i = 1; i != p.modules.size(); ++i)
      got.push_back(fs::canonical(p.modules[i].path));
    EXPECT_TRUE(p.missing.empty());
    std::ranges::sort(expected);
    std::ranges::sort(got);
    EXPECT_EQ(got, expected) << program;
  }
}

TEST(library_search, needs_the_program_itself) {
  EXPECT_THROW(load_program(work_directory() / "none", {}), bad_input);
}

TEST(library_cache, is_read_as_ldconfig_writes_it) {
  const fs::path file = "/etc/ld.so.cache";
  ASSERT_TRUE(library_cache{}.find("libc.so.6").empty());
  if (!fs::exists(file))
    return;
  const library_cache cache(read_bytes(file));
  std::size_t compared = 0;
  for (const std::string &line : lines_of(output_of("/sbin/ldconfig -p"))) {
    const auto arrow = line.find(" => ");
    if (line.find("(libc6,x86-64)") == std::string::npos || arrow == std::string::npos)
      continue;
    ++compared;
    EXPECT_EQ(cache.find(line.substr(1, line.find(' ') - 1)), line.substr(arrow + 4));
  }
  EXPECT_EQ(compared, cache.size());
  EXPECT_GT(compared, 0u);
}

// Directories for some processors only come before the others, and this one may not be that of the analysis.
TEST(library_cache, prefers_what_runs_on_all_processors) {
  const std::string strings = std::string("liba.so\0/v3/liba.so\0/all/liba.so\0/v2/liba.so", 44) + '\0';
  std::vector<std::uint8_t> bytes;
  const auto put = [&](std::uint64_t value, int size) {
    for (int i = 0; i != size; ++i)
      bytes.push_back(i < 8 ? static_cast<std::uint8_t>(value >> (8 * i)) : std::uint8_t{0});
  };
  for (const char c : std::string("glibc-ld.so.cache1.1"))
    put(static_cast<std::uint8_t>(c), 1);
  put(3, 4);
  put(strings.size(), 4);
  put(0, 8);
  put(0, 12);
  constexpr std::uint32_t texts = 48 + 3 * 24;
  const std::pair<std::uint32_t, std::uint64_t> entries[] = {{8, 1}, {20, 0}, {33, 2}}; // path, processor
  for (const auto &[path, processor] : entries) {
    put(0x0303, 4);
    put(texts, 4);
    put(texts + path, 4);
    put(0, 4);
    put(processor, 8);
  }
  for (const char c : strings)
    put(static_cast<std::uint8_t>(c), 1);
  EXPECT_EQ(library_cache(bytes).find("liba.so"), "/all/liba.so");
}

TEST(library_cache, may_be_damaged) {
  const fs::path file = "/etc/ld.so.cache";
  auto bytes = fs::exists(file) ? read_bytes(file) : std::vector<std::uint8_t>(48);
  bytes.resize(std::min<std::size_t>(bytes.size(), 8192)); // its strings come last: they are gone
  EXPECT_EQ(library_cache(bytes).size(), 0u);
  std::mt19937 random(1);
  for (int i = 0; i != 300; ++i) {
    auto mutant = bytes;
    for (int k = 0; k != 8; ++k)
      mutant[random() % mutant.size()] = static_cast<std::uint8_t>(random());
    const library_cache of_mutant(mutant);
    const library_cache of_part(std::span<const std::uint8_t>(mutant).first(random() % mutant.size()));
    EXPECT_LE(of_mutant.size() + of_part.size(), mutant.size());
  }
}
