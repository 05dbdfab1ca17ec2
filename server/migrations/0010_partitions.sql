-- Daily partitions are made and dropped without stopping anybody who reads or writes.
--
-- Attaching a partition conflicts with readers only where there is a default partition, which has to be locked and
-- searched; and with one, no partition can be detached concurrently. So the default partitions go. A row finds its
-- partition all the same: days are made a week ahead, and rows are written with the time of now.

create or replace function ensure_days(parent text, first_day date, days int) returns void language plpgsql
  -- Nobody waits behind us for longer than this.
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
      -- Made by another process just before we got the lock: PostgreSQL may still remember that there was none.
      null;
    end;
  end loop;
end $$;

drop function drop_days(text, text, date);

-- The six tables are locked as a whole from here to the end. Behind a long read this would wait, and every insert behind
-- it; so each try is short, and all six are locked or none.
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

-- Rows that a default partition holds, of days for which there was no partition in time, are moved into one.
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

-- When the database's clock was last seen, and since when it has gone on without a jump of more than a day. Nothing is
-- removed for its age for a day after a jump: a clock that was set wrong must not cost what is kept (db/retention.ts).
create table clock_marks (
  only_row boolean primary key default true check (only_row),
  seen_at timestamptz not null,
  steady_since timestamptz not null
);
insert into clock_marks (seen_at, steady_since) values (now(), '-infinity');
