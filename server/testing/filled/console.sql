select ensure_days('traffic_hours', pg_temp.at(1)::date, 2);
insert into traffic_hours (hour, workspace_id, key_id, code, count)
select pg_temp.at(day), pg_temp.id('workspace', w), pg_temp.id('key', w), 'rate_limited', 1
from generate_series(1, 2) as w, unnest(array[1, 40]) as day;

select ensure_days('delivery_hours', pg_temp.at(1)::date, 2);
insert into delivery_hours (hour, workspace_id, webhook_id, succeeded, failed, durations)
select pg_temp.at(day), pg_temp.id('workspace', w), pg_temp.id('webhook', w), 1, 1, '{1, 1}'
from generate_series(1, 2) as w, unnest(array[1, 40]) as day;

insert into muted_refusals (workspace_id, code, muted_by, muted_at)
select pg_temp.id('workspace', w), 'rate_limited', 'ada@example.com', pg_temp.at(1) from generate_series(1, 2) as w;

-- Sent from the console, and quotes another message.
insert into messages (id, workspace_id, sender_id, recipient, created_at, type, credits, content, sent_by, request_id)
select pg_temp.id('message from the console', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), '16505550123',
  pg_temp.at(3), 'text', 1, '{"text": "yes", "quotedWaMessageId": "wamid.in.2"}', 'ada@example.com',
  pg_temp.id('request 1', w)
from generate_series(1, 2) as w;

insert into events (id, workspace_id, type, body, created_at, message_id)
select pg_temp.id('event of a message', w), pg_temp.id('workspace', w), 'message.sent', '{}', pg_temp.at(1),
  pg_temp.id('message 1', w)
from generate_series(1, 2) as w;
