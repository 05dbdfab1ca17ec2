-- What endpoints and people are notified of, and emails.

-- What has happened and was not passed on yet. Written in the transaction of the change, and deleted by the transaction
-- that passes it on.
create table notifications (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null,
  -- For example credits_low.
  kind text not null,
  data json not null,
  created_at timestamptz not null default now()
);
create index notifications_by_time on notifications (created_at);
select isolate_workspace('notifications', 'workspace_id');

-- When each kind of notification last happened, for the page of alerts.
create table notification_times (
  workspace_id uuid not null,
  kind text not null,
  last_at timestamptz not null,
  -- What it was about: the name of a webhook or a key, an account, a balance.
  subject text not null,
  primary key (workspace_id, kind)
);
select isolate_workspace('notification_times', 'workspace_id');

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
