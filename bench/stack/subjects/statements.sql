create table t(a integer primary key, b text, c real);
create index t_b on t(b);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 300)
  insert into t(b, c) select printf('%05d', i * 7919 % 1009), i / 7.0 from n;
select count(*), sum(c), min(b), max(b) from t;
select substr(b, 1, 2), count(*), avg(c) from t group by 1 having count(*) > 2 order by 2 desc, 1 limit 5;
select x.a, y.b from t x join t y on x.a = y.a + 1 where x.b like '%9%' and y.c > 20 order by y.c desc limit 5;
select a, rank() over (partition by a % 3 order by c) from t order by a limit 6;
update t set b = b || '!' where a % 5 = 0;
delete from t where c > (select avg(c) from t);
select json_extract('{"a":[1,2,{"b":3}]}', '$.a[2].b'), date(0, 'unixepoch'), group_concat(b) from t where a < 9;
