/* expat: a document of 10,000 elements, each in the one before, whose handlers make a tree; a recursion walks over it. Then
 * entities within entities, a wide document in small pieces, and documents that are wrong. */
#include "program.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

enum { nesting = 10000 };

struct element {
  struct element *parent, *first, *next;
  unsigned attributes, bytes;
};

struct document {
  struct element *top, *at;
  long elements;
};

static void XMLCALL begin(void *data, const XML_Char *name, const XML_Char **attributes) {
  struct document *d = data;
  struct element *e = calloc(1, sizeof *e);
  if (e == NULL)
    abort();
  for (; *attributes != NULL; attributes += 2)
    e->attributes += (unsigned)atoi(attributes[1]);
  e->bytes = (unsigned)strlen(name);
  e->parent = d->at;
  if (d->at == NULL) {
    d->top = e;
  } else {
    e->next = d->at->first;
    d->at->first = e;
  }
  d->at = e;
  if (++d->elements % 1000 == 0)
    let_others_run();
}

static void XMLCALL end(void *data, const XML_Char *name) {
  struct document *d = data;
  (void)name;
  d->at = d->at->parent;
}

static void XMLCALL characters(void *data, const XML_Char *bytes, int length) {
  struct document *d = data;
  for (int i = 0; i < length; ++i)
    d->at->bytes = d->at->bytes * 31 + (unsigned char)bytes[i];
}

/* Frees it too. */
static unsigned long walk(struct element *e, long depth) {
  unsigned long sum = e->attributes * 7UL + e->bytes + (unsigned long)depth;
  for (struct element *c = e->first; c != NULL;) {
    struct element *next = c->next;
    sum = sum * 33 + walk(c, depth + 1);
    c = next;
  }
  free(e);
  return sum;
}

static void parse(struct text *out, const char *name, const char *bytes, size_t length, size_t piece) {
  struct document d = {NULL, NULL, 0};
  XML_Parser parser = XML_ParserCreate(NULL);
  if (parser == NULL)
    abort();
  XML_SetUserData(parser, &d);
  XML_SetElementHandler(parser, begin, end);
  XML_SetCharacterDataHandler(parser, characters);
  enum XML_Status status = XML_STATUS_OK;
  for (size_t at = 0; at < length && status == XML_STATUS_OK; at += piece) {
    const size_t n = length - at < piece ? length - at : piece;
    status = XML_Parse(parser, bytes + at, (int)n, at + n == length);
  }
  if (status == XML_STATUS_OK)
    say(out, "%s: %ld elements", name, d.elements);
  else
    say(out, "%s: line %lu: %s", name, (unsigned long)XML_GetCurrentLineNumber(parser),
        XML_ErrorString(XML_GetErrorCode(parser)));
  say(out, ", %016lx\n", d.top == NULL ? 0UL : walk(d.top, 0));
  XML_ParserFree(parser);
}

static void parse_text(struct text *out, const char *name, const char *text) {
  parse(out, name, text, strlen(text), 7);
}

static struct text nested, wide, entities;

void prepare(void) {
  for (int i = 0; i < nesting; ++i)
    say(&nested, "<e%d a='%d' b='%d'>text %d", i % 10, i, i * 3 % 101, i);
  for (int i = nesting; i-- > 0;)
    say(&nested, "</e%d>", i % 10);

  say(&wide, "<?xml version='1.0' encoding='ISO-8859-1'?>\n<!-- wide --><all>");
  for (int i = 0; i < 5000; ++i)
    say(&wide, "<row id='%d'><![CDATA[<%d>]]>&#%d;&lt;&amp;</row>\n", i, i, 65 + i % 26);
  say(&wide, "</all>");

  say(&entities, "<!DOCTYPE all [<!ENTITY e0 'x<i/>'>");
  for (int i = 1; i < 8; ++i)
    say(&entities, "<!ENTITY e%d '&e%d;&e%d;'>", i, i - 1, i - 1);
  say(&entities, "<!ELEMENT all (a, (b | c)*, (d, (e | (f, g)+)?))>]><all at='1'>&e7;</all>");
}

void work(struct text *out, long size) {
  for (long i = 0; i < size; ++i) {
    parse(out, "nested", nested.bytes, nested.length, 4096);
    parse(out, "wide", wide.bytes, wide.length, 61);
    parse(out, "entities", entities.bytes, entities.length, 4096);
    parse_text(out, "wrong end", "<a>\n<b>\n</a>");
    parse_text(out, "unknown entity", "<a>&none;</a>");
    parse_text(out, "twice", "<a x='1' x='2'/>");
    parse_text(out, "unfinished", "<a><b/>");
  }
}
