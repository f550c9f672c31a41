// Marks of expat: documents of many kinds, whole and in pieces, good and bad.
#include "marks.hpp"

#include <algorithm>
#include <expat.h>

using namespace nth::marks;

namespace {

std::string element(int depth) {
  std::string s = "<" + word(1 + below(8));
  const std::string name = s.substr(1);
  for (std::size_t n = below(5); n > 0; --n)
    s += " a" + std::to_string(n) + "=\"" + word(below(30)) + "&lt;&#x41;&amp;\"";
  if (below(5) == 0)
    return s + "/>";
  s += ">";
  for (std::size_t n = below(4); n > 0; --n)
    switch (below(6)) {
    case 0:
      s += "<![CDATA[" + word(below(100)) + "]]>";
      break;
    case 1:
      s += "<!-- " + word(20) + " -->";
      break;
    case 2:
      s += "<?target " + word(20) + "?>";
      break;
    case 3:
      s += "text &e; &#233; " + word(below(300));
      break;
    default:
      if (depth > 0)
        s += element(depth - 1);
    }
  return s + "</" + name + ">";
}

std::string document(int i) {
  std::string s = "<?xml version=\"1.0\" encoding=\"" +
                  one_of<std::string>({"UTF-8", "ISO-8859-1", "US-ASCII", "unknown-9"}) + "\"?>\n";
  s += "<!DOCTYPE r [<!ENTITY e \"an &#101;ntity &f;\"><!ENTITY f \"<b>deep</b>\"><!ENTITY % p \"<!ELEMENT q "
       "ANY>\">"
       " %p; <!ELEMENT r (a|b|(c,d+)*)*><!ATTLIST r a CDATA #IMPLIED b (x|y) \"x\" c NMTOKENS #FIXED \"t u\">"
       "<!NOTATION n SYSTEM \"s\"><!ENTITY x SYSTEM \"file\" NDATA n>]>\n<r xmlns=\"u\" xmlns:p=\"v\" "
       "p:a=\"1\">";
  for (int k = 0; k < 20; ++k)
    s += element(6);
  std::string open;
  std::string close;
  for (int k = 0; k < (i % 6 == 0 ? 2000 : 3); ++k) {
    open += "<n>";
    close += "</n>";
  }
  s += open + close + "</r>";
  if (i % 4 == 3) // a mistake somewhere
    s[below(s.size())] = static_cast<char>(below(256));
  return s;
}

void start(void *, const XML_Char *, const XML_Char **) {}
void end(void *, const XML_Char *) {}
void characters(void *, const XML_Char *, int) {}
void one_text(void *, const XML_Char *) {}
void two_texts(void *, const XML_Char *, const XML_Char *) {}
void nothing(void *) {}

void *parser(int i) {
  void *p = i % 2 == 0 ? call("XML_ParserCreate", nullptr).as<void *>()
                       : call("XML_ParserCreateNS", nullptr, '|').as<void *>();
  if (i % 3 != 0) {
    call("XML_SetElementHandler", p, start, end);
    call("XML_SetCharacterDataHandler", p, characters);
    call("XML_SetCommentHandler", p, one_text);
    call("XML_SetProcessingInstructionHandler", p, two_texts);
    call("XML_SetCdataSectionHandler", p, nothing, nothing);
    call("XML_SetDefaultHandler", p, characters);
  }
  call("XML_SetParamEntityParsing", p, 2);
  call("XML_SetHashSalt", p, 7UL);
  return p;
}

} // namespace

MARKS_ON(documents, 1U << 20U) {
  int good = 0;
  for (int i = 0; i < rounds(60); ++i) {
    const std::string s = document(i);
    void *p = parser(i);
    int status = XML_STATUS_OK;
    if (i % 3 == 0) {
      status = call("XML_Parse", p, s.data(), static_cast<int>(s.size()), 1).as<int>();
    } else {
      for (std::size_t at = 0; at < s.size() && status == XML_STATUS_OK;) {
        const std::size_t n = std::min(s.size() - at, 1 + below(400));
        if (i % 2 == 0) {
          void *room = call("XML_GetBuffer", p, static_cast<int>(n)).as<void *>();
          std::memcpy(room, s.data() + at, n);
          status =
              call("XML_ParseBuffer", p, static_cast<int>(n), static_cast<int>(at + n == s.size())).as<int>();
        } else {
          status =
              call("XML_Parse", p, s.data() + at, static_cast<int>(n), static_cast<int>(at + n == s.size()))
                  .as<int>();
        }
        at += n;
      }
    }
    good += static_cast<int>(status == XML_STATUS_OK);
    call("XML_GetErrorCode", p);
    call("XML_ErrorString", call("XML_GetErrorCode", p).as<int>());
    call("XML_GetCurrentLineNumber", p);
    call("XML_GetCurrentColumnNumber", p);
    call("XML_GetCurrentByteIndex", p);
    call("XML_ParserReset", p, nullptr);
    call("XML_ParserFree", p);
  }
  expect(good > 10, "most documents are good ones");
}

MARKS_ON(utf16, 1U << 20U) {
  for (int i = 0; i < rounds(10); ++i) {
    std::string s = "\xff\xfe";
    for (const char c : "<?xml version='1.0'?><r a='b'>" + element(5) + "</r>") {
      s += c;
      s += '\0';
    }
    void *p = parser(i);
    call("XML_Parse", p, s.data(), static_cast<int>(s.size()), 1);
    call("XML_ParserFree", p);
  }
  call("XML_ExpatVersion");
  call("XML_GetFeatureList");
}
