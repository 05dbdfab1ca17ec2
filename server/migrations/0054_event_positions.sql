-- contract: needs 23
-- One order of events, across changes of the database server: docs/decisions/reading-events.md. No release uses what is dropped.
-- Locks events and its partitions for a moment. Maintenance builds the index for each partition (db/partitions.ts).

alter table events drop column transaction_id;
drop function ensure_event_history();
drop table event_histories;

-- The epoch of the current server, one row. Transaction IDs may begin anew after a restore, and are given again after a
-- failover. So each server that Parley writes to has a higher number than the one before it.
create table event_epoch (
  number bigint not null,
  timeline text not null,
  -- The transaction that wrote this row, and the table that it wrote it to: the row's xmin and tableoid. After the restore of a dump
  -- they are not. One of them alone may be the same by chance: both clusters are often new.
  transaction_id xid8 not null,
  table_id oid not null
);
create unique index event_epoch_is_one on event_epoch ((true));
insert into event_epoch values (0, '', '0', 0);

-- Empty until the first event is published on the server. It fails on a standby, which must not serve events: it may not have all
-- that came before.
create view current_event_epoch as
  select number from event_epoch
  where timeline = left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
    and xmin = transaction_id::xid and tableoid = table_id;

-- For readers: the position of a transaction of this server. Until the server has an epoch, all stored events are of earlier ones.
create function event_position(transaction_id xid8) returns bigint language sql stable as $$
  select (coalesce((select number from current_event_epoch), (select number + 1 from event_epoch)) << 43)
    + transaction_id::text::bigint
$$;

-- The position of an event that is published now: the epoch above, the transaction ID in the lower 43 bits. On a new server it
-- begins the epoch, and others that publish wait for its commit. Numbers are hours, so that two restores of one dump do not
-- begin the same epoch.
create function new_event_position() returns bigint language plpgsql as $$
declare
  epoch bigint := (select number from current_event_epoch);
begin
  if epoch is null then
    perform from event_epoch for update;
    update event_epoch set number = greatest(number + 1, extract(epoch from now())::bigint / 3600),
      timeline = left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
      transaction_id = pg_current_xact_id(), table_id = tableoid
    where not exists (select from current_event_epoch);
    epoch := (select number from event_epoch);
  end if;
  return (epoch << 43) + pg_current_xact_id()::text::bigint;
end $$;

-- Events that are stored already have the same position, and are read in the order of their IDs.
alter table events add column position bigint not null default 0;
alter table events alter column position set default new_event_position();
create index events_by_position on only events (workspace_id, position);
