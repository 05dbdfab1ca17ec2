-- Receiving: makes inserting inbound messages cheaper.
--
-- Locks: both tables of messages exclusively, for a moment each. The rows are changed in batches.

-- step: transaction
-- Numbers and workspaces are never deleted, and a message is inserted only for a number that was just read. Checking
-- both foreign keys again for each row took a quarter of the statement's time.
alter table inbound_messages
  drop constraint inbound_messages_workspace_id_fkey,
  drop constraint inbound_messages_sender_id_fkey,
  -- The message that a message quotes. A column, because an index on a JSON field has to parse every message, even if it
  -- quotes none.
  add column quoted_wa_message_id text;

-- step: batches of inbound_messages
update inbound_messages set quoted_wa_message_id = content ->> 'quotedWaMessageId'
  where ctid >= $1 and ctid < $2
    and quoted_wa_message_id is null and content ->> 'quotedWaMessageId' is not null;

-- step: concurrently
create index concurrently inbound_messages_by_quoted_id on inbound_messages (sender_id, quoted_wa_message_id)
  where quoted_wa_message_id is not null;

-- step: concurrently
drop index concurrently inbound_messages_by_quoted;

-- step: transaction
alter index inbound_messages_by_quoted_id rename to inbound_messages_by_quoted;

-- step: transaction
alter table messages add column quoted_wa_message_id text;

-- step: batches of messages
update messages set quoted_wa_message_id = content ->> 'quotedWaMessageId'
  where ctid >= $1 and ctid < $2
    and quoted_wa_message_id is null and content ->> 'quotedWaMessageId' is not null;

-- step: concurrently
create index concurrently messages_by_quoted_id on messages (sender_id, quoted_wa_message_id)
  where quoted_wa_message_id is not null;

-- step: concurrently
drop index concurrently messages_by_quoted;

-- step: transaction
alter index messages_by_quoted_id rename to messages_by_quoted;
