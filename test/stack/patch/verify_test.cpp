// Each thing that patching must do, left out in turn, and each that it must not, done: verify() finds it.
#include "patch/verify.hpp"

#include "everything.hpp"
#include "image/unwind.hpp"
#include "patch/apply.hpp"
#include "patch/program_pool.hpp"
#include "patch/references.hpp"
#include "patched_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace nth::stack::test {
namespace {

namespace fs = std::filesystem;

class verified : public testing::TestWithParam<std::string> {
protected:
  verified() : program(with_pool(GetParam())), before(program), plan(everything(before)), output(new_path()) {
    apply_plan(program, plan, output);
    old_bytes = read_bytes(program);
    bytes = read_bytes(output);
    pool = find_pool(before);
  }

  std::uint64_t offset(address a) const {
    const section *s = before.section_of(a);
    return s->offset + (a - s->begin);
  }

  // What verify() says of the patched program with a change.
  template <typename Change>
  std::string with(const Change &change) const {
    std::vector<std::uint8_t> changed = bytes;
    change(changed);
    const fs::path file = new_path();
    write_bytes(file, changed);
    const std::string error = error_of([&] { verify(program, file, plan); });
    fs::remove(file);
    return error;
  }
  // With these bytes as they were.
  std::string restored(std::uint64_t at, std::size_t size) const {
    return with([&](std::vector<std::uint8_t> &b) { std::copy_n(&old_bytes[at], size, &b[at]); });
  }
  std::string flipped(std::uint64_t at) const {
    return with([&](std::vector<std::uint8_t> &b) { b[at] ^= 1; });
  }

  fs::path program;
  module before;
  link_plan plan;
  fs::path output;
  std::vector<std::uint8_t> old_bytes, bytes;
  program_pool pool;
};

TEST_P(verified, as_it_is) {
  EXPECT_EQ(with([](std::vector<std::uint8_t> &) {}), "");
}

TEST_P(verified, without_a_call) {
  ASSERT_GT(plan.calls.size(), 20U);
  for (const call_redirect &c : plan.calls)
    EXPECT_NE(restored(offset(c.at), 6).find("does not lead to stub"), std::string::npos) << c.at;
}

TEST_P(verified, without_a_reference) {
  const unwind_table u(before);
  const function_table t(before, u);
  std::vector<address> functions;
  for (const planned_stub &s : plan.stubs)
    if ((s.flags & NTH_STUB_ENTRY) != 0)
      functions.push_back(s.target);
  std::size_t places = 0;
  std::size_t addends = 0;
  for (const function_references &f : find_references(before, t, functions))
    for (const reference &r : f.places) {
      EXPECT_NE(restored(r.field, r.size), "") << name_of(r.kind) << " at " << r.at;
      ++places;
      addends += r.kind == reference_kind::relocation_addend ? 1 : 0;
    }
  EXPECT_GT(places, 10U);
  EXPECT_EQ(addends != 0, before.position_independent);
}

TEST_P(verified, with_another_stub) {
  const std::uint64_t stubs = offset(pool.stubs);
  for (std::size_t i = 0; i < plan.stubs.size(); ++i) {
    std::size_t used = 9 + 6 + 5 + 1;
    if (plan.stubs[i].slot)
      used += 2;
    for (std::size_t k = 0; k < used; ++k)
      EXPECT_NE(flipped(stubs + i * NTH_STUB_SIZE + k), "") << "stub " << i << ", byte " << k;
  }
  EXPECT_NE(flipped(stubs + plan.stubs.size() * NTH_STUB_SIZE), ""); // not in use
}

TEST_P(verified, with_other_tables) {
  const std::uint64_t tables = offset(pool.header_at);
  for (std::size_t k = 0; k < sizeof(nth_growth_header); ++k)
    EXPECT_NE(flipped(tables + k), "") << k;
  const auto table = [&](std::int32_t at, std::size_t size) {
    for (std::size_t k = 0; k < size; k += 3)
      EXPECT_NE(flipped(tables + static_cast<std::uint64_t>(at) + k), "") << at << '+' << k;
  };
  table(pool.header.stub_at, plan.stubs.size() * sizeof(nth_growth_stub));
  table(pool.header.need_at, 20 * sizeof(nth_growth_need));
  table(pool.header.site_at, plan.sites.size() * sizeof(nth_growth_site));
}

TEST_P(verified, with_any_other_byte) {
  const module now(output);
  for (const char *name :
       {".text", ".rodata", ".data", ".eh_frame", ".symtab", ".strtab", ".comment", ".shstrtab"})
    for (const section &s : now.sections) {
      const std::uint64_t size = s.name == name ? s.size : 0;
      for (std::uint64_t k = 0; k < size; k += size / 7 + 1)
        EXPECT_NE(flipped(s.offset + k), "") << name << '+' << k;
    }
  for (const std::uint64_t k : {0x10U, 0x18U, 0x28U, 0x40U, 0x48U, 0x80U})
    EXPECT_NE(flipped(k), "") << k;
}

TEST_P(verified, against_another_plan) {
  link_plan other = plan;
  other.calls.pop_back();
  EXPECT_NE(error_of([&] { verify(program, output, other); }), "");
  other = plan;
  other.stubs[0].need += 200;
  EXPECT_NE(error_of([&] { verify(program, output, other); }), "");
  other = plan;
  other.needs.pop_back();
  EXPECT_NE(error_of([&] { verify(program, output, other); }), "");
}

INSTANTIATE_TEST_SUITE_P(programs, verified, testing::Values(fixed_addresses, position_independent));

} // namespace
} // namespace nth::stack::test
