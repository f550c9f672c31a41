// Marks of libc: time, environment, files, processes, threads.
#include "marks.hpp"

#include <cstdlib>
#include <ctime>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nth::marks;

MARKS(times) {
  std::vector<char> room(2000);
  for (const char *zone :
       {"", "UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "Europe/Berlin", "America/New_York", ":none"}) {
    setenv("TZ", zone, 1);
    call("tzset");
    for (int i = 0; i < rounds(30); ++i) {
      std::time_t t = static_cast<std::time_t>(below(i % 5 == 0 ? 1UL << 40U : 1UL << 32U));
      std::tm parts = {};
      expect(call("gmtime_r", &t, &parts).rax != 0, "a time in parts");
      call("localtime_r", &t, &parts);
      call("gmtime", &t);
      call("localtime", &t);
      call("mktime", &parts);
      call("timegm", &parts);
      call("ctime", &t);
      call("ctime_r", &t, room.data());
      call("asctime", &parts);
      call("asctime_r", &parts, room.data());
      call("strftime", room.data(), room.size(), "%a %A %b %B %c %C %d %D %e %F %g %G %H %I %j %m %M",
           &parts);
      call("strftime", room.data(), room.size(),
           "%p %r %R %s %S %T %u %U %V %w %W %x %X %y %Y %z %Z %10Y %^a", &parts);
      call("strptime", "2024-02-29 12:34:56 +0200", "%Y-%m-%d %H:%M:%S %z", &parts);
      call("strptime", "Thu Feb  1 01:02:03 2024", "%c", &parts);
      call("difftime", t, 0L);
    }
  }
  std::timespec now = {};
  timeval day = {};
  for (int i = 0; i < rounds(20); ++i) {
    call("time", nullptr);
    call("clock_gettime", i % 8, &now);
    call("clock_getres", i % 8, &now);
    call("gettimeofday", &day, nullptr);
    call("clock");
    call("timespec_get", &now, TIME_UTC);
  }
  now = {0, 1000};
  call("nanosleep", &now, nullptr);
  call("usleep", 10U);
}

MARKS(environment) {
  for (int i = 0; i < rounds(50); ++i) {
    const std::string name = word(1 + below(12));
    call("setenv", name.c_str(), text(below(600)), static_cast<int>(below(2)));
    expect(call("getenv", name.c_str()).rax != 0, "the variable");
    call("secure_getenv", "PATH");
    call("putenv", const_cast<char *>("NTH_MARKS=1"));
    if (i % 3 == 0)
      call("unsetenv", name.c_str());
  }
  call("sysconf", _SC_NPROCESSORS_ONLN);
  for (int i = 0; i < 250; ++i)
    call("sysconf", i);
  for (int i = 0; i < 20; ++i)
    call("pathconf", "/tmp", i);
  std::vector<char> room(5000);
  call("confstr", _CS_PATH, room.data(), room.size());
  utsname name = {};
  call("uname", &name);
  call("gethostname", room.data(), room.size());
  call("getcwd", room.data(), room.size());
  call("free", call("getcwd", nullptr, 0UL).as<void *>());
  call("realpath", "/usr/../usr/lib/./x86_64-linux-gnu/libc.so.6", room.data());
  call("free", call("realpath", "/etc/alternatives/cc", nullptr).as<void *>());
  call("clearenv");
}

MARKS(files) {
  char path[] = "/tmp/nth_marks_XXXXXX";
  const int fd = call("mkstemp", path).as<int>();
  expect(fd >= 0, "a file");
  std::vector<char> room(9000);
  struct stat state;
  for (int i = 0; i < rounds(30); ++i) {
    expect(call("write", fd, room.data(), 100UL).rax == 100, "written");
    call("pwrite", fd, room.data(), 100UL, 50L);
    call("lseek", fd, 0L, SEEK_SET);
    call("read", fd, room.data(), 100UL);
    call("pread", fd, room.data(), 100UL, 10L);
    call("fstat", fd, &state);
    call("stat", path, &state);
    call("lstat", path, &state);
    call("access", path, R_OK);
    call("chmod", path, 0600);
    call("fcntl", fd, F_GETFL);
    call("fsync", fd);
    call("ftruncate", fd, 1000L);
    call("close", call("dup", fd).as<int>());
    call("close", call("open", path, O_RDONLY).as<int>());
    call("close", call("openat", AT_FDCWD, path, O_RDONLY).as<int>());
    call("isatty", fd);
    call("ttyname_r", fd, room.data(), room.size());
    int ends[2];
    call("pipe", ends);
    close(ends[0]);
    close(ends[1]);
  }
  call("unlink", path);
  auto *d = call("opendir", "/usr/include").as<DIR *>();
  while (call("readdir", d).rax != 0) {
  }
  call("rewinddir", d);
  call("closedir", d);
  dirent **list = nullptr;
  call("scandir", "/usr/include", &list, nullptr, function_named("alphasort"));
  char folder[] = "/tmp/nth_marks_XXXXXX";
  call("mkdtemp", folder);
  call("rmdir", folder);
  call("mkdir", folder, 0700);
  call("rename", folder, folder);
  rmdir(folder);
}

namespace {
void *nothing(void *) { return nullptr; }
int visit_file(const char *, const struct stat *, int, struct FTW *) { return 0; }
} // namespace

MARKS_ON(file_trees, 1U << 20U) {
  call("nftw", "/usr/include/x86_64-linux-gnu", visit_file, 10, FTW_PHYS);
  call("nftw", "/usr/include/c++", visit_file, 2, FTW_PHYS | FTW_DEPTH);
}

MARKS(processes) {
  call("getpid");
  call("getppid");
  call("getuid");
  rusage use = {};
  call("getrusage", RUSAGE_SELF, &use);
  rlimit limit = {};
  call("getrlimit", RLIMIT_STACK, &limit);
  for (int i = 0; i < rounds(5); ++i) {
    const int child = call("fork").as<int>();
    if (child == 0)
      _exit(0);
    int status = 0;
    expect(call("waitpid", child, &status, 0).as<int>() == child, "a child that ended");
    pthread_t thread = 0;
    expect(call("pthread_create", &thread, nullptr, nothing, nullptr).as<int>() == 0, "a thread");
    call("pthread_join", thread, nullptr);
  }
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  sem_t semaphore;
  pthread_key_t key = 0;
  pthread_attr_t attributes;
  for (int i = 0; i < rounds(20); ++i) {
    call("pthread_mutex_lock", &mutex);
    call("pthread_cond_signal", &condition);
    call("pthread_cond_broadcast", &condition);
    call("pthread_mutex_unlock", &mutex);
    call("pthread_mutex_trylock", &mutex);
    call("pthread_mutex_unlock", &mutex);
    call("sem_init", &semaphore, 0, 1U);
    call("sem_wait", &semaphore);
    call("sem_post", &semaphore);
    call("sem_destroy", &semaphore);
    call("pthread_key_create", &key, nullptr);
    call("pthread_setspecific", key, &key);
    call("pthread_getspecific", key);
    call("pthread_key_delete", key);
    call("pthread_self");
    call("pthread_getattr_np", pthread_self(), &attributes);
    call("pthread_attr_destroy", &attributes);
    call("sched_yield");
    cpu_set_t set;
    call("sched_getaffinity", 0, sizeof set, &set);
  }
}

MARKS_ON(names_and_libraries, 1U << 20U) {
  call("getpwnam", "root");
  call("getpwuid", 0U);
  call("getgrnam", "root");
  call("getlogin");
  call("getservbyname", "http", "tcp");
  call("getprotobyname", "tcp");
  void *library = call("dlopen", "libm.so.6", RTLD_NOW).as<void *>();
  expect(library != nullptr, "an open library");
  call("dlsym", library, "cos");
  call("dlsym", library, "none_such");
  call("dlerror");
  Dl_info info = {};
  call("dladdr", reinterpret_cast<void *>(&nothing), &info);
  call("dlclose", library);
  void *frames[20];
  call("backtrace", frames, 20);
}
