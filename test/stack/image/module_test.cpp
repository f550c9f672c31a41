// Modules of all kinds of links, and files that are none.
#include "image/module.hpp"
#include "subject.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>

#include <elf.h>
#include <gtest/gtest.h>

using namespace nth::stack;
using namespace nth::stack::test;

namespace {

std::string refusal(const std::filesystem::path &path) {
  try {
    const module m(path);
  } catch (const bad_input &e) {
    return e.what();
  }
  return "";
}

std::filesystem::path file_of(const std::string &name, const std::string &text) {
  const auto path = work_directory() / name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

const symbol &symbol_of(const module &m, std::string_view name) {
  const auto found = std::ranges::find(m.symbols, name, &symbol::name);
  if (found == m.symbols.end())
    throw std::runtime_error("no symbol " + std::string(name));
  return *found;
}

// The words of `operations`: addresses of twice, square and shown, however they come there.
void expect_pointers(const module &m) {
  const symbol &table = symbol_of(m, "operations");
  const char *names[] = {"twice", "square", "shown"};
  for (unsigned i = 0; i != 3; ++i) {
    const auto pointer = m.pointer_at(table.at + 8 * i);
    ASSERT_TRUE(pointer.has_value());
    EXPECT_EQ(*pointer, symbol_of(m, names[i]).at);
  }
  EXPECT_TRUE(m.is_constant(table.at));
  EXPECT_FALSE(m.is_constant(symbol_of(m, "changing").at));
}

std::size_t jump_slots(const module &m) {
  return static_cast<std::size_t>(std::ranges::count_if(m.relocations, &relocation::jump_slot));
}

// Imported functions that some stub leads to.
std::vector<std::string> imported_by_plt(const module &m) {
  std::vector<std::string> names;
  for (const plt_stub &stub : m.plt)
    for (const relocation &r : m.relocations_in(stub.slot, stub.slot + 8))
      if (r.dynamic && r.symbol != no_symbol)
        names.emplace_back(m.symbols[r.symbol].name);
  std::erase(names, "__cxa_finalize"); // of the start files, in some links alone
  std::ranges::sort(names);
  return names;
}

std::vector<std::uint8_t> without_sections(const std::filesystem::path &path) {
  auto bytes = read_bytes(path);
  std::fill_n(bytes.begin() + offsetof(Elf64_Ehdr, e_shoff), 8, std::uint8_t{0});
  std::fill_n(bytes.begin() + offsetof(Elf64_Ehdr, e_shnum), 4, std::uint8_t{0});
  return bytes;
}

} // namespace

TEST(module, kinds_of_links_are_told_apart) {
  const module pie(build("plain.c", "-Wl,-z,lazy"));
  EXPECT_TRUE(pie.position_independent);
  EXPECT_FALSE(pie.shared);
  EXPECT_FALSE(pie.bound_now);
  EXPECT_FALSE(pie.stripped);
  EXPECT_EQ(pie.interpreter, "/lib64/ld-linux-x86-64.so.2");
  EXPECT_EQ(pie.needed, std::vector<std::string>{"libc.so.6"});
  EXPECT_FALSE(pie.build_id.empty());
  EXPECT_EQ(pie.entry, symbol_of(pie, "_start").at);
  EXPECT_TRUE(module(build("plain.c", "-Wl,-z,now")).bound_now);

  const module fixed(build("plain.c", "-no-pie"));
  EXPECT_FALSE(fixed.position_independent);
  EXPECT_FALSE(fixed.shared);

  for (const char *flags : {"-static", "-static-pie"}) {
    const module alone(build("plain.c", flags));
    EXPECT_FALSE(alone.shared) << flags;
    EXPECT_TRUE(alone.bound_now) << flags;
    EXPECT_TRUE(alone.needed.empty()) << flags;
    EXPECT_TRUE(alone.interpreter.empty()) << flags;
  }
  const module library(build("plain.c", "-shared -fPIC -Wl,-soname,libplain.so.3 -Wl,-rpath,/a:$ORIGIN/b"));
  EXPECT_TRUE(library.shared);
  EXPECT_EQ(library.name, "libplain.so.3");
  EXPECT_TRUE(module(changed(build("plain.c", ""), "strip @")).stripped);
}

TEST(module, run_paths_are_read) {
  const module newer(build("plain.c", "-Wl,-rpath,/a:'$ORIGIN/b',--enable-new-dtags"));
  EXPECT_EQ(newer.run_paths, std::vector<std::string>{"/a:$ORIGIN/b"});
  EXPECT_FALSE(newer.run_paths_inherited);
  const module older(build("plain.c", "-Wl,-rpath,/a,--disable-new-dtags"));
  EXPECT_EQ(older.run_paths, std::vector<std::string>{"/a"});
  EXPECT_TRUE(older.run_paths_inherited);
}

TEST(module, pointers_in_data_are_followed) {
  for (const char *flags :
       {"", "-no-pie", "-static", "-static-pie", "-Wl,-z,pack-relative-relocs", "-Wl,-z,now"})
    expect_pointers(module(build("plain.c", flags)));
  if (succeeds("ld.gold --version")) {
    expect_pointers(module(build("plain.c", "-fuse-ld=gold")));
  }
  if (succeeds("ld.lld --version")) {
    expect_pointers(module(build("plain.c", "-fuse-ld=lld")));
  }
}

TEST(module, packed_relocations_are_unpacked) {
  const module packed(build("plain.c", "-Wl,-z,pack-relative-relocs")), plain(build("plain.c", ""));
  ASSERT_TRUE(std::ranges::any_of(packed.sections, [](const section &s) { return s.type == 19; }))
      << "SHT_RELR";
  const auto relative = [](const module &m) {
    return std::ranges::count(m.relocations, relocation_kind::relative, &relocation::kind);
  };
  EXPECT_EQ(relative(packed), relative(plain));
  EXPECT_GT(relative(packed), 3);
}

// As Android's loader reads them; with RELR beside it or without.
TEST(module, relocations_packed_for_android_are_unpacked) {
  if (!succeeds("ld.lld --version"))
    GTEST_SKIP() << "lld makes them, and is not here";
  const auto places = [](const module &m) {
    std::vector<std::tuple<std::string, std::int64_t, relocation_kind>> all; // by name: addresses differ
    for (const relocation &r : m.relocations)
      if (r.dynamic && r.kind != relocation_kind::relative)
        all.emplace_back(r.symbol == no_symbol ? "" : m.symbols[r.symbol].name, r.addend, r.kind);
    std::ranges::sort(all);
    return all;
  };
  const auto relative = [](const module &m) {
    return std::ranges::count(m.relocations, relocation_kind::relative, &relocation::kind);
  };
  const module plain(build("plain.c", "-fuse-ld=lld"));
  for (const char *packing : {"android", "android+relr"}) {
    SCOPED_TRACE(packing);
    const std::string flags = std::string("-fuse-ld=lld -Wl,--pack-dyn-relocs=") + packing;
    for (const char *tags : {"", ",--use-android-relr-tags"}) {
      const module packed(build("plain.c", flags + tags));
      expect_pointers(packed);
      EXPECT_TRUE(
          std::ranges::any_of(packed.sections, [](const section &s) { return s.type == 0x60000002; }));
      EXPECT_EQ(places(packed), places(plain));
      EXPECT_EQ(relative(packed), relative(plain));
    }
  }
  EXPECT_GT(places(plain).size(), 2U);
  EXPECT_GT(relative(plain), 3);
}

TEST(module, the_got_is_constant_only_when_bound) {
  for (const bool now : {false, true}) {
    const module m(build("plain.c", now ? "-Wl,-z,now" : "-Wl,-z,lazy"));
    ASSERT_GT(jump_slots(m) + m.plt.size(), 0u);
    for (const relocation &r : m.relocations)
      if (r.jump_slot) {
        EXPECT_EQ(m.is_constant(r.place), now);
      }
  }
}

TEST(module, stubs_lead_to_what_they_import) {
  const auto reference = imported_by_plt(module(build("plain.c", "-Wl,-z,lazy")));
  EXPECT_TRUE(std::ranges::includes(reference, std::vector<std::string>{"abort", "getenv", "printf"}));
  for (const std::string flags :
       {"-Wl,-z,now", "-no-pie", "-fcf-protection -Wl,-z,ibtplt", "-Wl,-z,ibtplt,-z,now", "-fuse-ld=gold",
        "-fuse-ld=gold -Wl,-z,now", "-fuse-ld=lld", "-fuse-ld=lld -no-pie -Wl,-z,now",
        "-fuse-ld=lld -Wl,-z,force-ibt"}) {
    const auto linker = flags.starts_with("-fuse-ld=") ? "ld." + flags.substr(9, flags.find(' ') - 9) : "ld";
    if (!succeeds(linker + " --version"))
      continue;
    const auto path = build("plain.c", flags);
    const module m(path);
    EXPECT_EQ(imported_by_plt(m), reference) << flags;
    for (const plt_stub &stub : m.plt) {
      EXPECT_EQ(m.plt_at(stub.at), &stub);
      EXPECT_TRUE(m.is_code(stub.at + stub.size - 1));
    }
    const auto bare = without_sections(path);
    EXPECT_EQ(imported_by_plt(module("bare", bare)), reference) << flags;
  }
  EXPECT_TRUE(imported_by_plt(module(build("plain.c", "-fno-plt"))).empty());
}

// Linkers of some years wrote bnd before the jump of each stub.
TEST(module, stubs_with_bnd_are_stubs) {
  const auto path = build("plain.c", "-fcf-protection -Wl,-z,ibtplt");
  const module m(path);
  auto bytes = read_bytes(path);
  std::size_t changed_stubs = 0;
  for (const plt_stub &stub : m.plt) {
    const section &s = *m.section_of(stub.at);
    if (s.name != ".plt.sec")
      continue;
    std::uint8_t *code = bytes.data() + s.offset + (stub.at - s.begin);
    ASSERT_EQ(code[4], 0xff);
    std::int32_t distance = 0;
    std::memcpy(&distance, code + 6, 4);
    --distance;
    std::memcpy(code + 4, "\xf2\xff\x25", 3);
    std::memcpy(code + 7, &distance, 4);
    std::memcpy(code + 11, "\x0f\x1f\x44\0\0", 5);
    ++changed_stubs;
  }
  EXPECT_GT(changed_stubs, 3u);
  EXPECT_EQ(imported_by_plt(module("bnd", bytes)), imported_by_plt(m));
  std::fill_n(bytes.begin() + offsetof(Elf64_Ehdr, e_shoff), 8, std::uint8_t{0});
  EXPECT_EQ(imported_by_plt(module("bare", bytes)), imported_by_plt(m));
}

TEST(module, ifuncs_have_slots) {
  for (const char *flags : {"", "-no-pie", "-static", "-static-pie"}) {
    const module m(build("ifunc.c", flags));
    const address resolver = symbol_of(m, "choose").at;
    std::size_t slots = 0, stubs = 0;
    for (const relocation &r : m.relocations)
      if (r.dynamic && r.kind == relocation_kind::irelative && static_cast<address>(r.addend) == resolver) {
        ++slots;
        stubs += static_cast<std::size_t>(std::ranges::count(m.plt, r.place, &plt_stub::slot));
      }
    EXPECT_GE(slots, 1u) << flags;
    EXPECT_GE(stubs, 1u) << flags;
    EXPECT_EQ(symbol_of(m, "chosen").kind, symbol_kind::ifunc) << flags;
  }
}

TEST(module, kept_relocations_are_told_from_dynamic_ones) {
  const module m(build("plain.c", "-no-pie -Wl,--emit-relocs -ffunction-sections -g"));
  const address main_at = symbol_of(m, "main").at, main_end = main_at + symbol_of(m, "main").size;
  bool calls_printf = false;
  for (const relocation &r : m.relocations_in(main_at, main_end)) {
    EXPECT_FALSE(r.dynamic);
    if (r.symbol != no_symbol && m.symbols[r.symbol].name == "printf") {
      calls_printf = true;
      EXPECT_EQ(r.kind, relocation_kind::pc_relative);
      EXPECT_EQ(r.addend, -4);
    }
  }
  EXPECT_TRUE(calls_printf);
  for (const relocation &r : m.relocations) {
    const section *s = m.section_of(r.place);
    ASSERT_NE(s, nullptr) << std::hex << r.place;
    EXPECT_NE(s->name, ".eh_frame");
  }
  EXPECT_TRUE(std::ranges::is_sorted(m.relocations, {}, &relocation::place));
  // S + A of the table of pointers.
  const symbol &table = symbol_of(m, "operations");
  const auto words = m.relocations_in(table.at, table.at + 24);
  ASSERT_EQ(words.size(), 3u);
  EXPECT_EQ(words[0].kind, relocation_kind::absolute);
  EXPECT_EQ(m.symbols[words[0].symbol].at + static_cast<address>(words[0].addend), symbol_of(m, "twice").at);
}

TEST(module, what_runs_at_load_is_known) {
  for (const char *flags : {"", "-no-pie", "-static", "-static-pie", "-shared -fPIC"}) {
    const module m(build("plain.c", flags));
    EXPECT_TRUE(std::ranges::binary_search(m.run_by_loader, symbol_of(m, "before_main").at)) << flags;
    EXPECT_TRUE(std::ranges::binary_search(m.run_by_loader, symbol_of(m, "_init").at)) << flags;
  }
}

TEST(module, is_read_without_sections) {
  const auto path = build("plain.c", "-shared -fPIC -Wl,-soname,libplain.so");
  const module with(path);
  const auto bytes = without_sections(path);
  const module without("bare", bytes);
  EXPECT_TRUE(without.sections.empty());
  EXPECT_TRUE(without.stripped);
  EXPECT_EQ(without.name, "libplain.so");
  EXPECT_EQ(without.needed, with.needed);
  EXPECT_EQ(without.run_by_loader, with.run_by_loader);
  EXPECT_EQ(without.build_id, with.build_id);
  ASSERT_EQ(without.relocations.size(), with.relocations.size());
  for (std::size_t i = 0; i != with.relocations.size(); ++i) {
    const relocation &a = with.relocations[i], &b = without.relocations[i];
    EXPECT_EQ(a.place, b.place);
    ASSERT_EQ(a.symbol == no_symbol, b.symbol == no_symbol);
    if (a.symbol != no_symbol) {
      EXPECT_EQ(with.symbols[a.symbol].name, without.symbols[b.symbol].name);
    }
  }
  const auto shown = std::ranges::find(without.symbols, "shown", &symbol::name);
  ASSERT_NE(shown, without.symbols.end());
  EXPECT_TRUE(without.is_code(shown->at));
  EXPECT_FALSE(without.is_code(without.relocations.front().place));
}

TEST(module, bytes_end_with_the_file) {
  const module m(build("plain.c", ""));
  const section *bss = nullptr;
  for (const section &s : m.sections)
    if (s.name == ".bss")
      bss = &s;
  ASSERT_NE(bss, nullptr);
  EXPECT_TRUE(m.bytes_at(bss->begin + bss->size - 1).empty());
  EXPECT_TRUE(m.bytes_at(~address{0}).empty());
  EXPECT_FALSE(m.read_word(~address{0} - 3).has_value());
  EXPECT_FALSE(m.read_word(bss->begin - 4).has_value()) << "half of it is in the file";
  const auto code = m.bytes_at(m.entry);
  ASSERT_GE(code.size(), 8u);
  EXPECT_EQ(m.bytes_at(m.entry + 1).data(), code.data() + 1);
  EXPECT_EQ(m.section_of(m.entry)->name, ".text");
}

TEST(module, can_be_moved) {
  module a(build("plain.c", ""));
  const auto *code = a.bytes_at(a.entry).data();
  module b(std::move(a));
  EXPECT_EQ(b.bytes_at(b.entry).data(), code);
  a = std::move(b);
  EXPECT_EQ(a.bytes_at(a.entry).data(), code);
  EXPECT_EQ(symbol_of(a, "main").name, "main");
}

TEST(module, what_is_none_is_refused_in_words) {
  const auto object = build("plain.c", "-c");
  const auto archive = work_directory() / "libplain.a";
  output_of("ar rcs " + archive.string() + " " + object.string() + " && cp " + archive.string() +
            " thin 2>/dev/null; rm -f thin");
  auto elf = read_bytes(build("plain.c", ""));
  const auto variant = [&](std::size_t at, std::uint8_t value) {
    std::string bytes(elf.begin(), elf.end());
    bytes[at] = static_cast<char>(value);
    return file_of("variant" + std::to_string(at) + "-" + std::to_string(value), bytes);
  };
  const std::pair<std::filesystem::path, const char *> cases[] = {
      {work_directory() / "nowhere", "can't be opened: No such file"},
      {work_directory(), "is a directory"},
      {"/dev/null", "is no regular file"},
      {file_of("empty", ""), "is empty"},
      {file_of("script", "#!/bin/sh\n"), "is a script"},
      {file_of("linker-script", "/* GNU ld script */\n"), "is a linker script"},
      {file_of("text", "hello\n"), "is no ELF file"},
      {file_of("cut", "\177ELF\2\1"), "ends within its ELF header"},
      {file_of("cut-table", std::string(elf.begin(), elf.begin() + 100)),
       "is cut short: its table of segments"},
      {file_of("cut-data", std::string(elf.begin(), elf.begin() + 0x1100)), "is cut short: the segment at "},
      {archive, "is an archive"},
      {object, "is an object file"},
      {variant(EI_CLASS, ELFCLASS32), "is for x32"},
      {variant(EI_CLASS, 7), "unknown ELF class"},
      {variant(EI_DATA, ELFDATA2MSB), "big-endian"},
      {variant(offsetof(Elf64_Ehdr, e_machine), EM_386), "another machine"},
      {variant(offsetof(Elf64_Ehdr, e_type), ET_CORE), "is a core dump"},
      {variant(offsetof(Elf64_Ehdr, e_type), 99), "unknown ELF type"},
      {variant(offsetof(Elf64_Ehdr, e_phnum), 0), "no segments"},
      {changed(build("plain.c", "-g"), "objcopy --only-keep-debug @"), "debug information without code"},
  };
  for (const auto &[path, text] : cases) {
    const std::string message = refusal(path);
    EXPECT_NE(message.find(text), std::string::npos) << path << ": " << message;
    EXPECT_TRUE(message.starts_with(path.string())) << message;
  }
}
