update webhooks set senders = array[pg_temp.id('sender', 1)], header_names = array['authorization'],
  headers_sealed = 'sealed headers', ordering = 'conversation';
update events set sender_id = pg_temp.id('sender', 1);
update deliveries set conversation = pg_temp.id('conversation', 1), position = 1;
insert into conversation_looks (webhook_id, conversation, workspace_id, look_at)
select pg_temp.id('webhook', w), pg_temp.id('conversation', w), pg_temp.id('workspace', w), pg_temp.at(5)
from generate_series(1, 2) as w;
insert into left_out_events (workspace_id, webhook_id, hour, count, is_sum)
select pg_temp.id('workspace', w), pg_temp.id('webhook', w), pg_temp.at(5), w, true from generate_series(1, 2) as w;
