insert into endpoint_visits (webhook_id, workspace_id, visit_at, step)
select pg_temp.id('webhook', w), pg_temp.id('workspace', w), pg_temp.at(5), 1 from generate_series(1, 2) as w;
