-- People without phone numbers: WhatsApp's user IDs as recipients.
--
-- Locks: messages and early_statuses exclusively, for a moment each.
--
-- While a process of the version before runs: it ignores changes of user IDs and stores no user ID of a recipient.

-- step: transaction
-- messages.recipient, and recipient of outbox and flow_tokens, is the phone number that a message is sent to, or the user
-- ID if it is sent to that. A number has only digits, a user ID starts with letters.
alter table messages
  -- The recipient's user ID: the request names it, or a status reports it.
  add column recipient_user_id text;

-- step: transaction
alter table early_statuses add column recipient_user_id text;

-- step: concurrently
-- For the conversation with a person without a number.
create index concurrently inbound_messages_by_user_id on inbound_messages (workspace_id, sent_by_user_id, recorded_at, id)
  where sent_by is null;

-- step: transaction
-- WhatsApp replaces a person's user ID, for example when they change their number. A message to the old ID goes to the
-- new one.
create table user_id_changes (
  workspace_id uuid not null references workspaces,
  old_user_id text not null,
  new_user_id text not null,
  -- Whether the person changed their number too, and the new number if the network reported it.
  changed_number boolean not null,
  number text,
  changed_at timestamptz not null,
  primary key (workspace_id, old_user_id)
);
select isolate_workspace('user_id_changes', 'workspace_id');
