insert into replays (id, workspace_id, webhook_id, state, since, until, event_types, senders, covers, rate, created_at, ended_at,
  total, delivered, failed, is_counted, counted_at, counted_id, position_at, position_id, owner, owned_until, step_at)
select pg_temp.id('replay', w), pg_temp.id('workspace', w), pg_temp.id('webhook', w), 'completed', pg_temp.at(1), pg_temp.at(5),
  array['message.received'], array[pg_temp.id('sender', w)], 'missing', 50, pg_temp.at(5), pg_temp.at(6),
  2, 1, 1, true, pg_temp.at(5), pg_temp.id('event 1', w), pg_temp.at(5), pg_temp.id('event 1', w), pg_temp.id('process', w),
  pg_temp.at(6), pg_temp.at(6)
from generate_series(1, 2) as w;
update deliveries set replay_id = pg_temp.id('replay', 1), added_by_replay = true
where webhook_id in (pg_temp.id('webhook', 1), pg_temp.id('webhook', 2));
