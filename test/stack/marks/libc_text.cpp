// Marks of libc: patterns, conversion, locales.
#include "marks.hpp"

#include <clocale>
#include <fnmatch.h>
#include <glob.h>
#include <iconv.h>
#include <langinfo.h>
#include <libintl.h>
#include <regex.h>
#include <wordexp.h>

using namespace nth::marks;

namespace {

const std::vector<std::string> &patterns() {
  static const std::vector<std::string> all = {"abc",
                                               "a*b+c?",
                                               "[a-z]+[0-9]{2,4}",
                                               "(ab|cd|ef)*x",
                                               "^([a-z ]+)([0-9]+)$",
                                               "(a|b|c|d|e)(f|g|h)+",
                                               "\\(a\\)\\1",
                                               "(x+x+)+y",
                                               "[[:alpha:]]+ [[:digit:]]*",
                                               ".*.*.*z",
                                               "((((((((a))))))))",
                                               "(a{1,20}){1,5}",
                                               "[^a-f]*q",
                                               "a|b|c|d|e|f|g|h|i|j|k",
                                               "\\<word\\>",
                                               "(unclosed",
                                               "*",
                                               "[z-a]",
                                               "[[:nonsense:]]",
                                               "a{3,1}"};
  return all;
}

void match_all(int rounds_of_each) {
  std::vector<char> message(300);
  for (int i = 0; i < rounds(rounds_of_each); ++i)
    for (const std::string &p : patterns()) {
      regex_t r;
      const int flags = static_cast<int>(below(16)) & (REG_EXTENDED | REG_ICASE | REG_NOSUB | REG_NEWLINE);
      const int status = call("regcomp", &r, p.c_str(), flags | (i % 2 == 0 ? REG_EXTENDED : 0)).as<int>();
      if (status != 0) {
        call("regerror", status, &r, message.data(), message.size());
        continue;
      }
      regmatch_t where[10];
      for (std::size_t size : {10UL, 100UL, 2000UL})
        call("regexec", &r, text(size), below(11), where, static_cast<int>(below(4)));
      call("regfree", &r);
    }
}

} // namespace

MARKS_ON(regular_expressions, 2U << 20U) {
  match_all(10);
  expect(call("setlocale", LC_ALL, "C.UTF-8").rax != 0, "the locale C.UTF-8");
  match_all(5);
}

MARKS_ON(file_patterns, 1U << 20U) {
  for (int i = 0; i < rounds(4); ++i) {
    for (const char *p :
         {"/usr/include/*.h", "/usr/*/[a-m]*", "/etc/{passwd,group}", "~/x*", "/none/such/*", "\\*"}) {
      glob_t found = {};
      call("glob", p, static_cast<int>(i % 2 == 0 ? 0 : GLOB_BRACE | GLOB_TILDE | GLOB_MARK), nullptr,
           &found);
      call("globfree", &found);
    }
    for (const char *p : {"*a*b*", "[a-z]?[!x]*", "*.c", "[[:digit:]]*", "+(ab|c)*", "a/**/b"})
      for (std::size_t n : {3UL, 30UL, 1200UL})
        call("fnmatch", p, text(n), static_cast<int>(i % 2 == 0 ? 0 : FNM_EXTMATCH | FNM_CASEFOLD));
    for (const char *p :
         {"a $HOME b", "${PATH:-none} '*'", "\"q\" $((3*4+(2<<3)))", "/usr/include/s*.h", "a;b"}) {
      wordexp_t words = {};
      if (call("wordexp", p, &words, WRDE_NOCMD).as<int>() == 0)
        call("wordfree", &words);
    }
  }
}

MARKS(character_sets) {
  const std::vector<const char *> sets = {
      "UTF-8",   "UTF-16", "UTF-32LE", "ISO-8859-1", "ISO-8859-15", "ASCII//TRANSLIT", "EUC-JP",
      "GB18030", "KOI8-R", "UCS-2",    "UTF-7",      "ISO-2022-JP", "none-such"};
  std::vector<char> to(20000);
  for (int i = 0; i < rounds(60); ++i) {
    iconv_t c = call("iconv_open", one_of(sets), one_of(sets)).as<iconv_t>();
    if (c == reinterpret_cast<iconv_t>(-1))
      continue;
    for (int k = 0; k < 5; ++k) {
      std::string from = text(below(2000));
      from += "\xc3\xa9\xe2\x82\xac";
      char *in = from.data();
      char *out = to.data();
      std::size_t in_left = from.size();
      std::size_t out_left = below(to.size());
      call("iconv", c, &in, &in_left, &out, &out_left);
      call("iconv", c, nullptr, nullptr, &out, &out_left);
    }
    call("iconv_close", c);
  }
}

MARKS(locales) {
  for (int i = 0; i < rounds(5); ++i) {
    for (const char *l :
         {"C", "C.UTF-8", "POSIX", "", "en_US.UTF-8", "none_SUCH", "LC_CTYPE=C.UTF-8;LC_TIME=C"})
      call("setlocale", static_cast<int>(one_of<int>({LC_ALL, LC_CTYPE, LC_TIME, LC_COLLATE})), l);
    auto *l = call("newlocale", LC_ALL_MASK, "C.UTF-8", nullptr).as<locale_t>();
    expect(l != nullptr, "a locale");
    auto *copy = call("duplocale", l).as<locale_t>();
    call("uselocale", copy);
    call("nl_langinfo", static_cast<int>(CODESET));
    call("nl_langinfo_l", static_cast<int>(D_FMT), l);
    call("strcoll_l", text(20), text(20), l);
    call("toupper_l", 'x', l);
    call("uselocale", LC_GLOBAL_LOCALE);
    call("freelocale", copy);
    call("freelocale", l);
    call("localeconv");
    call("gettext", "a message");
    call("dgettext", "domain", "a message");
    call("dcngettext", "domain", "one", "many", below(10), LC_MESSAGES);
    call("bindtextdomain", "domain", "/tmp");
    call("textdomain", "domain");
  }
}
