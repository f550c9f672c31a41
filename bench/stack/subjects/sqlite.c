// Runs the SQL statements of the file named first on a database in memory.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static int print_row(void *unused, int columns, char **values, char **names) {
  (void)unused, (void)names;
  for (int i = 0; i < columns; ++i)
    printf("%s%c", values[i] != NULL ? values[i] : "null", i + 1 < columns ? '|' : '\n');
  return 0;
}

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
  static char text[1 << 16];
  if (file == NULL)
    return 2;
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  sqlite3 *db;
  char *message = NULL;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK)
    return 2;
  const int failed = sqlite3_exec(db, text, print_row, NULL, &message) != SQLITE_OK;
  if (failed)
    fprintf(stderr, "%s\n", message);
  sqlite3_close(db);
  return failed;
}
