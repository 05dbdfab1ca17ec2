-- Counts of inbound messages, so that the API lists them and says how many there are without reading all of them.
--
-- Locks: none on existing tables.

-- A block has about 5,000 messages of a workspace that were recorded one after another. Maintenance counts it some minutes
-- later: all messages, those of each sender, of each type, and of each type of each sender. A day later it confirms the count.
-- Messages that are moved to the tables of older messages stay in their block. A program that deletes inbound messages
-- has to delete the blocks of their workspace too; maintenance counts again.
create table inbound_blocks (
  workspace_id uuid not null,
  -- 00000000-0000-0000-0000-000000000000: of all senders.
  sender_id uuid not null,
  -- Empty: of all types.
  type text not null,
  -- Messages that were recorded at first_at or later, and before end_at. The next block begins at end_at.
  first_at timestamptz not null,
  end_at timestamptz not null,
  messages int not null,
  first_received_at timestamptz not null,
  last_received_at timestamptz not null,
  -- False until the block is confirmed, in the row of all senders and all types. The other rows have true.
  confirmed boolean not null,
  primary key (workspace_id, sender_id, type, first_at)
);
create index inbound_blocks_to_confirm on inbound_blocks (end_at) where not confirmed;
select isolate_workspace('inbound_blocks', 'workspace_id');
