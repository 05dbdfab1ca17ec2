-- Workspaces, API keys, webhook endpoints, and the request log.
--
-- Row-level security isolates workspaces: a connection sees only the rows of the workspace in the setting
-- parley.workspace, or all rows if the setting is 'all'. Without the setting it sees no rows.

create function wall_off(relation regclass, owner_column text) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', relation);
  execute format('alter table %s force row level security', relation);
  execute format(
    'create policy wall on %s using ((select current_setting(''parley.workspace'', true)) in (''all'', %I::text))',
    relation, owner_column);
end $$;

-- Daily partitions ------------------------------------------------------------------------------------------------
-- Every table with daily partitions also has a default partition, so a row is never rejected because of its time.

-- Row-level security of a partitioned table does not apply to direct queries of its partitions. So no role, not even the
-- owner, may read a partition directly. Inserts are allowed, because COPY does not work with row-level security.
create function only_through_whole(partition regclass) returns void language plpgsql as $$
begin
  execute format('revoke select, update, delete on %s from current_user', partition);
end $$;

create function ensure_days(parent text, first_day date, days int) returns void language plpgsql as $$
declare
  day date;
begin
  perform pg_advisory_xact_lock(hashtext('ensure_days'));
  for day in select first_day + n from generate_series(0, days - 1) as n loop
    if to_regclass(format('%I', parent || '_' || to_char(day, 'YYYYMMDD'))) is null then
      begin
        execute format('create table %I partition of %I for values from (%L) to (%L)',
          parent || '_' || to_char(day, 'YYYYMMDD'), parent,
          day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
        perform only_through_whole(format('%I', parent || '_' || to_char(day, 'YYYYMMDD'))::regclass);
      exception when check_violation then
        -- The default partition already has rows of that day. They stay there, with all other rows of the day.
        null;
      end;
    end if;
  end loop;
end $$;

create function drop_days(parent text, time_column text, before date) returns void language plpgsql as $$
declare
  partition text;
begin
  for partition in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent::regclass and c.relname ~ ('^' || parent || '_\d{8}$')
      and to_date(right(c.relname, 8), 'YYYYMMDD') < before
  loop
    execute format('drop table %I', partition);
  end loop;
  -- The remaining rows before that day are in the default partition.
  execute format('delete from %I where %I < %L', parent, time_column, before::timestamp at time zone 'UTC');
end $$;

-- Workspaces ------------------------------------------------------------------------------------------------------

create table workspaces (
  id uuid primary key,
  name text not null,
  created_at timestamptz not null,
  suspended_at timestamptz,
  suspended_reason text
);
select wall_off('workspaces', 'id');

-- Keys ------------------------------------------------------------------------------------------------------------

create table api_keys (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  name text not null,
  digest bytea not null unique,
  hint text not null,
  scopes text[] not null,
  budget smallint not null check (budget between 1 and 100),
  allowed_ranges text[] not null default '{}',
  expires_at timestamptz,
  revoked_at timestamptz,
  created_by text not null,
  created_at timestamptz not null
);
create index api_keys_by_workspace on api_keys (workspace_id, created_at, id);
select wall_off('api_keys', 'workspace_id');

create table key_usage (
  key_id uuid primary key references api_keys,
  workspace_id uuid not null,
  last_used_at timestamptz not null,
  last_used_address inet not null
) with (fillfactor = 70);
select wall_off('key_usage', 'workspace_id');

-- Incremented by every change to keys and workspaces that affects access. A process compares the value with that of its
-- cached copy to see whether the copy is still valid.
-- The last column is the ID of the process that counts all rate limits in memory, while it is the only process.
create table access_revision (
  only_row boolean primary key default true check (only_row),
  value bigint not null,
  keeper uuid
);
insert into access_revision (value) values (1);

create function revise_access() returns trigger language plpgsql as $$
begin
  -- Once per transaction, however many rows it changes.
  if current_setting('parley.revised', true) is distinct from pg_current_xact_id()::text then
    perform set_config('parley.revised', pg_current_xact_id()::text, true);
    update access_revision set value = value + 1;
  end if;
  return null;
end $$;

-- Deferred to the commit, so that a transaction holds the lock on the row only for a moment.
create constraint trigger revise_access after insert or update or delete on workspaces
  deferrable initially deferred for each row execute function revise_access();
create constraint trigger revise_access after insert or update or delete on api_keys
  deferrable initially deferred for each row execute function revise_access();

-- The use of each rate limit in its current minute. Unlogged: after a crash of PostgreSQL the windows start again.
create unlogged table budget_windows (
  subject text primary key,
  opened_at timestamptz not null,
  used int not null,
  budget int not null,
  granted int not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.5);

-- Webhook endpoints -----------------------------------------------------------------------------------------------

create table webhooks (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  name text not null,
  url text not null,
  secret_sealed text not null,
  secret_hint text not null,
  events text[] not null,
  enabled boolean not null default true,
  disabled_reason text,
  last_success_at timestamptz,
  -- The failed attempts since the last successful one, and the time of the first of them.
  failures int not null default 0,
  failing_since timestamptz,
  created_at timestamptz not null,
  -- A deleted endpoint is not shown and gets no events. Its deliveries and attempts stay on record.
  deleted_at timestamptz
);
create index webhooks_by_workspace on webhooks (workspace_id, created_at, id);
select wall_off('webhooks', 'workspace_id');

-- The request log -------------------------------------------------------------------------------------------------

create table request_log (
  at timestamptz not null,
  id uuid not null,
  workspace_id uuid,
  key_id uuid,
  method text not null,
  route text not null,
  status smallint not null,
  code text,
  duration_us int not null,
  address text,
  user_agent text
) partition by range (at);
create table request_log_default partition of request_log default;
create index request_log_by_time on request_log (workspace_id, at desc, id desc);
create index request_log_refused on request_log (workspace_id, code, at desc, id desc) where code is not null;
select wall_off('request_log', 'workspace_id');
select only_through_whole('request_log_default');

-- Error responses per hour, counted while they are logged, so that listing them stays fast however long the log is.
create table refusal_hours (
  hour timestamptz not null,
  workspace_id uuid,
  code text not null,
  key_id uuid,
  address text,
  count int not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  unique nulls not distinct (workspace_id, code, hour, key_id, address)
) partition by range (hour);
create table refusal_hours_default partition of refusal_hours default;
select wall_off('refusal_hours', 'workspace_id');
select only_through_whole('refusal_hours_default');
