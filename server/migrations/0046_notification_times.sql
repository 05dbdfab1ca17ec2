-- When each kind of notification last happened in a workspace, for the page of alerts.
--
-- Processes of the version before pass notifications on without writing here. What they pass on is missing on the page until
-- it happens again, unless there is an event of it.

-- step: transaction
create table notification_times (
  workspace_id uuid not null,
  kind text not null,
  last_at timestamptz not null,
  -- What it was about: the name of a webhook or a key, an account, a balance.
  subject text not null,
  primary key (workspace_id, kind)
);
select isolate_workspace('notification_times', 'workspace_id');
