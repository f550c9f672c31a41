/* SQLite in memory: joins, orders, recursive queries, functions of the program, patterns, triggers, windows, errors. */
#include "program.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static void must(int status, sqlite3 *db) {
  if (status != SQLITE_OK && status != SQLITE_DONE)
    abort();
  (void)db;
}

static int say_row(void *out, int columns, char **values, char **names) {
  for (int i = 0; i < columns; ++i)
    say(out, "%s=%s%s", names[i], values[i] == NULL ? "NULL" : values[i], i + 1 < columns ? " " : "\n");
  return 0;
}

static void run(struct text *out, sqlite3 *db, const char *sql) {
  char *error = NULL;
  if (sqlite3_exec(db, sql, say_row, out, &error) != SQLITE_OK)
    say(out, "error: %s\n", error);
  sqlite3_free(error);
}

static void collatz(sqlite3_context *context, int count, sqlite3_value **values) {
  long steps = 0;
  (void)count;
  for (sqlite3_int64 n = sqlite3_value_int64(values[0]); n > 1; ++steps)
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  sqlite3_result_int64(context, steps);
}

/* A function that queries the database anew, on whatever stack it is called on. */
static void inner(sqlite3_context *context, int count, sqlite3_value **values) {
  sqlite3_stmt *s;
  (void)count;
  must(sqlite3_prepare_v2(sqlite3_context_db_handle(context), "SELECT max(v) FROM item WHERE id <= ?", -1, &s,
                          NULL),
       NULL);
  must(sqlite3_bind_value(s, 1, values[0]), NULL);
  sqlite3_step(s);
  let_others_run();
  sqlite3_result_value(context, sqlite3_column_value(s, 0));
  must(sqlite3_finalize(s), NULL);
}

static void longest_step(sqlite3_context *context, int count, sqlite3_value **values) {
  int *most = sqlite3_aggregate_context(context, sizeof *most);
  (void)count;
  if (most != NULL && sqlite3_value_bytes(values[0]) > *most)
    *most = sqlite3_value_bytes(values[0]);
}

static void longest_end(sqlite3_context *context) {
  const int *most = sqlite3_aggregate_context(context, 0);
  sqlite3_result_int(context, most == NULL ? 0 : *most);
}

static void fill(sqlite3 *db) {
  sqlite3_stmt *s;
  must(sqlite3_exec(
           db,
           "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, v INTEGER, kind INTEGER);"
           "CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT UNIQUE);"
           "CREATE TABLE log(text TEXT);"
           "CREATE TRIGGER gone AFTER DELETE ON item BEGIN INSERT INTO log VALUES('gone ' || old.id); END;"
           "CREATE INDEX by_kind ON item(kind, v); BEGIN",
           NULL, NULL, NULL),
       db);
  must(sqlite3_prepare_v2(db, "INSERT INTO item VALUES(?, printf('item-%05d-%s', ?1, hex(?1)), ?, ?)", -1, &s,
                          NULL),
       db);
  for (int i = 1; i <= 2000; ++i) {
    must(sqlite3_bind_int(s, 1, i), db);
    must(sqlite3_bind_int(s, 2, i * 7919 % 10007), db);
    must(sqlite3_bind_int(s, 3, i % 13), db);
    must(sqlite3_step(s), db);
    must(sqlite3_reset(s), db);
  }
  must(sqlite3_finalize(s), db);
  must(sqlite3_exec(db, "INSERT INTO kind SELECT DISTINCT kind, 'kind ' || kind FROM item; COMMIT", NULL,
                    NULL, NULL),
       db);
}

static const char *const queries[] = {
    "SELECT k.name, count(*) AS n, sum(i.v) AS s FROM item i JOIN kind k ON k.id = i.kind GROUP BY k.id "
    "ORDER BY s DESC LIMIT 5",
    "SELECT a.id, b.id AS other FROM item a JOIN item b ON a.kind = b.kind AND a.v = b.v + 1 ORDER BY a.v, "
    "b.id LIMIT 7",
    "WITH RECURSIVE n(i, f, g) AS (SELECT 1, 0, 1 UNION ALL SELECT i + 1, g, f + g FROM n WHERE i < 80) "
    "SELECT max(f) AS fib FROM n",
    "WITH RECURSIVE b(s) AS (SELECT '' UNION ALL SELECT s || x FROM b, (SELECT 'a' AS x UNION SELECT 'b') "
    "WHERE length(s) < 7) "
    "SELECT count(*) AS n, max(s) AS last FROM b",
    "SELECT count(*) AS n, min(name) AS first FROM item WHERE name LIKE '%5-3_3%' OR name GLOB '*[78]'",
    "SELECT id, collatz(v) AS c FROM item ORDER BY c DESC, id LIMIT 5",
    "SELECT id, inner(id) AS m FROM item WHERE id % 400 = 0 ORDER BY upper(name) COLLATE NOCASE DESC",
    "SELECT longest(name) AS l, group_concat(DISTINCT kind) AS g FROM item WHERE id < 50",
    "SELECT id, v, rank() OVER (PARTITION BY kind ORDER BY v) AS r, sum(v) OVER (ORDER BY id ROWS 3 "
    "PRECEDING) AS s FROM item "
    "WHERE id < 400 ORDER BY r DESC, id LIMIT 4",
    "DELETE FROM item WHERE v BETWEEN 100 AND 200; SELECT count(*) AS n, max(text) AS t FROM log",
    "SELECT json_extract('{\"a\": [1, {\"b\": [2, 3]}]}', '$.a[1].b[1]') AS j, round(1e10 / 3, 3) AS r, "
    "date('2020-02-29', '+1 year') AS d",
    "SELECT * FROM none",
    "SELECT (1 + ",
    "INSERT INTO kind VALUES(77, 'kind 3')",
    "SELECT abs(-9223372036854775807 - 1)",
};

static void nested_query(struct text *out, sqlite3 *db) {
  struct text sql = {NULL, 0, 0};
  say(&sql, "SELECT ");
  for (int i = 0; i < 200; ++i)
    say(&sql, "(%d + ", i);
  say(&sql, "1");
  for (int i = 0; i < 200; ++i)
    say(&sql, ")");
  say(&sql, " AS nested");
  run(out, db, sql.bytes);
  free(sql.bytes);
}

/* A connection's mutex belongs to a kernel thread, and a nano-thread may go on in another one. */
void prepare(void) {
  must(sqlite3_config(SQLITE_CONFIG_MULTITHREAD), NULL);
  must(sqlite3_initialize(), NULL);
}

void work(struct text *out, long size) {
  for (long i = 0; i < size; ++i) {
    sqlite3 *db;
    must(sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL), NULL);
    must(sqlite3_create_function(db, "collatz", 1, SQLITE_UTF8, NULL, collatz, NULL, NULL), db);
    must(sqlite3_create_function(db, "inner", 1, SQLITE_UTF8, NULL, inner, NULL, NULL), db);
    must(sqlite3_create_function(db, "longest", 1, SQLITE_UTF8, NULL, NULL, longest_step, longest_end), db);
    fill(db);
    for (size_t q = 0; q < sizeof queries / sizeof *queries; ++q)
      run(out, db, queries[q]);
    nested_query(out, db);
    must(sqlite3_close(db), db);
  }
}
