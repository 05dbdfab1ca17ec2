-- Receiving: what every message cost beyond its rows.

-- Numbers and workspaces are never deleted, and a message is written only for a number that was found just before: asking
-- for both once more, row by row, was a quarter of the statement.
alter table inbound_messages
  drop constraint inbound_messages_workspace_id_fkey,
  drop constraint inbound_messages_sender_id_fkey;

-- Which message a message answers. As a column, for an index over what is inside of JSON parses each message to find
-- that it has none.
drop index inbound_messages_by_quoted;
alter table inbound_messages add column quoted_wa_message_id text;
update inbound_messages set quoted_wa_message_id = content ->> 'quotedWaMessageId'
  where content ->> 'quotedWaMessageId' is not null;
create index inbound_messages_by_quoted on inbound_messages (sender_id, quoted_wa_message_id)
  where quoted_wa_message_id is not null;

drop index messages_by_quoted;
alter table messages add column quoted_wa_message_id text;
update messages set quoted_wa_message_id = content ->> 'quotedWaMessageId'
  where content ->> 'quotedWaMessageId' is not null;
create index messages_by_quoted on messages (sender_id, quoted_wa_message_id)
  where quoted_wa_message_id is not null;
