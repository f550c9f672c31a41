/* Many Lua interpreters at one time, each a thread that is blocked deep inside of calls from Lua to C to Lua:
 * interpreters [count [workers [depth]]]; a depth of -1 makes interpreters without threads, and weighs these. */
#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>
#include <nth/nth.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* sort, gsub and pcall are C functions that call back into Lua; pause blocks the thread. */
static const char script[] =
    "local function deep(n)\n"
    "  if n == 0 then pause() return me end\n"
    "  local found\n"
    "  if n % 3 == 0 then local ok, v = pcall(deep, n - 1) found = v\n"
    "  elseif n % 3 == 1 then string.gsub('x', 'x', function() found = deep(n - 1) end)\n"
    "  else table.sort({2, 1}, function(a, b) found = found or deep(n - 1) return a < b end) end\n"
    "  return found + 1\n"
    "end\n"
    "result = deep(depth)\n";

struct one {
  nth_handle_t handle;
  long result, root_bytes;
};

static struct one *all;
static long depth, blocked, ended, pages_before, pages_blocked, pages_states;

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "interpreters: %s\n", what);
  exit(2);
}

static long resident_pages(void) {
  long size, resident;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f == NULL || fscanf(f, "%ld %ld", &size, &resident) != 2)
    fail("cannot read /proc/self/statm");
  fclose(f);
  return resident;
}

static int pause_thread(lua_State *l) {
  (void)l;
  __atomic_add_fetch(&blocked, 1, __ATOMIC_RELAXED);
  nth_block();
  return 0;
}

static lua_State *interpreter(long i) {
  lua_State *l = luaL_newstate();
  if (l == NULL)
    fail("no memory for an interpreter");
  luaL_openlibs(l);
  lua_pushcfunction(l, pause_thread);
  lua_setglobal(l, "pause");
  lua_pushinteger(l, i);
  lua_setglobal(l, "me");
  lua_pushinteger(l, depth);
  lua_setglobal(l, "depth");
  return l;
}

static void root(long i) {
  void *lowest, *end;
  if (nth_stack_bounds(&lowest, &end) != NTH_OK)
    fail("a thread finds no bounds of its stack");
  all[i].root_bytes = (char *)end - (char *)lowest;
  lua_State *l = interpreter(i);
  if (luaL_dostring(l, script))
    fail(lua_tostring(l, -1));
  lua_getglobal(l, "result");
  all[i].result = (long)lua_tointeger(l, -1);
  lua_close(l);
  __atomic_add_fetch(&ended, 1, __ATOMIC_RELAXED);
}

/* What the interpreters themselves take, without threads. */
static void weigh_states(long count) {
  lua_State **states = malloc((size_t)count * sizeof *states);
  if (states == NULL)
    fail("no memory");
  const long before = resident_pages();
  for (long i = 0; i < count; ++i)
    states[i] = interpreter(i);
  pages_states = resident_pages() - before;
  for (long i = 0; i < count; ++i)
    lua_close(states[i]);
  free(states);
}

static void control(long count) {
  const long workers = nth_workers();
  pages_before = resident_pages();
  for (long i = 0; i < count; ++i) {
    struct nth_desc *thread = nth_create((void (*)())root, 0, 0, 1, i);
    if (thread == NULL)
      fail(nth_last_error());
    all[i].handle = nth_handle(thread);
    nth_to_lrq((int)(i % workers), thread);
  }
  while (__atomic_load_n(&blocked, __ATOMIC_RELAXED) < count)
    nth_yield();
  pages_blocked = resident_pages();
  for (long i = 0; i < count; ++i)
    if (nth_unblock(all[i].handle) != NTH_OK)
      fail(nth_last_error());
  while (__atomic_load_n(&ended, __ATOMIC_RELAXED) < count)
    nth_yield();
}

int main(int argc, char **argv) {
  const long count = argc > 1 ? atol(argv[1]) : 1000;
  const long page = sysconf(_SC_PAGESIZE);
  nth_options options;
  nth_stats stats;
  if (nth_options_init(&options) != NTH_OK)
    fail(nth_last_error());
  options.workers = argc > 2 ? atol(argv[2]) : 1;
  depth = argc > 3 ? atol(argv[3]) : 12;
  all = count < 1 ? NULL : calloc((size_t)count, sizeof *all);
  if (all == NULL)
    fail("interpreters [count [workers [depth]]]");
  if (depth < 0) {
    weigh_states(count);
    printf("{\"interpreters\": %ld, \"state_bytes\": %ld}\n", count, pages_states * page / count);
    return 0;
  }
  if (nth_init(&options) != NTH_OK || nth_run((void (*)())control, 1, count) != NTH_OK ||
      nth_get_stats(&stats) != NTH_OK || nth_finalize() != NTH_OK)
    fail(nth_last_error());
  long right = 0, least = all[0].root_bytes, most = 0;
  for (long i = 0; i < count; ++i) {
    right += all[i].result == i + depth;
    least = all[i].root_bytes < least ? all[i].root_bytes : least;
    most = all[i].root_bytes > most ? all[i].root_bytes : most;
  }
  printf("{\"interpreters\": %ld, \"right\": %ld, \"root_least\": %ld, \"root_most\": %ld, "
         "\"segments_switched\": %ld, "
         "\"segments_most\": %ld, \"resident_bytes\": %ld}\n",
         count, right, least, most, stats.segments_switched, stats.segments_most,
         (pages_blocked - pages_before) * page / count);
  return right == count ? 0 : 1;
}
