-- Keeps clients without a key, and workspaces, from using up what others need.

-- step: transaction
-- Requests without a valid API key, counted by minute. Anyone can send them, so only the first of each client, error and
-- minute are in the request log. They belong to no workspace, so there is no row-level security. Before, they were counted
-- in refusal_hours without a workspace; those rows stay until they expire.
create table unauthenticated_minutes (
  minute timestamptz not null,
  -- Null: a public route, or the client disconnected before the response.
  code text,
  -- An IPv4 address or a /64 of IPv6. Null: all clients beyond the limit of one minute.
  client text,
  count bigint not null,
  -- How many of them are in the request log.
  logged bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  unique nulls not distinct (minute, code, client)
) partition by range (minute);

-- step: concurrently
-- Files are claimed from every workspace in turn.
create index concurrently flow_files_due_by_workspace on flow_files (workspace_id, due_at, id) where state in ('waiting', 'fetching');

-- step: concurrently
drop index concurrently flow_files_due;
