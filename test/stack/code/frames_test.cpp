// Frames against what gcc says of them (-fstack-usage), for each optimisation. gcc counts the return address, not the
// red zone (that is in `touched` alone), pushed arguments, and of an alignment only what 16 bytes of alignment leave.
#include "scanned_module.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

namespace nth::stack {
namespace {

struct usage {
  std::int64_t bytes = 0;
  std::string kind;
};

// "int {anonymous}::f(int)" and "(anonymous namespace)::f(int)": f
std::string plain_name(std::string name) {
  for (const std::string_view noise : {"{anonymous}::", "(anonymous namespace)::"})
    for (std::size_t at = name.find(noise); at != std::string::npos; at = name.find(noise))
      name.erase(at, noise.size());
  name = name.substr(0, name.find('('));
  const std::size_t last = name.find_last_of(" :*&");
  return last == std::string::npos ? name : name.substr(last + 1);
}

// Of functions of the subject itself; those of headers have names that two printers spell differently.
std::multimap<std::string, usage> read_usage(const std::string &path) {
  std::multimap<std::string, usage> all;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string place;
    std::string bytes;
    usage u;
    std::getline(fields, place, '\t');
    std::getline(fields, bytes, '\t');
    std::getline(fields, u.kind);
    u.bytes = std::stoll(bytes);
    const std::size_t file = place.find("shapes.c");
    if (file == std::string::npos)
      continue;
    std::size_t name = place.find(':', file);
    name = place.find(':', name + 1);
    name = place.find(':', name + 1);
    all.emplace(plain_name(place.substr(name + 1)), u);
  }
  return all;
}

bool agrees(const function_facts &f, const usage &u) {
  if (u.kind == "dynamic") // gcc tells what is below the part that it does not know, or what it wants of it
    return f.bound == frame_bound::unbounded && f.reason == no_bound::dynamic_allocation;
  if (f.frame == u.bytes)
    return f.bound != frame_bound::unbounded;
  constexpr std::int64_t widest_alignment = 128;
  return f.bound == frame_bound::bounded && f.frame > u.bytes && f.frame < u.bytes + widest_alignment;
}

class frames : public testing::TestWithParam<const char *> {};

TEST_P(frames, are_what_the_compiler_says) {
  const std::string program = std::string(SUBJECTS "/") + GetParam();
  const bool c = program.find("_cpp_") == std::string::npos;
  const auto expected =
      read_usage(program + (program.ends_with("_lto") ? ".ltrans0.ltrans.su" : "-shapes.su"));
  const scanned_module m{program};
  std::multimap<std::string, const function_facts *> known;
  for (std::size_t f = 0; f < m.facts.size(); ++f)
    if (m.table.functions[f].kind == function_kind::normal)
      known.emplace(plain_name(m.table.functions[f].name), &m.facts[f]);

  std::size_t compared = 0;
  for (const auto &[name, u] : expected) {
    const auto [first, last] = known.equal_range(name);
    if (first == last)
      continue; // inlined after all
    bool found = false;
    std::string seen;
    for (auto it = first; it != last; ++it) {
      found = found || agrees(*it->second, u);
      seen.append(" ").append(std::to_string(it->second->frame));
    }
    EXPECT_TRUE(found) << name << ": gcc says " << u.bytes << " " << u.kind << ", here" << seen;
    ++compared;
  }
  EXPECT_GE(compared, c ? 22U : 12U);
  // Only where alignment or an allocation makes it so is a frame not exact.
  for (const auto &[name, facts] : known)
    if (expected.contains(name) && expected.find(name)->second.kind != "dynamic" &&
        !name.starts_with("aligned") && !name.starts_with("main")) {
      EXPECT_EQ(facts->bound, frame_bound::exact) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(gcc, frames,
                         testing::Values("shapes_c_O0", "shapes_c_O1", "shapes_c_O2", "shapes_c_O3",
                                         "shapes_c_Os", "shapes_c_lto", "shapes_c_frame", "shapes_c_clash",
                                         "shapes_cpp_O0", "shapes_cpp_O1", "shapes_cpp_O2", "shapes_cpp_O3",
                                         "shapes_cpp_Os"),
                         [](const auto &each) { return std::string(each.param); });

TEST(red_zone, counts_in_touched_alone) {
  const scanned_module m{SUBJECTS "/shapes_c_O2"};
  const function_facts *f = m.of("red_zone");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->frame, 8);
  EXPECT_GE(f->touched, 8 + 48);
  EXPECT_LE(f->touched, 8 + 128);
}

} // namespace
} // namespace nth::stack
