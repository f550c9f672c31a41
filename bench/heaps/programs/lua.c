/* Lua's interpreter: recursion, sorting, strings, tables, closures, coroutines, errors. */
#include "program.h"

#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>
#include <stdlib.h>

static const char script[] =
    "local function fib(n) if n < 2 then return n end return fib(n-1) + fib(n-2) end\n"
    "say('fib', fib(23))\n"
    "local t = {} for i = 1, 4000 do t[i] = (i * 7919) % 10007 end\n"
    "table.sort(t) say('sorted', t[1], t[2000], t[4000])\n"
    "table.sort(t, function(a, b) return a > b end) say('by function', t[1], t[2000], t[4000])\n"
    "local words = {} for i = 1, 3000 do words[#words + 1] = ('w%d'):format(i * 31 % 977):upper():reverse() "
    "end\n"
    "local text = table.concat(words, ' ') local seen, n = {}, 0\n"
    "for w in text:gmatch('%w+') do seen[w] = (seen[w] or 0) + 1 n = n + 1 end say('words', n, seen['1W'], "
    "#text)\n"
    "local changed = text:gsub('%d+', function(d) return '<' .. d .. '>' end) say('gsub', #changed, "
    "changed:sub(1, 40))\n"
    "local sieve, primes = {}, 0 for i = 2, 30000 do if not sieve[i] then primes = primes + 1\n"
    "  for j = i * i, 30000, i do sieve[j] = true end end end say('primes', primes)\n"
    "local point = {} point.__index = point point.__add = function(a, b) return setmetatable({x = a.x + "
    "b.x}, point) end\n"
    "local sum = setmetatable({x = 0}, point) for i = 1, 5000 do sum = sum + setmetatable({x = i}, point) "
    "end say('sum', sum.x)\n"
    "local co = coroutine.wrap(function(...) for i = 1, 500 do coroutine.yield(i * i) end end)\n"
    "local squares = 0 for i = 1, 500 do squares = squares + co() end say('squares', squares)\n"
    "local thrown = 0 for i = 1, 500 do local ok, e = pcall(function() error({i}) end) thrown = thrown + "
    "e[1] end\n"
    "say('thrown', thrown, select(2, pcall(error, 'text')), select(2, pcall(string.rep)))\n"
    "local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end say('deep', deep(10000))\n"
    "local function nested(n) if n == 0 then return 0 end return 1 + select(2, pcall(nested, n - 1)) end\n"
    "say('nested', nested(60))\n"
    "say('format', ('%10.4f|%-8s|%q|%g|%x'):format(math.pi, 'x', 'a\\nb', 2^0.5, 48879))\n"
    "say('load', load('local a, b = ... return a * b + #{1, 2, {3, {4}}}')(6, 7), tostring(load('x = = 1') "
    "== nil))\n"
    "say('nesting', load('return ' .. ('('):rep(100) .. '7' .. (')'):rep(100))())\n"
    "say('date', os.date('!%Y-%m-%d', 86400 * 365))\n";

static int say_in_lua(lua_State *l) {
  struct text *out = lua_touserdata(l, lua_upvalueindex(1));
  for (int i = 1, n = lua_gettop(l); i <= n; ++i) {
    say(out, "%s%s", luaL_tolstring(l, i, NULL), i < n ? " " : "\n");
    lua_pop(l, 1);
  }
  let_others_run();
  return 0;
}

void prepare(void) {}

void work(struct text *out, long size) {
  for (long i = 0; i < size; ++i) {
    lua_State *l = luaL_newstate();
    if (l == NULL)
      abort();
    luaL_openlibs(l);
    lua_pushlightuserdata(l, out);
    lua_pushcclosure(l, say_in_lua, 1);
    lua_setglobal(l, "say");
    if (luaL_dostring(l, script))
      say(out, "error: %s\n", lua_tostring(l, -1));
    lua_close(l);
  }
}
