-- Inbound messages that are to be marked as read at the network.
--
-- Locks: none on existing tables.

-- A row is deleted when the network has accepted or refused it. A process that calls the network has its lease; when due_at
-- has passed, another process may call again. Marking a message as read twice does no harm.
create table read_receipts (
  message_id uuid primary key,
  workspace_id uuid not null,
  sender_id uuid not null,
  wa_message_id text not null,
  -- Also show that the business is typing.
  typing boolean not null,
  requested_at timestamptz not null,
  due_at timestamptz not null,
  attempts int not null default 0,
  lease uuid
) with (fillfactor = 70);
create index read_receipts_due on read_receipts (sender_id, due_at, message_id);
select isolate_workspace('read_receipts', 'workspace_id');
