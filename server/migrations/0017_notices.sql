-- What the network reports about templates, accounts, numbers and people.

-- Adding columns without a default, or with a constant one, takes a short exclusive lock and rewrites nothing.
alter table templates
  -- The network's kind of template, such as ORDER_STATUS. Null until the next sync, or if the network names none.
  add column sub_category text;

alter table connections
  -- What the network's notices say about the account: ACTIVE, FLAGGED, RESTRICTED, BANNED, DISCONNECTED or DELETED.
  add column status text not null default 'ACTIVE',
  add column status_reason text,
  -- When a restriction ends. Null if it does not end by itself.
  add column status_until timestamptz,
  -- The time of the notice, so that an older one does not replace a newer one.
  add column status_at timestamptz;

-- Why the status or the quality rating of a sender changed, as far as the network said so.
alter table senders add column status_reason text;

-- Whether a person wants marketing messages from a number. Only those who chose have a row.
create table marketing_preferences (
  sender_id uuid not null references senders,
  -- The phone number, or the network's user ID if it withholds the number.
  person text not null,
  workspace_id uuid not null,
  user_id text,
  -- stop or resume
  marketing text not null,
  changed_at timestamptz not null,
  primary key (sender_id, person)
);
select isolate_workspace('marketing_preferences', 'workspace_id');
