-- Reading events in an order in which none is skipped: docs/decisions/reading-events.md.

-- The histories of transaction IDs in which events were written. A failover, a restore and an upgrade of PostgreSQL begin a
-- new one. A cursor names its history.
create table event_histories (
  number int generated always as identity primary key,
  id uuid not null unique default gen_random_uuid(),
  system_identifier text not null,
  timeline int not null,
  -- Cursors of the histories before it continue here at the latest: IDs from here on may have been given a second time.
  begins_at xid8 not null,
  -- False if the IDs of the history before it belong to another cluster. Its cursors have expired.
  continues boolean not null,
  -- Events without a transaction ID were created before this time.
  old_until timestamptz not null,
  -- The transaction that last wrote this row, which is done every few seconds. In the cluster that wrote it, it is the row's xmin.
  transaction_id xid8 not null default pg_current_xact_id()
) with (fillfactor = 50);

-- Begins a history if the server is not that of the last one. If the transaction IDs of the stored events belong to another
-- cluster, as after a restore of a dump, they are forgotten: those events are then older than all that follow. This locks events
-- for a moment and reads none of its rows. Maintenance builds the index for each partition (db/partitions.ts).
create function ensure_event_history() returns void language plpgsql
  -- Limits how long others wait behind it. Longer than the second after which PostgreSQL makes an autovacuum give way.
  set lock_timeout = '2s' as $$
declare
  here_system text := (select system_identifier::text from pg_control_system());
  here_timeline int := ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int;
  latest record;
  day date;
  last_day date;
begin
  perform pg_advisory_xact_lock(hashtext('event_histories'));
  select h.*, h.xmin::text = h.transaction_id::xid::text as was_written_here into latest
    from event_histories h order by h.number desc limit 1;
  if latest.system_identifier = here_system and latest.timeline = here_timeline then
    return;
  end if;
  if latest.system_identifier = here_system or latest.was_written_here then
    insert into event_histories (system_identifier, timeline, begins_at, continues, old_until)
      values (here_system, here_timeline, latest.transaction_id, true, latest.old_until);
    return;
  end if;
  alter table events drop column if exists transaction_id;
  alter table events add column transaction_id xid8;
  create index events_by_transaction on only events (workspace_id, transaction_id) where transaction_id is not null;
  -- Separately: a default that is added together with its column would be computed for every row.
  alter table events alter column transaction_id set default pg_current_xact_id();
  for day in
    select to_date(right(c.relname, 8), 'YYYYMMDD') from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'events'::regclass and not i.inhdetachpending
  loop
    if exists (select from events e where e.created_at >= day::timestamp at time zone 'UTC'
        and e.created_at < (day + 1)::timestamp at time zone 'UTC') then
      last_day := greatest(last_day, day);
    end if;
  end loop;
  insert into event_histories (system_identifier, timeline, begins_at, continues, old_until)
    values (here_system, here_timeline, '0', false, coalesce((last_day + 1)::timestamp at time zone 'UTC', '-infinity'));
end $$;

-- Locks events and its partitions for a moment. The index is built later, without a lock.
select ensure_event_history();
