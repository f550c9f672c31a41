// The oracle that no compiler has a part in: a program is run instruction by instruction, and whatever it does must
// be within what was found without running it.
#include "scanned_module.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <unordered_map>

#include <fcntl.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nth::stack {
namespace {

struct running_frame {
  std::uint32_t function = no_function;
  address cfa = 0;
};

class follower {
public:
  explicit follower(const scanned_module &m) : m_(m) {
    for (const function_facts &f : m.facts)
      for (const call_site &c : f.calls)
        sites_[c.at].push_back(&c);
  }

  void see(const user_regs_struct &now);

  std::size_t steps = 0;
  std::size_t calls = 0;
  std::size_t entered = 0;

private:
  void enter(address pc, address rsp);
  void check_call(address pc, address rsp);
  [[nodiscard]] bool is_call(address pc) const;

  const scanned_module &m_;
  std::unordered_map<address, std::vector<const call_site *>> sites_;
  std::vector<running_frame> frames_;
  user_regs_struct before_{};
};

bool follower::is_call(address pc) const {
  const auto bytes = m_.image.bytes_at(pc);
  if (bytes.size() < 3)
    return false;
  std::size_t i = 0;
  while (i < 2 && (bytes[i] == 0x67 || bytes[i] == 0xf2 || bytes[i] == 0x3e || (bytes[i] & 0xf0) == 0x40))
    ++i;
  return bytes[i] == 0xe8 || (bytes[i] == 0xff && (bytes[i + 1] >> 3 & 7) == 2);
}

void follower::enter(address pc, address rsp) {
  const std::uint32_t f = m_.table.at(pc);
  frames_.push_back({f, rsp + 8});
  entered += f != no_function ? 1 : 0;
}

void follower::check_call(address pc, address rsp) {
  const running_frame &top = frames_.back();
  if (top.function == no_function)
    return;
  const function_facts &f = m_.facts[top.function];
  const auto depth = static_cast<std::int64_t>(top.cfa - rsp);
  const std::string where = m_.table.functions[top.function].name;
  const auto found = sites_.find(pc);
  ASSERT_NE(found, sites_.end()) << where << ": its call at " << std::hex << pc << " is not known";
  ++calls;
  if (f.bound == frame_bound::unbounded)
    return;
  bool fits = false;
  for (const call_site *c : found->second)
    fits = fits || (f.bound == frame_bound::exact ? c->depth == depth : c->depth >= depth);
  EXPECT_TRUE(fits) << where << ": call at " << std::hex << pc << " at depth " << std::dec << depth;
}

void follower::see(const user_regs_struct &now) {
  ++steps;
  const bool called = before_.rip != 0 && now.rsp + 8 == before_.rsp && is_call(before_.rip);
  const auto last = m_.image.bytes_at(before_.rip);
  const bool returned = !last.empty() && (last[0] == 0xc3 || last[0] == 0xc2);
  while (!frames_.empty() && frames_.back().cfa <= now.rsp) {
    const std::uint32_t f = frames_.back().function;
    if (f != no_function && frames_.back().cfa == now.rsp && returned) {
      EXPECT_TRUE(m_.facts[f].returns) << m_.table.functions[f].name << " returned";
    }
    frames_.pop_back();
  }
  const std::uint32_t begins = m_.table.at(now.rip);
  const bool known = begins != no_function && m_.table.functions[begins].kind != function_kind::fragment;
  const bool from_here = !frames_.empty() && m_.image.is_code(before_.rip);
  if ((called && m_.image.is_code(now.rip)) ||
      (known && !from_here)) // by a call, at the start, or from a library
    enter(now.rip, now.rsp);
  else if (known && frames_.back().function != begins) // by a jump: it takes the place of who jumped
    frames_.back() = {begins, now.rsp + 8};
  before_ = now;
  if (frames_.empty() || frames_.back().function == no_function || !m_.image.is_code(now.rip))
    return;
  const running_frame &top = frames_.back();
  const function_facts &f = m_.facts[top.function];
  const auto depth = static_cast<std::int64_t>(top.cfa - now.rsp);
  if (f.bound != frame_bound::unbounded && depth > f.frame) {
    ADD_FAILURE() << m_.table.functions[top.function].name << " is " << depth << " deep at " << std::hex
                  << now.rip << ", not " << std::dec << f.frame;
  }
  if (is_call(now.rip))
    check_call(now.rip, now.rsp);
}

void poke(pid_t child, address at, std::uint64_t word) {
  ptrace(PTRACE_POKETEXT, child, reinterpret_cast<void *>(at), reinterpret_cast<void *>(word));
}

// Runs the child, which was just started, to `at`.
bool run_to(pid_t child, address at) {
  const auto word =
      static_cast<std::uint64_t>(ptrace(PTRACE_PEEKTEXT, child, reinterpret_cast<void *>(at), nullptr));
  poke(child, at, (word & ~std::uint64_t{0xff}) | 0xcc);
  int status = 0;
  if (ptrace(PTRACE_CONT, child, nullptr, nullptr) != 0 || waitpid(child, &status, 0) != child ||
      !WIFSTOPPED(status))
    return false;
  poke(child, at, word);
  user_regs_struct r{};
  ptrace(PTRACE_GETREGS, child, nullptr, &r);
  r.rip = at;
  return ptrace(PTRACE_SETREGS, child, nullptr, &r) == 0;
}

// Steps through main of the program, which must be of fixed addresses; true: it returned.
bool step_through_main(const std::string &program, address main, follower &f) {
  constexpr std::size_t most = 1'000'000;
  const pid_t child = fork();
  if (child == 0) {
    personality(ADDR_NO_RANDOMIZE);
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, 1);
    execl(program.c_str(), program.c_str(), static_cast<char *>(nullptr));
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  bool returned = false;
  if (WIFSTOPPED(status) && run_to(child, main)) {
    user_regs_struct r{};
    ptrace(PTRACE_GETREGS, child, nullptr, &r);
    const address top = r.rsp;
    while (WIFSTOPPED(status) && f.steps < most && !returned && !testing::Test::HasFailure()) {
      ptrace(PTRACE_GETREGS, child, nullptr, &r);
      f.see(r);
      returned = r.rsp > top;
      ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr);
      waitpid(child, &status, 0);
    }
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return returned;
}

class single_step : public testing::TestWithParam<const char *> {};

TEST_P(single_step, stays_within_what_was_found) {
  const std::string program = std::string(SUBJECTS "/") + GetParam();
  if (!std::filesystem::exists(program))
    GTEST_SKIP() << "there is no clang here";
  const scanned_module m{program};
  follower f(m);
  ASSERT_NE(m.entry_of("main"), 0U);
  EXPECT_TRUE(step_through_main(program, m.entry_of("main"), f));
  EXPECT_GT(f.entered, 100U);
  EXPECT_GT(f.calls, 100U);
  RecordProperty("steps", std::to_string(f.steps));
}

INSTANTIATE_TEST_SUITE_P(programs, single_step,
                         testing::Values("shapes_c_static", "shapes_cpp_fixed", "shapes_c_clang",
                                         "shapes_c_clang_O0"),
                         [](const auto &each) { return std::string(each.param); });

} // namespace
} // namespace nth::stack
