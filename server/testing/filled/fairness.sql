select ensure_days('unauthenticated_minutes', pg_temp.at(1)::date, 2);
insert into unauthenticated_minutes (minute, code, client, count, logged, first_at, last_at)
select pg_temp.at(day), 'invalid_key', '192.0.2.1', 12, 10, pg_temp.at(day), pg_temp.at(day) from unnest(array[1, 2]) as day;
