// Marks of SQLite: a database in memory and one in a file; statements of all kinds, good and bad.
#include "marks.hpp"

#include <cstdio>
#include <sqlite3.h>

using namespace nth::marks;

namespace {

const std::vector<std::string> &statements() {
  static const std::vector<std::string> all = {
      "create table t(a integer primary key, b text, c real, d blob)",
      "create table u(a integer references t(a), e text collate nocase, unique(a, e)) without rowid",
      "create index t_b on t(b, c desc) where c > 0",
      "create view v as select a, b, c * 2 as f from t where c between 1 and 9",
      "create trigger r after insert on t begin update t set c = new.c + 1 where a = new.a; end",
      "insert into t(b, c) values('x', 1.5), ('y', 2.5), ('z', -3e10)",
      "with recursive n(i) as (select 1 union all select i + 1 from n where i < 500) insert into t(b, c, d) "
      "select "
      "printf('%d-%s', i, hex(randomblob(20))), i / 7.0, randomblob(i) from n",
      "insert or ignore into u select a, substr(b, 2) from t",
      "insert into t(a, b) values(1, 'again') on conflict(a) do update set b = excluded.b || '!'",
      "select count(*), sum(c), avg(c), min(b), max(b), total(c), group_concat(b) from t",
      "select b, count(*) from t group by substr(b, 1, 1) having count(*) > 1 order by 2 desc, 1 limit 5 "
      "offset 1",
      "select * from t join u using(a) left join v on v.a = u.a where t.b like '1%' and u.e glob '*[0-9]*' "
      "order by e",
      "select a from t union select a from u except select a from v intersect select 5 order by 1",
      "select a, rank() over (partition by a % 3 order by c rows between 2 preceding and current row), "
      "sum(c) over w, lag(b, 1) over w, ntile(4) over w from t window w as (order by a)",
      "select (select max(c) from t x where x.a < t.a), exists(select 1 from u where u.a = t.a) from t limit "
      "50",
      "select json_extract('{\"a\":[1,2,{\"b\":3}]}', '$.a[2].b'), json_group_array(a) from t",
      "select value, key from json_each('[1,2,\"three\",{\"x\":null}]')",
      "select upper(b), lower(b), trim(b), replace(b, '1', '2'), instr(b, '3'), unicode(b), quote(d), "
      "abs(c), "
      "round(c, 2), typeof(d), length(d), coalesce(null, b), nullif(b, 'x'), char(65, 66), zeroblob(9) from "
      "t limit 40",
      "select date('now'), time('12:00', '+1 hour'), datetime(0, 'unixepoch', 'localtime'), strftime('%Y %j "
      "%W', 0), "
      "julianday('2024-02-29')",
      "select sqrt(c), case when c > 5 then 'big' when c > 1 then 'mid' else cast(c as text) end from t "
      "where c > 0",
      "select random() % 5, changes(), last_insert_rowid(), sqlite_version(), hex(b), iif(c > 1, 2, 3) from "
      "t limit 3",
      "update t set b = b || '-' || a, c = c * 1.1 where a in (select a from u where e > '1') or b is null",
      "delete from u where rowid in (select 1)",
      "delete from u where a % 3 = 0",
      "begin; insert into t(b) values('in'); savepoint s; delete from t where a > 300; rollback to s; commit",
      "pragma integrity_check",
      "pragma table_info(t)",
      "pragma index_list(t)",
      "pragma foreign_key_check",
      "pragma journal_mode = wal",
      "pragma cache_size = 20",
      "pragma user_version = 5",
      "analyze",
      "reindex",
      "vacuum",
      "explain query plan select * from t join u using(a) where b = 'x' or c > 3",
      "explain select * from t order by c",
      "alter table t add column g integer default 7",
      "alter table t rename column g to h",
      "alter table u rename to w",
      "drop trigger r",
      "alter table w rename to u",
      "attach ':memory:' as other; create table other.q(z); insert into other.q values(1); detach other",
      "create virtual table f using fts5(body)",
      "insert into f select b from t",
      "select * from f where f match '1* OR x' order by rank limit 5",
      "create virtual table g using rtree(id, x0, x1)",
      "insert into g select a, c, c + 1 from t where c is not null",
      "select count(*) from g where x0 > 5 and x1 < 20",
      "select b from t where b regexp 'x'",
      "select from where",
      "select * from none",
      "select nofunction(1)",
      "select ((((((((((((((((((((1+2)*3)+4)*5)+6)*7)+8)*9)+10)*11)+12)*13)+14)*15)+16)*17)+18)*19)+20)*21)",
      "insert into t(a) values(1)",
      "drop view v",
      "drop table u",
      "select group_concat(b, ',') from t"};
  return all;
}

int row(void *, int, char **, char **) { return 0; }

void run_all(void *db) {
  int good = 0;
  for (const std::string &s : statements()) {
    char *message = nullptr;
    const int status = call("sqlite3_exec", db, s.c_str(), row, nullptr, &message).as<int>();
    good += static_cast<int>(status == SQLITE_OK);
    call("sqlite3_free", message);
    call("sqlite3_errmsg", db);
    call("sqlite3_errcode", db);
    call("sqlite3_complete", s.c_str());
  }
  expect(good > 35, "most statements are good ones");
}

void run_prepared(void *db) {
  for (const std::string &s : statements()) {
    sqlite3_stmt *statement = nullptr;
    if (call("sqlite3_prepare_v2", db, s.c_str(), -1, &statement, nullptr).as<int>() != SQLITE_OK)
      continue;
    for (int k = 0; k < 200 && call("sqlite3_step", statement).as<int>() == SQLITE_ROW; ++k)
      for (int column = 0; column < call("sqlite3_column_count", statement).as<int>(); ++column) {
        call("sqlite3_column_type", statement, column);
        call("sqlite3_column_text", statement, column);
        call("sqlite3_column_double", statement, column);
        call("sqlite3_column_int64", statement, column);
        call("sqlite3_column_blob", statement, column);
        call("sqlite3_column_bytes", statement, column);
        call("sqlite3_column_name", statement, column);
      }
    call("sqlite3_sql", statement);
    call("sqlite3_reset", statement);
    call("sqlite3_finalize", statement);
  }
}

void run_bound(void *db) {
  sqlite3_stmt *statement = nullptr;
  call("sqlite3_prepare_v2", db, "insert into t(b, c, d, h) values(?1, ?2, :d, @h)", -1, &statement, nullptr);
  expect(statement != nullptr, "a prepared statement");
  for (int i = 0; i < rounds(50); ++i) {
    call("sqlite3_bind_text", statement, 1, text(below(200)), -1, SQLITE_TRANSIENT);
    call("sqlite3_bind_double", statement, 2, real());
    call("sqlite3_bind_blob", statement, 3, text(100), 100, SQLITE_TRANSIENT);
    call("sqlite3_bind_int64", statement, 4, static_cast<long>(below(1000)));
    call("sqlite3_bind_parameter_index", statement, ":d");
    call("sqlite3_step", statement);
    call("sqlite3_reset", statement);
    call("sqlite3_clear_bindings", statement);
  }
  call("sqlite3_finalize", statement);
}

void run_on(const char *path) {
  sqlite3 *db = nullptr;
  expect(call("sqlite3_open", path, &db).as<int>() == SQLITE_OK, "an open database");
  run_all(db);
  run_bound(db);
  run_prepared(db);
  call("sqlite3_changes", db);
  call("sqlite3_total_changes", db);
  call("sqlite3_last_insert_rowid", db);
  char **table = nullptr;
  int rows = 0;
  int columns = 0;
  call("sqlite3_get_table", db, "select a, b from t limit 20", &table, &rows, &columns, nullptr);
  call("sqlite3_free_table", table);
  sqlite3 *copy = nullptr;
  sqlite3_open(":memory:", &copy);
  void *backup = call("sqlite3_backup_init", copy, "main", db, "main").as<void *>();
  call("sqlite3_backup_step", backup, -1);
  call("sqlite3_backup_finish", backup);
  call("sqlite3_close", copy);
  call("sqlite3_close", db);
}

} // namespace

MARKS_ON(in_memory, 1U << 20U) { run_on(":memory:"); }

MARKS_ON(in_a_file, 1U << 20U) {
  char path[] = "/tmp/nth_marks_sqlXXXXXX";
  call_at("mkstemp", function_named("mkstemp"), path);
  run_on(path);
  for (const char *tail : {"", "-wal", "-shm", "-journal"})
    std::remove((std::string(path) + tail).c_str());
}

MARKS_ON(library, 1U << 20U) {
  call("sqlite3_initialize");
  for (int i = 0; i < rounds(50); ++i) {
    call("sqlite3_free", call("sqlite3_mprintf", "%d %s %q %Q %w %f %z", 5, text(20), text(20), text(20), "a",
                              real(), nullptr)
                             .as<void *>());
    char room[200];
    call("sqlite3_snprintf", 200, room, "%.10g %!.15f %lld %x %c %p", real(), real(), 5L, 255, 'c', room);
    void *p = call("sqlite3_malloc", static_cast<int>(below(5000))).as<void *>();
    call("sqlite3_free", call("sqlite3_realloc", p, static_cast<int>(1 + below(9000))).as<void *>());
    call("sqlite3_strglob", "*a[b-d]?*", text(50));
    call("sqlite3_strlike", "%a_b%", text(50), 0U);
    call("sqlite3_stricmp", text(5), text(5));
    call("sqlite3_randomness", 50, room);
  }
  call("sqlite3_memory_used");
  call("sqlite3_libversion");
  call("sqlite3_compileoption_get", 3);
  call("sqlite3_shutdown");
}
