-- The log of API requests, and what is counted while it is written.

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
create index request_log_by_time on request_log (workspace_id, at desc, id desc);
create index request_log_refused on request_log (workspace_id, code, at desc, id desc) where code is not null;
-- Request IDs grow with time, so a small BRIN index is enough to find one.
create index request_log_by_id on request_log using brin (id) with (autosummarize = on);
select isolate_workspace('request_log', 'workspace_id');

-- Requests by key, error code and hour, counted while they are logged. Successful requests have no code.
create table traffic_hours (
  hour timestamptz not null,
  workspace_id uuid,
  key_id uuid,
  code text,
  count int not null,
  unique nulls not distinct (workspace_id, hour, key_id, code)
) partition by range (hour);
select isolate_workspace('traffic_hours', 'workspace_id');

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
select isolate_workspace('refusal_hours', 'workspace_id');

-- Groups of API errors that were muted in the console.
create table muted_refusals (
  workspace_id uuid not null references workspaces,
  code text not null,
  muted_by text not null,
  muted_at timestamptz not null,
  primary key (workspace_id, code)
);
select isolate_workspace('muted_refusals', 'workspace_id');

-- Requests without a valid API key, counted by minute. Anyone can send them, so only the first of each client, error
-- and minute are in the request log. They belong to no workspace, so there is no row-level security.
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

-- Error responses as they were sent, with their field errors. All values that a client sent are redacted.
create table request_errors (
  at timestamptz not null,
  request_id uuid not null,
  workspace_id uuid not null,
  -- The path and the query string, redacted.
  target text not null,
  response text not null,
  -- "stored", or "truncated" if some field errors were left out.
  response_state text not null
) partition by range (at);
create index request_errors_by_request on request_errors (workspace_id, request_id);
select isolate_workspace('request_errors', 'workspace_id');

-- Redacted bodies. An error response is in request_errors instead.
create table request_bodies (
  at timestamptz not null,
  request_id uuid not null,
  workspace_id uuid not null,
  target text not null,
  request text,
  -- Null if the request had no body; otherwise a value of `bodyStates`.
  request_state text,
  response text,
  response_state text
) partition by range (at);
create index request_bodies_by_request on request_bodies (workspace_id, request_id);
select isolate_workspace('request_bodies', 'workspace_id');

-- Workspaces that turned the inspector off: their bodies from before that time are not shown, and maintenance deletes
-- them.
create table request_body_removals (
  workspace_id uuid primary key,
  until timestamptz not null
);
select isolate_workspace('request_body_removals', 'workspace_id');
