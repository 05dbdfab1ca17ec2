insert into batch_writers (id, last_batch, recorded_at)
select pg_temp.id('writer', w), 7, pg_temp.at(5) from generate_series(1, 2) as w;
