update maintenance_owner set owner_id = pg_temp.id('owner', 1), process = 'app-1:4711', since = pg_temp.at(4),
  until = pg_temp.at(5);
insert into maintenance_steps (step, every_ms, process, ended_at, duration_ms, succeeded_at, error)
values ('partitions', 60000, 'app-1:4711', pg_temp.at(5), 12, pg_temp.at(5), null),
  ('retention', 3600000, 'app-1:4711', pg_temp.at(5), 30000, pg_temp.at(4), 'canceling statement due to lock timeout');

insert into credit_checks (workspace_id, checked_until, entered)
select pg_temp.id('workspace', w), pg_temp.at(2), 1000 - 4 * w from generate_series(1, 2) as w;
