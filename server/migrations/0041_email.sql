-- Emails: invitations, password resets, and what people are notified of.

-- step: transaction
-- Which expiry was announced. A new expiry of the same key or connection is announced again.
create table announced_expiries (
  -- A key or a connection.
  subject_id uuid not null,
  expires_at timestamptz not null,
  workspace_id uuid not null,
  primary key (subject_id, expires_at)
);
select isolate_workspace('announced_expiries', 'workspace_id');

-- Emails that are not sent yet. A row is deleted when it is sent or given up.
create table mails (
  id uuid primary key,
  kind text not null,
  recipient text not null,
  -- Null for a password reset.
  workspace_id uuid,
  data json not null,
  -- The token of the link in it.
  secret_sealed text,
  created_at timestamptz not null,
  -- When it may be sent. While a process sends it: when another one may.
  due_at timestamptz not null,
  -- Not sent after this.
  expires_at timestamptz not null,
  attempts int not null default 0,
  -- Why the last attempt failed.
  error text
);
create index mails_due on mails (due_at);
select isolate_workspace('mails', 'workspace_id');

-- How many emails an address got, or a workspace caused, in an hour.
create table mail_counts (
  -- A digest of the address or of the workspace's ID.
  subject bytea not null,
  kind text not null,
  hour timestamptz not null,
  count int not null,
  primary key (subject, kind, hour)
);
create index mail_counts_by_hour on mail_counts (hour);

-- What people chose to get. Without a row, their role decides.
create table mail_choices (
  person_id uuid not null references people on delete cascade,
  kind text not null,
  wanted boolean not null,
  primary key (person_id, kind)
);

-- step: transaction
-- At the tenth failure in a row, half of those that disable an endpoint.
create function notify_failing_webhook() returns trigger language plpgsql as $$
begin
  insert into notifications (workspace_id, kind, data)
  values (new.workspace_id, 'webhook_failing', json_build_object('webhook_id', 'whk_' || new.id, 'name', new.name,
    'failures', new.failures, 'failing_since', new.failing_since));
  return null;
end $$;
create trigger notify_failing_webhook after update on webhooks
  for each row when (old.failures < 10 and new.failures >= 10 and new.enabled and new.deleted_at is null)
  execute function notify_failing_webhook();

-- step: transaction
-- When the access token ends, as the network says. Null if it does not end or is not known.
alter table connections add column token_expires_at timestamptz;
