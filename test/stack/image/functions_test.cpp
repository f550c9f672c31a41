// Which functions there are, what they are called and where they end.
#include "image/function_names.hpp"
#include "image/functions.hpp"
#include "subject.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include <gtest/gtest.h>

using namespace nth::stack;
using namespace nth::stack::test;

namespace {

struct analysed {
  explicit analysed(const std::filesystem::path &path) : image(path), unwind(image), table(image, unwind) {}

  const function &named(std::string_view symbol) const {
    const std::uint32_t i = table.named(symbol);
    if (i == no_function)
      throw std::runtime_error("no function " + std::string(symbol));
    return table.functions[i];
  }

  module image;
  unwind_table unwind;
  function_table table;
};

// What must hold of every table.
void check(const analysed &a) {
  std::vector<const function *> order;
  for (const function &f : a.table.functions)
    order.push_back(&f);
  std::ranges::sort(order, {}, &function::entry);
  for (std::size_t i = 0; i != order.size(); ++i) {
    const function &f = *order[i];
    ASSERT_LT(f.entry, f.end) << f.name;
    ASSERT_TRUE(a.image.is_code(f.entry)) << f.name;
    ASSERT_TRUE(a.image.is_code(f.end - 1)) << f.name;
    ASSERT_FALSE(f.name.empty());
    ASSERT_EQ(a.image.plt_at(f.entry), nullptr) << f.name;
    if (i + 1 != order.size()) {
      ASSERT_LE(f.end, order[i + 1]->entry) << f.name;
    }
    const auto index = static_cast<std::uint32_t>(&f - a.table.functions.data());
    ASSERT_EQ(a.table.at(f.entry), index);
    ASSERT_EQ(a.table.containing(f.entry), index);
    ASSERT_EQ(a.table.containing(f.end - 1), index);
  }
}

} // namespace

TEST(functions, hold_together) {
  for (const auto &path : system_files())
    check(analysed(path));
  for (const char *flags :
       {"", "-static", "-static-pie", "-no-pie", "-fcf-protection -Wl,-z,ibtplt", "-Os -fno-plt"})
    check(analysed(build("plain.c", flags)));
}

TEST(functions, have_their_symbols_and_sizes) {
  const analysed a(build("plain.c", ""));
  for (const symbol &s : a.image.symbols)
    if (s.kind == symbol_kind::function && s.defined && s.size != 0) {
      const std::uint32_t i = a.table.at(s.at);
      ASSERT_NE(i, no_function) << s.name;
      EXPECT_EQ(a.table.functions[i].end, s.at + s.size) << s.name;
      EXPECT_TRUE(a.table.functions[i].has_size) << s.name;
    }
  const function &shown = a.named("shown");
  EXPECT_EQ(shown.name, "shown");
  EXPECT_EQ(shown.aliases, std::vector<std::string>{"__other_name"});
  EXPECT_EQ(&a.named("__other_name"), &shown);
  EXPECT_EQ(a.named("twice").kind, function_kind::normal);
  EXPECT_EQ(a.table.named("printf"), no_function);
}

TEST(functions, are_found_in_stripped_files) {
  for (const char *flags : {"", "-no-pie", "-static", "-static-pie"}) {
    const auto path = build("plain.c", flags);
    const analysed whole(path), bare(changed(path, "strip @"));
    ASSERT_TRUE(bare.image.stripped);
    check(bare);
    std::size_t with_frame = 0, found = 0;
    for (const function &f : whole.table.functions) {
      const unwind_entry *e = whole.unwind.entry_of(f.entry);
      if (e == nullptr || e->begin != f.entry || e->signal_frame)
        continue;
      ++with_frame;
      const std::uint32_t i = bare.table.at(f.entry);
      if (i == no_function)
        continue;
      ++found;
      // Code of the dynamic linker that stubs jump to has arguments on the stack.
      if (f.kind == function_kind::normal && !f.symbol.starts_with("_dl_runtime_")) {
        EXPECT_EQ(bare.table.functions[i].kind, function_kind::normal) << f.name;
      }
    }
    EXPECT_EQ(found, with_frame) << flags;
    EXPECT_NE(bare.table.at(bare.image.entry), no_function);
    for (const function &f : bare.table.functions)
      if (f.symbol.empty()) {
        EXPECT_TRUE(f.name.starts_with(bare.image.name + "+0x")) << f.name;
      }
  }
}

TEST(functions, fragments_are_told_from_functions) {
  const auto path = build("throwing.cpp", "", "g++");
  const analysed a(path), bare(changed(path, "strip @"));
  std::size_t cold = 0, cold_with_frame = 0;
  for (const function &f : a.table.functions) {
    EXPECT_EQ(f.kind == function_kind::fragment, f.symbol.ends_with(".cold")) << f.symbol;
    if (f.kind != function_kind::fragment)
      continue;
    ++cold;
    const cfa_row first = a.unwind.first_row(*a.unwind.entry_of(f.entry));
    const bool frame = first.base != cfa_base::rsp || first.offset != 8;
    cold_with_frame += frame ? 1 : 0;
    EXPECT_EQ(bare.table.functions[bare.table.at(f.entry)].kind == function_kind::fragment, frame)
        << f.symbol;
  }
  EXPECT_GE(cold, 2u);
  EXPECT_GE(cold_with_frame, 1u);
}

TEST(functions, resolvers_are_those_of_ifuncs) {
  const analysed a(build("ifunc.c", ""));
  std::size_t resolvers = 0;
  for (const function &f : a.table.functions)
    resolvers += f.kind == function_kind::resolver ? 1 : 0;
  EXPECT_EQ(resolvers, 1u);
  EXPECT_EQ(a.named("chosen").kind, function_kind::resolver);
  EXPECT_EQ(a.named("small").kind, function_kind::normal);
}

TEST(functions, can_be_added) {
  analysed a(build("plain.c", ""));
  const function before = a.named("main");
  const std::uint32_t main_index = a.table.named("main");
  const std::size_t count = a.table.functions.size();
  ASSERT_GT(before.end - before.entry, 8u);
  EXPECT_FALSE(a.table.add(before.entry, a.image)) << "known already";
  EXPECT_FALSE(a.table.add(a.image.plt.front().at, a.image)) << "a stub";
  EXPECT_FALSE(a.table.add(0, a.image)) << "no code";
  EXPECT_FALSE(a.table.add(~address{0}, a.image)) << "no code";
  const address inside = before.entry + 5;
  EXPECT_TRUE(a.table.add(inside, a.image));
  ASSERT_EQ(a.table.functions.size(), count + 1);
  EXPECT_EQ(a.table.named("main"), main_index) << "indexes stay";
  EXPECT_EQ(a.table.functions[main_index].end, inside);
  EXPECT_EQ(a.table.functions.back().entry, inside);
  EXPECT_EQ(a.table.functions.back().end, before.end);
  EXPECT_EQ(a.table.containing(inside + 1), count);
  EXPECT_FALSE(a.table.add(inside, a.image));
  check(a);
}

TEST(functions, names_without_version_mean_the_default_one) {
  const std::filesystem::path libc = "/lib/x86_64-linux-gnu/libc.so.6";
  if (!std::filesystem::exists(libc))
    return;
  const analysed a(libc);
  std::size_t defaults = 0, old = 0;
  for (const symbol &s : a.image.symbols) {
    if (!s.defined || !s.global || (s.kind != symbol_kind::function && s.kind != symbol_kind::ifunc))
      continue;
    ++(s.hidden ? old : defaults);
    if (!s.hidden) {
      EXPECT_EQ(a.named(s.name).entry, s.at) << s.name;
    }
  }
  EXPECT_GT(old, 50u);
  EXPECT_GT(defaults, 1000u);
  EXPECT_EQ(a.named("malloc").name, "malloc");
  EXPECT_TRUE(a.named("malloc").exported);
}

TEST(functions, names_are_chosen_and_demangled) {
  EXPECT_TRUE(better_name({"malloc", true}, {"__libc_malloc", true}));
  EXPECT_TRUE(better_name({"__libc_malloc", true}, {"local", false}));
  EXPECT_TRUE(better_name({"_ZN1aC1Ev", true}, {"_ZN1aC2Ev", true}));
  EXPECT_FALSE(better_name({"a", true}, {"a", true}));
  EXPECT_EQ(demangle("main"), "main");
  EXPECT_EQ(demangle("_Z3fooi"), "foo(int)");
  EXPECT_EQ(demangle("_Z3fooi.cold"), "foo(int) [clone .cold]");
  EXPECT_EQ(demangle("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"),
            "core::fmt::Formatter::pad::h0123456789abcdef");
  EXPECT_EQ(demangle("_Z"), "_Z");
  EXPECT_EQ(is_cold_part("f.cold"), cold_part::yes);
  EXPECT_EQ(is_cold_part("f.cold.12"), cold_part::numbered);
  for (const char *other :
       {"f", "cold", ".cold", "f.colder", "f.cold.x", "f.part.0", "f.isra.0", "f.constprop.1"})
    EXPECT_EQ(is_cold_part(other), cold_part::no) << other;
}

// Each template argument names the one before twice: the text would have 2^34 words.
TEST(functions, names_that_explode_stay_as_they_are) {
  std::string name = "_Z1f1AIiiE";
  for (const char c : std::string("0123456789ABCDEFGHIJKLMNOPQRSTUVWX")) {
    const std::string last = std::string("S") + c + "_";
    name += "S_I" + last + last + "E";
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(demangle(name), name);
  const std::string deep = "_Z1f" + std::string(100000, 'P') + "i";
  EXPECT_EQ(demangle(deep), deep);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}
