-- Enabling, disabling and deleting an endpoint no longer rewrites its deliveries in one statement.
--
-- Locks: webhooks exclusively, for a moment (a new column without a default).
--
-- While a process of the version before runs: it still writes held deliveries with a due_at of infinity. They are released
-- and deleted like the others. It shows other deliveries of a disabled endpoint as pending, and holds those that it claims.

-- When it was disabled; null if it is enabled, or was disabled by the version before. Manual retries and test events from then
-- on are attempted although it is disabled.
alter table webhooks add column disabled_at timestamptz;

-- Work on the deliveries of an endpoint that are too many for one statement. Any process takes the next step, in a short
-- transaction: release makes retries due that were planned for later when the endpoint was enabled, delete removes the
-- deliveries of a deleted endpoint, retry and rotate make due what has failed since a time.
create table endpoint_steps (
  webhook_id uuid not null,
  workspace_id uuid not null,
  work text not null check (work in ('release', 'delete', 'retry', 'rotate')),
  asked_at timestamptz not null,
  -- Of retry and rotate: the time of the last attempt that was looked at.
  position_at timestamptz,
  -- The last delivery that was looked at.
  position uuid,
  -- How many deliveries were changed so far.
  done int not null default 0,
  step_at timestamptz not null,
  primary key (webhook_id, work)
);
create index endpoint_steps_by_time on endpoint_steps (step_at);
select isolate_workspace('endpoint_steps', 'workspace_id');
