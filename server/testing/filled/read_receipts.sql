insert into read_receipts (message_id, workspace_id, sender_id, wa_message_id, typing, requested_at, due_at, attempts, lease)
select pg_temp.id('inbound 1', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), 'wamid.in.1', true, pg_temp.at(1),
  pg_temp.at(1), 1, pg_temp.id('lease', w)
from generate_series(1, 2) as w;
