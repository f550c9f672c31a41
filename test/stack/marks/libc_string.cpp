// Marks of libc: strings, memory, characters, wide strings.
#include "marks.hpp"

#include <cctype>
#include <clocale>
#include <cwchar>

using namespace nth::marks;

MARKS(memory_blocks) {
  std::vector<unsigned char> to(70000);
  for (int i = 0; i < rounds(60); ++i) {
    const std::size_t n = below(i % 8 == 0 ? 60000 : 400);
    const auto from = bytes(n + 64);
    unsigned char *p = to.data() + below(64);
    call("memcpy", p, from.data() + below(32), n);
    call("mempcpy", p, from.data(), n);
    call("memmove", p, p + below(32), n);
    call("memset", p, static_cast<int>(below(256)), n);
    call("memcmp", p, from.data(), n);
    call("memchr", from.data(), static_cast<int>(below(256)), n);
    call("rawmemchr", from.data(), from[n]);
    call("memrchr", from.data(), static_cast<int>(below(256)), n);
    call("memmem", from.data(), n, from.data() + n, below(40));
    call("memccpy", p, from.data(), static_cast<int>(below(256)), n);
    call("memfrob", p, n);
    call("bzero", p, n);
    call("bcopy", from.data(), p, n);
    call("swab", from.data(), p, n & ~1U);
    call("bcmp", from.data(), p, n);
    call("explicit_bzero", p, n);
  }
}

MARKS(string_functions) {
  std::vector<char> room(9000);
  char *to = room.data();
  for (int i = 0; i < rounds(60); ++i) {
    const std::size_t n = below(i % 8 == 0 ? 4000 : 120);
    const char *a = text(n);
    const char *b = text(1 + below(6));
    expect(call("strlen", a).as<std::size_t>() == n, "the length of a text");
    call("strnlen", a, below(200));
    call("strcpy", to, a);
    call("stpcpy", to, a);
    call("strncpy", to, a, below(4500));
    call("stpncpy", to, a, below(4500));
    call("strcat", to, b);
    call("strncat", to, a, below(50));
    call("strcmp", to, a);
    call("strncmp", to, a, n);
    call("strcasecmp", to, a);
    call("strncasecmp", to, a, n);
    call("strchr", a, 'x');
    call("strrchr", a, 'x');
    call("strchrnul", a, 'x');
    call("index", a, 'q');
    call("rindex", a, 'q');
    call("strstr", a, b);
    call("strcasestr", a, b);
    call("strspn", a, b);
    call("strcspn", a, b);
    call("strpbrk", a, b);
    call("strcoll", a, b);
    call("strxfrm", to, a, room.size());
    std::strcpy(to, a);
    char *rest = to;
    for (int turn = 0; turn < 4 && rest != nullptr; ++turn)
      call("strsep", &rest, " 0");
    std::strcpy(to, a);
    char *state = nullptr;
    for (char *t = call("strtok_r", to, " ", &state).as<char *>(); t != nullptr;)
      t = call("strtok_r", nullptr, " ", &state).as<char *>();
    std::strcpy(to, a);
    call("strtok", to, "1 ");
    for (const char *function : {"strdup", "__strdup"})
      call("free", call(function, a).as<void *>());
    call("free", call("strndup", a, below(300)).as<void *>());
    call("strfry", to);
    call("strverscmp", a, b);
    call("basename", a);
    call("ffs", static_cast<int>(below(1000)));
    call("ffsl", static_cast<long>(below(1000)));
    call("strerror", static_cast<int>(below(200)) - 20);
    call("strerror_r", static_cast<int>(below(200)) - 20, to, below(80));
    call("strsignal", static_cast<int>(below(90)) - 5);
    call("strerrorname_np", static_cast<int>(below(140)));
    call("sigabbrev_np", static_cast<int>(below(70)));
  }
}

MARKS(collation_utf8) {
  expect(call("setlocale", LC_ALL, "C.UTF-8").rax != 0, "the locale C.UTF-8");
  std::vector<char> room(20000);
  for (int i = 0; i < rounds(50); ++i) {
    const char *a = text(below(i % 10 == 0 ? 3000 : 80));
    const char *b = text(below(80));
    call("strcoll", a, b);
    call("strxfrm", room.data(), a, room.size());
    call("strcasecmp", a, b);
    call("mbstowcs", room.data(), a, 4000UL);
    call("mblen", a, 4UL);
  }
}

MARKS(characters) {
  for (int c = -1; c < 256; ++c) {
    for (const char *f : {"isalnum", "isalpha", "isblank", "iscntrl", "isdigit", "isgraph", "islower",
                          "isprint", "ispunct", "isspace", "isupper", "isxdigit", "tolower", "toupper"})
      call(f, c);
    for (const char *f : {"iswalnum", "iswalpha", "iswdigit", "iswlower", "iswpunct", "iswspace", "iswupper",
                          "towlower", "towupper", "wcwidth", "btowc", "wctob"})
      call(f, c * 37);
  }
  for (const char *kind : {"alpha", "digit", "space", "nonsense"})
    call("iswctype", L'x', call("wctype", kind).rax);
  for (const char *kind : {"tolower", "toupper", "nonsense"})
    call("towctrans", L'x', call("wctrans", kind).rax);
}

MARKS(wide_strings) {
  std::vector<wchar_t> room(6000);
  for (int i = 0; i < rounds(60); ++i) {
    const std::size_t n = below(i % 8 == 0 ? 4000 : 100);
    std::wstring a(n, L'a');
    std::wstring b(1 + below(5), L'b');
    for (wchar_t &c : a)
      c = static_cast<wchar_t>(L'a' + below(26));
    for (wchar_t &c : b)
      c = static_cast<wchar_t>(L'a' + below(26));
    wchar_t *to = room.data();
    expect(call("wcslen", a.c_str()).as<std::size_t>() == n, "the length of a wide text");
    call("wcsnlen", a.c_str(), below(50));
    call("wcscpy", to, a.c_str());
    call("wcsncpy", to, a.c_str(), n);
    call("wcscat", to, b.c_str());
    call("wcsncat", to, b.c_str(), below(5));
    call("wcscmp", to, a.c_str());
    call("wcsncmp", to, a.c_str(), n);
    call("wcscasecmp", to, a.c_str());
    call("wcschr", a.c_str(), L'x');
    call("wcsrchr", a.c_str(), L'x');
    call("wcsstr", a.c_str(), b.c_str());
    call("wcsspn", a.c_str(), b.c_str());
    call("wcscspn", a.c_str(), b.c_str());
    call("wcspbrk", a.c_str(), b.c_str());
    call("wcscoll", a.c_str(), b.c_str());
    call("wcsxfrm", to, a.c_str(), room.size());
    call("wcswidth", a.c_str(), n);
    wchar_t *state = nullptr;
    call("wcstok", to, L"aeiou", &state);
    call("wmemcpy", to, a.c_str(), n);
    call("wmemmove", to + 1, to, n);
    call("wmemset", to, L'z', n);
    call("wmemcmp", to, a.c_str(), n);
    call("wmemchr", a.c_str(), L'q', n);
    call("free", call("wcsdup", a.c_str()).as<void *>());
  }
}

MARKS(multibyte) {
  for (const char *locale : {"C", "C.UTF-8"}) {
    call("setlocale", LC_ALL, locale);
    std::vector<char> narrow(3000);
    std::vector<wchar_t> wide(3000);
    for (int i = 0; i < rounds(40); ++i) {
      std::string s = text(below(500));
      if (i % 3 == 0)
        s += "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
      if (i % 5 == 0)
        s += "\xff\xfe";
      std::mbstate_t state = {};
      const char *from = s.c_str();
      call("mbsrtowcs", wide.data(), &from, wide.size(), &state);
      from = s.c_str();
      state = {};
      call("mbsnrtowcs", wide.data(), &from, below(400), wide.size(), &state);
      state = {};
      call("mbrtowc", wide.data(), s.c_str(), s.size(), &state);
      state = {};
      call("mbrlen", s.c_str(), s.size(), &state);
      call("mbtowc", wide.data(), s.c_str(), s.size());
      call("mbstowcs", wide.data(), s.c_str(), wide.size());
      const wchar_t *back = wide.data();
      state = {};
      call("wcsrtombs", narrow.data(), &back, narrow.size(), &state);
      call("wcstombs", narrow.data(), wide.data(), narrow.size());
      state = {};
      call("wcrtomb", narrow.data(), static_cast<int>(below(0x11000)), &state);
      call("wctomb", narrow.data(), static_cast<int>(below(0x11000)));
      call("mbsinit", &state);
      char32_t c32 = 0;
      state = {};
      call("mbrtoc32", &c32, s.c_str(), s.size(), &state);
    }
  }
}
