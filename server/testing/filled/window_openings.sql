insert into window_openings (subject, opened_at)
select 'k:' || pg_temp.id('key', w), pg_temp.at(1) from generate_series(1, 2) as w;
insert into counted_since (since) values (pg_temp.at(1));
