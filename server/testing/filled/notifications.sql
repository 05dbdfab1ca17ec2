insert into notifications (id, workspace_id, kind, data, created_at)
select pg_temp.id('notification', w), pg_temp.id('workspace', w), 'credits_low', '{"balance": 9, "threshold": 10}', pg_temp.at(1)
from generate_series(1, 2) as w;
