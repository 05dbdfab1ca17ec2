update workspaces set inspects_requests = true;

select ensure_days('request_errors', pg_temp.at(1)::date, 2), ensure_days('request_bodies', pg_temp.at(1)::date, 2);

insert into request_errors (at, request_id, workspace_id, target, response, response_state)
select pg_temp.at(1), pg_temp.id('request 1', w), pg_temp.id('workspace', w), '/v1/messages', '{"error":{}}', 'stored'
from generate_series(1, 2) as w;

insert into request_bodies (at, request_id, workspace_id, target, request, request_state, response, response_state)
select pg_temp.at(1), pg_temp.id('request 2', w), pg_temp.id('workspace', w), '/v1/messages', '{"type":"text"}', 'stored',
  '{"object":"message"}', 'stored'
from generate_series(1, 2) as w;

insert into request_body_removals (workspace_id, until)
select pg_temp.id('workspace', w), pg_temp.at(1) from generate_series(1, 2) as w;
