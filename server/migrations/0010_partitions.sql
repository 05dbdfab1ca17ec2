-- Daily partitions are made and dropped without stopping anybody who reads or writes.
--
-- Attaching a partition conflicts with readers only where there is a default partition, which has to be locked and
-- searched; and with one, no partition can be detached concurrently. So the default partitions go. A row finds its
-- partition all the same: days are made a week ahead, and rows are written with the time of now.

-- Locks: for a moment, each of the six tables as a whole. Rows that a default partition holds, of days for which there was
-- no partition in time, are moved into one.
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
    execute format('create table %I (like %I including all excluding indexes)', partition, parent);
    perform only_through_whole(format('%I', partition)::regclass);
    execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, partition,
      day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
  end loop;
end $$;

drop function drop_days(text, text, date);

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
