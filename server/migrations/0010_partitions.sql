-- Creates and drops daily partitions without blocking readers or writers.
--
-- Attaching a partition blocks readers only if there is a default partition, which PostgreSQL has to lock and scan.
-- With a default partition, partitions cannot be detached concurrently either. So the default partitions are removed.
-- They are not needed: partitions are created a week ahead, and rows are written with the current time.

create or replace function ensure_days(parent text, first_day date, days int) returns void language plpgsql
  -- Limits how long other statements may have to wait behind this one.
  set lock_timeout = '500ms' as $$
declare
  day date;
  partition text;
begin
  perform pg_advisory_xact_lock(hashtext('ensure_days'));
  for day in select first_day + n from generate_series(0, days - 1) as n loop
    partition := parent || '_' || to_char(day, 'YYYYMMDD');
    continue when to_regclass(format('%I', partition)) is not null;
    begin
      execute format('create table %I (like %I including all excluding indexes)', partition, parent);
      perform only_through_whole(format('%I', partition)::regclass);
      execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, partition,
        day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
    exception when duplicate_table then
      -- Another process created it just before we got the lock. The check above may have used a stale catalog cache.
      null;
    end;
  end loop;
end $$;

drop function drop_days(text, text, date);

-- The six tables are locked from here to the end. If the lock had to wait for a long read, every insert would wait
-- behind it. So each attempt is short, and locks either all six tables or none.
do $$
declare
  tries int := 0;
begin
  loop
    begin
      set local lock_timeout = '1s';
      lock table request_log, refusal_hours, traffic_hours, events, delivery_attempts, delivery_hours
        in access exclusive mode;
      exit;
    exception when lock_not_available then
      tries := tries + 1;
      if tries = 300 then
        raise exception 'a table is read for longer than ten minutes; start again when that report or dump has ended';
      end if;
    end;
    perform pg_sleep(1);
  end loop;
  set local lock_timeout = 0;
end $$;

-- Rows in a default partition, of days without a partition, are moved to a new partition.
do $$
declare
  parent text;
  time_column text;
  day date;
begin
  for parent, time_column in
    values ('request_log', 'at'), ('refusal_hours', 'hour'), ('traffic_hours', 'hour'), ('events', 'created_at'),
      ('delivery_attempts', 'at'), ('delivery_hours', 'hour')
  loop
    execute format('alter table %I detach partition %I', parent, parent || '_default');
    execute format('grant select on %I to current_user', parent || '_default');
    for day in execute format('select distinct (%I at time zone ''UTC'')::date from %I', time_column, parent || '_default')
    loop
      perform ensure_days(parent, day, 1);
    end loop;
    execute format('insert into %I select * from %I', parent, parent || '_default');
    execute format('drop table %I', parent || '_default');
  end loop;
end $$;

-- The last recorded time of the database's clock, and since when it had no jump of more than a day. Expired rows are
-- not deleted for a day after a jump, so that a wrong clock does not delete data (db/retention.ts).
create table clock_marks (
  only_row boolean primary key default true check (only_row),
  seen_at timestamptz not null,
  steady_since timestamptz not null
);
insert into clock_marks (seen_at, steady_since) values (now(), '-infinity');
