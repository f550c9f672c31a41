// Runs the Lua script named first.
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>

int main(int argc, char **argv) {
  lua_State *state = luaL_newstate();
  if (state == NULL || argc < 2)
    return 2;
  luaL_openlibs(state);
  const int failed = luaL_dofile(state, argv[1]);
  if (failed)
    fprintf(stderr, "%s\n", lua_tostring(state, -1));
  lua_close(state);
  return failed;
}
