// What can't be patched is refused by name, and leaves nothing behind; what can runs as before.
#include "patch/apply.hpp"

#include "everything.hpp"
#include "nth/growth.h"
#include "patch/references.hpp"
#include "patched_program.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace nth::stack::test {
namespace {

namespace fs = std::filesystem;
using testing::Test;

const link_plan smallest = {{}, {}, {}, {}, {1000}};

std::string refusal(const fs::path &program, const link_plan &plan = smallest) {
  const fs::path output = new_path();
  const std::string error = error_of([&] { apply_plan(program, plan, output); });
  EXPECT_FALSE(fs::exists(output)) << error;
  for (const auto &each : fs::directory_iterator(output.parent_path()))
    EXPECT_EQ(each.path().filename().string().find(output.filename().string() + "."), std::string::npos)
        << error;
  return error;
}

bool says(const std::string &error, std::string_view what) { return error.find(what) != std::string::npos; }

address symbol_of(const fs::path &program, std::string_view name) {
  const module m(program);
  for (const symbol &s : m.symbols)
    if (s.name == name)
      return s.at;
  ADD_FAILURE() << name;
  return 0;
}

TEST(apply, runs_as_before) {
  for (const std::string &flags : {fixed_addresses, position_independent}) {
    const fs::path program = with_pool(flags);
    const fs::path output = new_path();
    chmod(program.c_str(), 0751);
    apply_plan(program, everything(module(program)), output);
    EXPECT_EQ(output_of(output.string()), output_of(program.string()));
    EXPECT_EQ(fs::status(output).permissions(), fs::perms(0751));
    EXPECT_LT(fs::file_size(output), fs::file_size(program)); // without kept relocations
    EXPECT_TRUE(says(output_of("gdb -batch -ex 'break square' -ex run -ex bt -ex 'x/5i &nth_stub_pool' " +
                               output.string() + " 2>&1"),
                     "__morestack"));
  }
}

TEST(apply, to_the_program_itself_and_through_a_link) {
  const fs::path program = new_path();
  fs::copy_file(with_pool(position_independent), program);
  const fs::path name = new_path();
  fs::create_symlink(program, name);
  apply_plan(name, everything(module(name)), name);
  EXPECT_TRUE(fs::is_symlink(name));
  EXPECT_TRUE(says(refusal(program), "is patched already"));
  output_of(program.string());
}

TEST(apply, refuses_programs) {
  const std::string flags = position_independent;
  EXPECT_TRUE(
      says(refusal(build("../../patch/subjects/pointers.c", "-Wl,-q,-z,now")), "was not linked with a pool"));
  EXPECT_TRUE(says(refusal(with_pool(flags, large_room, "-Wl,-z,now")), "link it with -Wl,-q"));
  EXPECT_TRUE(says(refusal(with_pool(flags, large_room, "-Wl,-z,now -s")), "is stripped"));
  EXPECT_TRUE(says(refusal(with_pool(flags, large_room, "-Wl,-q -Wl,-z,lazy")), "link it with -Wl,-z,now"));
  EXPECT_TRUE(says(refusal(with_pool(flags + "-fsanitize=address ")), "is built with AddressSanitizer"));
  EXPECT_TRUE(says(refusal(with_pool(flags + "-fsanitize=thread ")), "is built with ThreadSanitizer"));
  EXPECT_TRUE(says(
      refusal(build("../../patch/subjects/references.S", "-DSHARED -nostdlib -shared -Wl,-q,-Bsymbolic")),
      "is a shared library"));
  EXPECT_TRUE(says(refusal("/etc/passwd"), "is no ELF file"));
  EXPECT_TRUE(says(refusal("/nowhere"), "can't be opened"));
}

TEST(apply, refuses_a_pool_that_is_too_small) {
  const fs::path program = with_pool(position_independent, {4, 9, 3, 10});
  const std::string error = refusal(program, everything(module(program)));
  EXPECT_TRUE(says(error, "the pool is too small")) << error;
  EXPECT_TRUE(says(error, "it has room for 4, 9, 3 and 10")) << error;
}

TEST(apply, refuses_plans) {
  const fs::path program = with_pool(position_independent);
  const module m(program);
  const link_plan all = everything(m);
  const auto with = [&](auto change) {
    link_plan plan = all;
    change(plan);
    return refusal(program, plan);
  };
  EXPECT_TRUE(says(with([](link_plan &p) { p.thresholds = {}; }), "0 thresholds"));
  EXPECT_TRUE(says(with([](link_plan &p) { p.thresholds = {2000, 1000}; }), "ascending"));
  EXPECT_TRUE(says(with([](link_plan &p) { p.stubs[3].need = 9000; }), "more than the highest threshold"));
  EXPECT_TRUE(says(with([](link_plan &p) { p.calls[2].stub = 1U << 20U; }), "is planned to stub"));
  EXPECT_TRUE(says(with([](link_plan &p) { p.calls.push_back(p.calls[0]); }), "to two stubs"));
  EXPECT_TRUE(says(with([](link_plan &p) { ++p.calls[0].at; }), "can't lead to a stub"));
  EXPECT_TRUE(says(with([](link_plan &p) { p.stubs[p.calls[0].stub].target += 4; }), "its stub to"));
  EXPECT_TRUE(says(with([](link_plan &p) { p.needs.push_back(p.needs[5]); }), "two needs"));
  EXPECT_TRUE(says(with([](link_plan &p) { p.sites.push_back(p.sites[0]); }), "two depths"));
  EXPECT_TRUE(says(with([](link_plan &p) { p.stubs.push_back(p.stubs[0]); }), "two stubs at the entry"));
  EXPECT_TRUE(says(with([](link_plan &p) { p.stubs.push_back({8, 1, 1, 0, 0, false, false}); }), "no code"));
  EXPECT_EQ(error_of([&] { apply_plan(program, all, new_path()); }), "");
}

TEST(apply, refuses_what_can_not_be_redirected) {
  const fs::path program = with_pool(fixed_addresses, large_room, "-Wl,-q -Wl,-z,now", "obstacles.c");
  const address read = symbol_of(program, "read_as_data");
  link_plan plan = smallest;
  plan.stubs.push_back({read, 100, 100, 0, NTH_STUB_ENTRY, false, false});
  const std::string error = refusal(program, plan);
  EXPECT_TRUE(says(error, "read_as_data can't lead to a stub: its code is read as data")) << error;
  plan = smallest;
  plan.stubs.push_back({symbol_of(program, "short_target"), 100, 100, 0, 0, false, false});
  plan.calls.push_back({symbol_of(program, "short_jump"), 0});
  EXPECT_TRUE(says(refusal(program, plan), "short jump"));
}

TEST(apply, refuses_folders_that_can_not_be_written) {
  const fs::path program = with_pool(position_independent);
  const std::string error = error_of([&] { apply_plan(program, smallest, "/nowhere/at/all"); });
  EXPECT_TRUE(says(error, "can't be written")) << error;
}

} // namespace
} // namespace nth::stack::test
