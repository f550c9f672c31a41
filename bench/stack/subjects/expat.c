// Counts what is in the XML document that it reads.
#include <expat.h>
#include <stdio.h>

static unsigned elements, depth, deepest, characters;

static void start(void *unused, const XML_Char *name, const XML_Char **attributes) {
  (void)unused, (void)name, (void)attributes;
  ++elements;
  if (++depth > deepest)
    deepest = depth;
}
static void end(void *unused, const XML_Char *name) {
  (void)unused, (void)name;
  --depth;
}
static void text(void *unused, const XML_Char *s, int length) {
  (void)unused, (void)s;
  characters += (unsigned)length;
}

int main(void) {
  XML_Parser parser = XML_ParserCreate(NULL);
  XML_SetElementHandler(parser, start, end);
  XML_SetCharacterDataHandler(parser, text);
  char room[4096];
  size_t size;
  do {
    size = fread(room, 1, sizeof room, stdin);
    if (XML_Parse(parser, room, (int)size, size == 0) != XML_STATUS_OK) {
      fprintf(stderr, "%s\n", XML_ErrorString(XML_GetErrorCode(parser)));
      return 1;
    }
  } while (size > 0);
  printf("%u elements, %u deep, %u characters\n", elements, deepest, characters);
  XML_ParserFree(parser);
  return 0;
}
