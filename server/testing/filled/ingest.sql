-- The quoted message is in the column. For inbound messages it is no longer in the content.
insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, type, received_at, recorded_at, content,
  quoted_wa_message_id)
select pg_temp.id('inbound with a column', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), 'wamid.in.3',
  '16505550123', 'text', pg_temp.at(3), pg_temp.at(3), '{"text": "yes"}', 'wamid.out.1'
from generate_series(1, 2) as w;

insert into messages (id, workspace_id, sender_id, recipient, created_at, type, credits, content, sent_by,
  quoted_wa_message_id)
select pg_temp.id('message with a column', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), '16505550123',
  pg_temp.at(3), 'text', 1, '{"text": "yes", "quotedWaMessageId": "wamid.in.3"}', 'ada@example.com', 'wamid.in.3'
from generate_series(1, 2) as w;
