-- What one process does for all: deleting expired rows, making partitions, checking the ledger, erasing people.

-- The process that does the maintenance. It renews `until` every few seconds; another process takes over once that time
-- has passed. `owner_id` is unique so that PostgreSQL counts it as a key: a transaction of the owner locks the row `for
-- key share`, which a takeover has to wait for, and a renewal does not.
create table maintenance_owner (
  only_row boolean primary key default true check (only_row),
  owner_id uuid unique,
  -- For people: the machine and the process ID.
  process text,
  since timestamptz,
  until timestamptz not null default '-infinity'
);
insert into maintenance_owner default values;

-- The last run of each step.
create table maintenance_steps (
  step text primary key,
  every_ms int not null,
  process text not null,
  ended_at timestamptz not null,
  duration_ms int not null,
  succeeded_at timestamptz,
  -- Of the last run, if it failed.
  error text
);

-- The last recorded time of the database's clock, and since when it had no jump of more than a day. Expired rows are
-- not deleted for a day after a jump, so that a wrong clock does not delete data (db/retention.ts).
create table clock_marks (
  only_row boolean primary key default true check (only_row),
  seen_at timestamptz not null,
  steady_since timestamptz not null
);
insert into clock_marks (seen_at, steady_since) values (now(), '-infinity');

-- How far the removal of old contents is. Our IDs begin with the time, so each run continues where the last one ended.
create table content_removals (
  direction text primary key check (direction in ('sent', 'received')),
  -- The last message that was looked at.
  position uuid not null,
  -- When the first message was looked at. If the database's clock has jumped since, older messages may have been added.
  began_at timestamptz not null
);

-- People whose data are erased, in steps that a process takes for all. What identifies the person is in the row only
-- until the erasure has ended.
create table erasures (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  -- Who asked for it: an email address, or the command line.
  asked_by text not null,
  asked_at timestamptz not null,
  -- The number or user ID that was named; null at the end.
  number text,
  user_id text,
  -- All that are known of the person; null before they were looked up, and at the end.
  numbers text[],
  user_ids text[],
  step_at timestamptz not null,
  ended_at timestamptz,
  -- How many rows were changed or removed so far, by kind.
  removed json not null default '{}'
);
create index erasures_open on erasures (step_at) where ended_at is null;
create index erasures_by_workspace on erasures (workspace_id, asked_at desc, id desc);
select isolate_workspace('erasures', 'workspace_id');
