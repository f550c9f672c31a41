#include "task_memory/preload.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include <dlfcn.h>
#include <unistd.h>

namespace bench::task_memory {

namespace {

struct library {
  const char *name;
  const char *path; // as found when the build was configured; "" where it was not
};
constexpr library libraries[] = {
    {"tcmalloc", BENCH_TCMALLOC}, {"jemalloc", BENCH_JEMALLOC}, {"mimalloc", BENCH_MIMALLOC}};

std::string asked_for(int argc, char **argv) {
  constexpr std::string_view option = "--allocator";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == option && i + 1 < argc)
      return argv[i + 1];
    if (word.starts_with(option) && word.size() > option.size() && word[option.size()] == '=')
      return std::string(word.substr(option.size() + 1));
  }
  return "malloc";
}

// The file that the malloc of this process lies in.
std::string home_of_malloc() {
  Dl_info info{};
  void *address = dlsym(RTLD_DEFAULT, "malloc");
  if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr)
    return "";
  return info.dli_fname;
}

} // namespace

std::string preload(int argc, char **argv) {
  std::string name = asked_for(argc, argv);
  if (name == "malloc")
    return name;
  for (const library &l : libraries) {
    if (name != l.name)
      continue;
    if (*l.path == '\0')
      fail("task_memory: " + name + " was not found when the build was configured");
    if (home_of_malloc().find(name) != std::string::npos)
      return name;
    if (const char *now = std::getenv("LD_PRELOAD"); now != nullptr && std::strstr(now, l.path) != nullptr)
      fail("task_memory: " + std::string(l.path) + " was preloaded, but malloc is that of " +
           home_of_malloc());
    setenv("LD_PRELOAD", l.path, 1);
    execv("/proc/self/exe", argv);
    fail("task_memory: cannot start over with " + std::string(l.path));
  }
  fail("task_memory: --allocator: '" + name + "' is none of malloc, tcmalloc, jemalloc, mimalloc");
}

void add_option(program &p) {
  static std::string ignored = "malloc";
  p.option("--allocator", ignored, "malloc, or one to preload: tcmalloc, jemalloc, mimalloc");
}

} // namespace bench::task_memory
