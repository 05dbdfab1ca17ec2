update webhooks set disabled_at = pg_temp.at(5) where id in (pg_temp.id('webhook', 1), pg_temp.id('webhook', 2));
insert into endpoint_steps (webhook_id, workspace_id, work, asked_at, position_at, position, done, step_at)
select pg_temp.id('webhook', w), pg_temp.id('workspace', w), 'rotate', pg_temp.at(5), pg_temp.at(4), pg_temp.id('event', w), w, pg_temp.at(5)
from generate_series(1, 2) as w;
