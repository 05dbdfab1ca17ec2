insert into workspaces (id, name, created_at, suspended_at, suspended_reason)
select pg_temp.id('workspace', w), 'Workspace ' || w, pg_temp.at(1), pg_temp.at(2), 'unpaid'
from generate_series(1, 2) as w;

insert into api_keys (id, workspace_id, name, digest, hint, scopes, budget, allowed_ranges, expires_at, revoked_at,
  created_by, created_at)
select pg_temp.id('key', w), pg_temp.id('workspace', w), 'Key', decode(md5('key' || w), 'hex'), 'prl_', '{messages:send}',
  60, '{127.0.0.1/32}', pg_temp.at(9), pg_temp.at(8), 'the command line', pg_temp.at(1)
from generate_series(1, 2) as w;

insert into key_usage (key_id, workspace_id, last_used_at, last_used_address)
select pg_temp.id('key', w), pg_temp.id('workspace', w), pg_temp.at(2), '127.0.0.1' from generate_series(1, 2) as w;

update access_revision set keeper = pg_temp.id('process', 1);

insert into budget_windows (subject, opened_at, used, budget, granted)
select 'key ' || w, pg_temp.at(2), 3, 60, 10 from generate_series(1, 2) as w;

insert into webhooks (id, workspace_id, name, url, secret_sealed, secret_hint, events, disabled_reason, last_success_at,
  failures, failing_since, created_at, deleted_at)
select pg_temp.id('webhook', w), pg_temp.id('workspace', w), 'Endpoint', 'https://example.com/', 'k1:sealed', 'abcd',
  '{message.received}', 'failed too often', pg_temp.at(2), 20, pg_temp.at(3), pg_temp.at(1), pg_temp.at(4)
from generate_series(1, 2) as w;

-- Partitioned tables get rows in a daily partition (day 1) and in the default partition (day 40).
select ensure_days('request_log', pg_temp.at(1)::date, 2);
insert into request_log (at, id, workspace_id, key_id, method, route, status, code, duration_us, address, user_agent)
select pg_temp.at(day), pg_temp.id('request ' || day, w), pg_temp.id('workspace', w), pg_temp.id('key', w), 'GET', '/v1/me',
  429, 'rate_limited', 900, '127.0.0.1', 'curl'
from generate_series(1, 2) as w, unnest(array[1, 40]) as day;

select ensure_days('refusal_hours', pg_temp.at(1)::date, 2);
insert into refusal_hours (hour, workspace_id, code, key_id, address, count, first_at, last_at)
select pg_temp.at(day), pg_temp.id('workspace', w), 'rate_limited', pg_temp.id('key', w), '127.0.0.1', 1, pg_temp.at(day),
  pg_temp.at(day)
from generate_series(1, 2) as w, unnest(array[1, 40]) as day;
