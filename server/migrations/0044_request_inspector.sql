-- The request inspector: bodies of requests, for workspaces that turn it on, and error responses of all workspaces.

-- step: transaction
-- A constant default, so the table is not rewritten.
alter table workspaces
  -- Whether request and response bodies are stored.
  add column inspects_requests boolean not null default false;

-- step: transaction
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

-- Workspaces that turned the inspector off: their bodies from before that time are not shown, and maintenance deletes them.
create table request_body_removals (
  workspace_id uuid primary key,
  until timestamptz not null
);
select isolate_workspace('request_body_removals', 'workspace_id');
