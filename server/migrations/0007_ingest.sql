-- Receiving: makes inserting inbound messages cheaper.

-- Numbers and workspaces are never deleted, and a message is inserted only for a number that was just read. Checking
-- both foreign keys again for each row took a quarter of the statement's time.
alter table inbound_messages
  drop constraint inbound_messages_workspace_id_fkey,
  drop constraint inbound_messages_sender_id_fkey;

-- The message that a message quotes. A column, because an index on a JSON field has to parse every message, even if it
-- quotes none.
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
