// Marks of Lua 5.4: its interface, and scripts through it.
#include "marks.hpp"

#include <lua.hpp>

using namespace nth::marks;

namespace {

const std::vector<std::string> &scripts() {
  static const std::vector<std::string> all = {
      "local t = {} for i = 1, 2000 do t[i] = (i * 7919) % 1009 end table.sort(t) return t[5]",
      "local s = {} for w in (('some words %d '):rep(50)):gmatch('%a+') do s[#s + 1] = w:upper() end return "
      "#s",
      "local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end return fib(18)",
      "local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end return deep(5000)",
      "return string.format('%5.2f|%-10s|%q|%x|%g|%i|%c|%a', 3.14159, 'x', 'a\\nb', 255, 1e100, 42, 65, 0.5)",
      "return ('x'):rep(10000):gsub('x', {x = 'yy'})",
      "return ('a,b;c d'):gsub('([,; ])', function(c) return '<' .. c .. '>' end)",
      "return ('key = value'):match('^(%w+)%s*=%s*(%w+)$'), ('f(a(b)c)d'):match('%b()'), ('THE (quick) "
      "fox'):find('%((%a+)%)')",
      "local co = coroutine.wrap(function() for i = 1, 50 do coroutine.yield(i) end end) local s = 0 for i = "
      "1, 50 do s = s + co() end return s",
      "local ok, e = pcall(function() error({code = 5}) end) return e.code",
      "return select('#', xpcall(function() local x = nil; return x.y end, debug.traceback))",
      "local m = setmetatable({}, {__index = function(t, k) return k .. '!' end, __call = function(self, a) "
      "return a end, "
      "__add = function(a, b) return 7 end, __tostring = function() return 'm' end, __lt = function() return "
      "true end}) "
      "return m.x, m(3), m + 1, tostring(m), m < m",
      "local t = setmetatable({}, {__mode = 'k'}) for i = 1, 1000 do t[{}] = i end collectgarbage() "
      "collectgarbage('step', 10) return next(t)",
      "return load('return ' .. ('('):rep(150) .. '1' .. (')'):rep(150))()",
      "return load('return ' .. ('{'):rep(150) .. ('}'):rep(150))",
      "return load('local x = 1 ' .. ('x = x + 1 '):rep(3000) .. ' return x')()",
      "return load('syntax error here')",
      "return load('return \"unfinished')",
      "goto nowhere",
      "return math.floor(3.7), math.max(1, 5, 3), math.tointeger(3.0), math.random(10), math.fmod(7, 3), 7 "
      "// 2, 7 % -3, 2^0.5, 1 << 62",
      "return table.concat({1, 2, 3}, ','), table.unpack({1, 2, 3}), table.move({1, 2, 3}, 1, 3, 2)[3], "
      "table.remove({1, 2}), table.pack(1, nil).n",
      "return utf8.char(228, 8364, 128512), utf8.len('\\u{20AC}uro'), utf8.codepoint('\\u{20AC}', 1)",
      "return string.pack('>i4 z s1 d', 5, 'zero', 'one', 2.5), string.unpack('<i4', '\\1\\0\\0\\0')",
      "return os.time{year = 2024, month = 2, day = 29, hour = 12}, os.date('!%Y-%m-%d %H:%M:%S', 0), "
      "os.clock(), os.getenv('HOME')",
      "local f = io.tmpfile() f:write('line 1\\n', 2, '\\n', 3.5, '\\n') f:seek('set') for l in f:lines() do "
      "l = l .. 'x' end f:close()",
      "local t = {} for i = 1, 300 do t['k' .. i] = i end local n = 0 for k, v in pairs(t) do n = n + v end "
      "for i = 1, 300 do t['k' .. i] = nil end return n",
      "return tostring(1e15), tostring(-0.0), tostring(2^63), tonumber('0x1p4'), tonumber('zz', 36), "
      "tonumber('1e'), 10 // 0.0",
      "local s = 'a' for i = 1, 12 do s = s .. s end return #s, s:byte(1, 10), s:reverse():sub(-5)",
      "local t <close> = setmetatable({}, {__close = function() end}) return debug.getinfo(1, "
      "'nSltufrL').short_src",
      "return string.rep('(', 220):gsub('%(', '%%'), ('x'):rep(300):find(('x?'):rep(150) .. ('x'):rep(150))",
      "return string.dump(function(a, b) return a + b end, true):len()",
      "return require('string') == string, package.path, pcall(require, 'none.such')",
      "error('at the top')",
      "return nil + 1",
      "return #5",
      "return {} < {}",
      "return ('x')()",
      "return 1 < 'x'"};
  return all;
}

// The macros of lua.h by the functions behind them.
void run_script(void *L, const std::string &s) {
  if (call("luaL_loadbufferx", L, s.data(), s.size(), "script", nullptr).as<int>() == LUA_OK)
    call("lua_pcallk", L, 0, LUA_MULTRET, 0, 0L, nullptr);
  for (int top = call("lua_gettop", L).as<int>(); top > 0; --top)
    call("luaL_tolstring", L, top, nullptr);
  call("lua_settop", L, 0);
}

int add_one(lua_State *L) {
  lua_pushinteger(L, luaL_checkinteger(L, 1) + 1);
  return 1;
}

} // namespace

MARKS_ON(scripts, 1U << 20U) {
  for (int i = 0; i < rounds(3); ++i) {
    void *L = call("luaL_newstate").as<void *>();
    call("luaL_openlibs", L);
    for (const std::string &s : scripts())
      run_script(L, s);
    call("lua_gc", L, LUA_GCGEN, 0, 0);
    for (const std::string &s : scripts())
      run_script(L, s);
    call("lua_gc", L, LUA_GCCOLLECT);
    call("lua_close", L);
  }
}

MARKS_ON(interface, 1U << 20U) {
  void *L = call("luaL_newstate").as<void *>();
  call("luaL_openlibs", L);
  for (int i = 0; i < rounds(100); ++i) {
    call("lua_pushinteger", L, static_cast<long>(below(1000)));
    call("lua_pushnumber", L, real());
    call("lua_pushstring", L, text(below(100)));
    call("lua_pushlstring", L, text(100), below(100));
    call("lua_pushfstring", L, "%s %d %f %p", "text", 5, 2.5, L);
    call("lua_pushboolean", L, 1);
    call("lua_pushnil", L);
    call("lua_pushcclosure", L, add_one, 0);
    call("lua_createtable", L, 3, 3);
    call("lua_pushvalue", L, 1);
    call("lua_setfield", L, -2, "field");
    call("lua_getfield", L, -1, "field");
    call("lua_settop", L, -2);
    call("lua_pushinteger", L, 7L);
    call("lua_seti", L, -2, 3L);
    call("lua_geti", L, -1, 3L);
    call("lua_settop", L, -2);
    call("lua_setglobal", L, "a_table");
    call("lua_getglobal", L, "a_table");
    call("lua_pushnil", L);
    while (call("lua_next", L, -2).as<int>() != 0)
      call("lua_settop", L, -2);
    call("lua_rawlen", L, -1);
    call("lua_settop", L, -2);
    call("lua_rotate", L, 1, 2);
    call("lua_checkstack", L, 200);
    for (int k = 1; k <= call("lua_gettop", L).as<int>(); ++k) {
      call("lua_type", L, k);
      call("lua_tonumberx", L, k, nullptr);
      call("lua_tointegerx", L, k, nullptr);
      call("lua_toboolean", L, k);
      call("lua_tolstring", L, k, nullptr);
      call("lua_isnumber", L, k);
      call("lua_rawequal", L, 1, k);
    }
    call("lua_getglobal", L, "string");
    call("lua_settop", L, 0);
    call("lua_pushinteger", L, 3L);
    call("lua_pushinteger", L, 4L);
    call("lua_arith", L, static_cast<int>(below(12)));
    call("lua_pushinteger", L, 4L);
    call("lua_compare", L, 1, 2, static_cast<int>(below(3)));
    call("lua_pushstring", L, text(40));
    call("lua_concat", L, 3);
    call("lua_pushcclosure", L, add_one, 0);
    call("lua_pushinteger", L, 1L);
    call("lua_callk", L, 1, 1, 0L, nullptr);
    call("lua_newuserdatauv", L, 100UL, 1);
    call("luaL_newmetatable", L, "a kind");
    call("lua_setmetatable", L, -2);
    call("luaL_traceback", L, L, "where", 0);
    call("luaL_ref", L, LUA_REGISTRYINDEX);
    void *thread = call("lua_newthread", L).as<void *>();
    int results = 0;
    luaL_loadstring(static_cast<lua_State *>(thread), "coroutine.yield(1) return ('x'):rep(5)");
    call("lua_resume", thread, L, 0, &results);
    call("lua_resume", thread, L, 0, &results);
    call("lua_settop", L, 0);
  }
  call("lua_close", L);
}
