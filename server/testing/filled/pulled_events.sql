insert into events (id, workspace_id, type, body, created_at)
select pg_temp.id('pulled event', w), pg_temp.id('workspace', w), 'message.sent', '{}', pg_temp.at(1)
from generate_series(1, 2) as w;
