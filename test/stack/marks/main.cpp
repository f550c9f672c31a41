// The main function of every marks program: runs its groups, each in a process of its own, and writes what they
// measured as JSON.
//   marks_x [--json FILE] [--scale N] [--only GROUP] [--seed N]
#include "marks.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <link.h>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace nth::marks {
namespace {

// ---- What a group knows of itself -------------------------------------------------------------------------

struct marks_of_function {
  std::string module;
  std::uint64_t address = 0; // as in the module's file
  std::size_t first = 0;     // of the first call in a process
  std::size_t later = 0;     // the largest of the others
  std::uint64_t calls = 0;
};

struct running_group {
  std::mt19937_64 random;
  std::unique_ptr<painted_stack> stacks[2]; // of different paint, in turn
  unsigned turn = 0;
  std::map<std::string, const void *> known;
  std::map<std::string, marks_of_function> marks;
  std::deque<std::string> texts;
  const char *measured = ""; // for the handler of faults
};

std::vector<group> &groups() {
  static std::vector<group> all;
  return all;
}
running_group *now = nullptr;
int scale = 1;

[[noreturn]] void give_up(const std::string &why) {
  std::fprintf(stderr, "marks: %s\n", why.c_str());
  std::_Exit(1);
}

// An overflow arrives here too, on the alternate stack; only what may run in a handler is called.
void on_fault(int signal, siginfo_t *info, void *) {
  const bool overflow =
      signal == SIGSEGV && (now->stacks[0]->guards(info->si_addr) || now->stacks[1]->guards(info->si_addr));
  char line[200];
  const int length = std::snprintf(line, sizeof line, "marks: signal %d in a call of %s%s\n", signal,
                                   now->measured, overflow ? ": it wants more stack than the group has" : "");
  (void)!write(2, line, static_cast<std::size_t>(length));
  std::_Exit(1);
}

void catch_faults() {
  static char handler_stack[64U << 10U];
  stack_t alternate = {};
  alternate.ss_sp = handler_stack;
  alternate.ss_size = sizeof handler_stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
    sigaction(fault, &action, nullptr);
}

void locate(const void *function, marks_of_function &m) {
  Dl_info info = {};
  link_map *map = nullptr;
  if (dladdr1(function, &info, reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP) == 0)
    return;
  const bool program = map->l_name[0] == '\0';
  std::error_code none;
  m.module = std::filesystem::canonical(program ? "/proc/self/exe" : map->l_name, none).string();
  m.address = reinterpret_cast<std::uint64_t>(function) - map->l_addr;
}

// ---- A group's process ------------------------------------------------------------------------------------

[[noreturn]] void run_group(const group &g, std::uint64_t seed, int report) {
  running_group state;
  now = &state;
  std::uint64_t mixed = seed;
  for (const char *c = g.name; *c != '\0'; ++c)
    mixed = mixed * 0x100000001b3U + static_cast<unsigned char>(*c);
  state.random.seed(mixed);
  for (auto &stack : state.stacks)
    stack = std::make_unique<painted_stack>(g.stack, state.random());
  catch_faults();
  (void)!freopen("/dev/null", "w", stdout); // what the measured functions print
  g.body();

  std::FILE *out = fdopen(report, "w");
  for (const auto &[name, m] : state.marks)
    std::fprintf(out, "%s\t%s\t%lu\t%zu\t%zu\t%lu\n", name.c_str(), m.module.c_str(), m.address, m.first,
                 m.later, m.calls);
  std::fclose(out);
  std::_Exit(0);
}

// ---- All of them ------------------------------------------------------------------------------------------

using all_marks = std::map<std::string, marks_of_function>;

void merge(std::FILE *from, all_marks &into) {
  char name[256];
  char module[1024];
  marks_of_function m;
  while (std::fscanf(from, "%255[^\t]\t%1023[^\t]\t%lu\t%zu\t%zu\t%lu\n", name, module, &m.address, &m.first,
                     &m.later, &m.calls) == 6) {
    m.module = module;
    auto [at, fresh] = into.try_emplace(name, m);
    if (fresh)
      continue;
    at->second.first = std::max(at->second.first, m.first);
    at->second.later = std::max(at->second.later, m.later);
    at->second.calls += m.calls;
  }
}

bool run_apart(const group &g, std::uint64_t seed, all_marks &into) {
  int ends[2];
  if (pipe(ends) != 0)
    give_up("no pipe");
  const pid_t child = fork();
  if (child < 0)
    give_up("no process");
  if (child == 0) {
    close(ends[0]);
    run_group(g, seed, ends[1]);
  }
  close(ends[1]);
  std::FILE *in = fdopen(ends[0], "r");
  merge(in, into);
  std::fclose(in);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return true;
  std::fprintf(stderr, "marks: group %s failed\n", g.name);
  return false;
}

void write_json(std::FILE *out, const char *library, const all_marks &marks) {
  std::fprintf(out, "{\"library\": \"%s\", \"marks\": [", library);
  const char *separator = "\n";
  for (const auto &[name, m] : marks) {
    std::fprintf(out, "%s  {\"function\": \"%s\", \"module\": \"%s\", \"address\": %lu, \"mark\": %zu, ",
                 separator, name.c_str(), m.module.c_str(), m.address, std::max(m.first, m.later));
    std::fprintf(out, "\"first\": %zu, \"later\": %zu, \"calls\": %lu}", m.first, m.later, m.calls);
    separator = ",\n";
  }
  std::fprintf(out, "\n]}\n");
}

} // namespace

group::group(const char *group_name, void (*group_body)(), std::size_t stack_size)
    : name(group_name), body(group_body), stack(stack_size) {
  groups().push_back(*this);
}

const void *function_named(const std::string &name) {
  auto [at, fresh] = now->known.try_emplace(name, nullptr);
  if (fresh)
    at->second = dlsym(RTLD_DEFAULT, name.c_str());
  if (at->second == nullptr)
    give_up("no function " + name);
  return at->second;
}

result measure(const std::string &name, const void *function, call_frame &frame) {
  auto [at, fresh] = now->marks.try_emplace(name);
  if (fresh)
    locate(function, at->second);
  frame.function = function;
  now->measured = at->first.c_str();
  const std::size_t mark = now->stacks[now->turn++ % 2]->call(frame);
  std::size_t &kept = at->second.calls++ == 0 ? at->second.first : at->second.later;
  kept = std::max(kept, mark);
  return {frame.rax, std::bit_cast<double>(frame.xmm0[0]), mark};
}

void expect(bool holds, std::string_view what) {
  if (!holds)
    give_up("after " + std::string(now->measured) + ", not so: " + std::string(what));
}

int rounds(int usual) { return std::max(1, usual * scale); }
std::uint64_t below(std::uint64_t limit) { return limit == 0 ? 0 : now->random() % limit; }
double unit() { return static_cast<double>(now->random() >> 11U) * 0x1p-53; }

double real() {
  const int exponent = static_cast<int>(below(600)) - 300;
  const double size = std::ldexp(1 + unit(), below(2) == 0 ? exponent : exponent / 60);
  return below(2) == 0 ? size : -size;
}

const char *text(std::size_t length) {
  static constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJ 0123456789 ";
  std::string s(length, ' ');
  for (char &c : s)
    c = letters[below(letters.size())];
  return now->texts.emplace_back(std::move(s)).c_str();
}

std::string word(std::size_t length) {
  std::string s(length, 'a');
  for (char &c : s)
    c = static_cast<char>('a' + below(26));
  return s;
}

std::vector<unsigned char> bytes(std::size_t length) {
  std::vector<unsigned char> b(length);
  for (std::size_t i = 0; i < length;) {
    const std::size_t run = std::min<std::size_t>(1 + below(40), length - i);
    const std::size_t back = i == 0 || below(2) == 0 ? 0 : 1 + below(i);
    for (const std::size_t end = i + run; i < end; ++i)
      b[i] = back != 0 ? b[i - back] : static_cast<unsigned char>(below(256));
  }
  return b;
}

} // namespace nth::marks

int main(int argc, char **argv) {
  using namespace nth::marks;
  const char *file = nullptr;
  std::string_view only;
  std::uint64_t seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--json")
      file = argv[i + 1];
    else if (option == "--scale")
      scale = std::atoi(argv[i + 1]);
    else if (option == "--only")
      only = argv[i + 1];
    else if (option == "--seed")
      seed = std::strtoull(argv[i + 1], nullptr, 10);
    else
      give_up("unknown option " + std::string(option) + ": --json FILE, --scale N, --only GROUP, --seed N");
  }
  if (argc % 2 == 0)
    give_up("the last option has no value");

  all_marks marks;
  bool good = true;
  for (const group &g : groups())
    if (only.empty() || only == g.name)
      good = run_apart(g, seed, marks) && good;

  std::FILE *out = file == nullptr ? stdout : std::fopen(file, "w");
  if (out == nullptr)
    give_up("can't write " + std::string(file));
  write_json(out, std::filesystem::path(argv[0]).filename().c_str(), marks);
  std::fclose(out);
  return good ? 0 : 1;
}
