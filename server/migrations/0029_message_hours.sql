-- The overview counts messages by their status. These counts were read from an index that contained the status, which made
-- every status change all indexes of messages. Now they are kept.
--
-- Locks: messages against writing, for a moment.

-- step: transaction
-- How many messages of a workspace that were created in an hour (UTC) have which status now. Queued ones are not counted.
create table message_hours (
  workspace_id uuid not null,
  hour timestamptz not null,
  sent int not null,
  delivered int not null,
  read int not null,
  failed int not null,
  primary key (workspace_id, hour)
) with (fillfactor = 50);
select isolate_workspace('message_hours', 'workspace_id');

-- What changes these counts, and is not added to them yet. Transactions only insert here, so that none waits for another
-- that counts the same hour.
create table message_hour_changes (
  workspace_id uuid not null,
  hour timestamptz not null,
  sent int not null,
  delivered int not null,
  read int not null,
  failed int not null
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
create index message_hour_changes_by_hour on message_hour_changes (workspace_id, hour);
select isolate_workspace('message_hour_changes', 'workspace_id');

-- Hours from this one on are counted. Earlier messages may have changed before the trigger existed; maintenance counts them,
-- hour by hour. -infinity when it has.
create table message_hours_from (
  hour timestamptz not null
);

-- step: transaction
-- A trigger, because processes of the version before change messages too.
create function count_message_statuses() returns trigger language plpgsql as $$
begin
  insert into message_hour_changes (workspace_id, hour, sent, delivered, read, failed)
  select * from (
    select workspace_id, date_trunc('hour', created_at, 'UTC') as hour,
      coalesce(sum(change) filter (where status = 'sent'), 0) as sent,
      coalesce(sum(change) filter (where status = 'delivered'), 0) as delivered,
      coalesce(sum(change) filter (where status = 'read'), 0) as read,
      coalesce(sum(change) filter (where status = 'failed'), 0) as failed
    from (
      select workspace_id, created_at, status, 1 as change from changed_to
      union all
      select workspace_id, created_at, status, -1 from changed_from
    ) as each group by 1, 2
  ) as counts where (sent, delivered, read, failed) <> (0, 0, 0, 0);
  return null;
end $$;
create trigger count_message_statuses after update on messages
  referencing old table as changed_from new table as changed_to
  for each statement execute function count_message_statuses();
-- In this step, because the step before may have run long ago. The lock that the trigger took is held until the commit, so no
-- message of a later hour can have changed before.
insert into message_hours_from values (date_trunc('hour', clock_timestamp() + interval '1 minute', 'UTC') + interval '1 hour');
