-- Maintenance: one process at a time deletes expired rows, makes partitions and checks the ledger. All tables are new.

-- The process that does it. It renews `until` every few seconds; another process takes over once that time has passed.
-- `owner_id` is unique so that PostgreSQL counts it as a key: a transaction of the owner locks the row `for key share`,
-- which a takeover has to wait for, and a renewal does not.
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

-- The sum of a workspace's credit entries before a time, so that the next check of the ledger reads only later ones.
create table credit_checks (
  workspace_id uuid primary key,
  checked_until timestamptz not null,
  entered bigint not null
);
select isolate_workspace('credit_checks', 'workspace_id');
