-- Conversations that others take part in: messages that the business wrote elsewhere, past messages, and who handles a
-- conversation.

-- step: transaction
-- Where the business wrote a message that this service did not send: business_app, agent or other; sent_by is its
-- recipient then. Null: the person wrote it. The lock lasts for an update of the catalog.
alter table inbound_messages add column source text;

-- step: transaction
-- Every change of who handles a conversation, once. The network repeats and reorders its webhooks.
create table handovers (
  sender_id uuid not null,
  -- A phone number, or the network's user ID.
  person text not null,
  occurred_at timestamptz not null,
  change text not null check (change in ('passed', 'taken')),
  workspace_id uuid not null,
  user_id text,
  previous_owner text,
  new_owner text,
  -- Two may happen within a second, which is the precision of the network.
  unique nulls not distinct (sender_id, person, occurred_at, change, previous_owner, new_owner)
);
select isolate_workspace('handovers', 'workspace_id');

-- The names under which the WhatsApp Business app of a number has saved people. Null: removed.
create table saved_contacts (
  sender_id uuid not null,
  person text not null,
  workspace_id uuid not null,
  user_id text,
  name text,
  changed_at timestamptz not null,
  primary key (sender_id, person)
);
create index saved_contacts_by_person on saved_contacts (workspace_id, person);
select isolate_workspace('saved_contacts', 'workspace_id');

-- The chunks of past messages that were imported, so that a repeated one has no second event.
create table history_chunks (
  sender_id uuid not null,
  phase int not null,
  chunk_order int not null,
  progress int not null,
  workspace_id uuid not null,
  imported_at timestamptz not null,
  primary key (sender_id, phase, chunk_order, progress)
);
select isolate_workspace('history_chunks', 'workspace_id');

-- step: concurrently
-- Echoes are few. With this, the others are counted from the index by time, without their rows.
create index concurrently inbound_messages_echoes on inbound_messages (workspace_id, recorded_at)
  where source is not null;
