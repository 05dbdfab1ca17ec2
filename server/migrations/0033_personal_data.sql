-- What is kept about people: contents that are removed after a time, and people who are erased.
--
-- Locks: messages, inbound_messages and flow_responses exclusively, for a moment each (a new column without a default).
--
-- While a process of the version before runs: it shows a message whose content was removed as an empty one, and a status of an
-- erased person's message that it records brings back their user ID. Erase people after the upgrade.

-- step: transaction
-- When the content was removed: content is {"request": null} then. For an erased person, recipient is empty, and the network's
-- ID, which contains the number, is replaced by "erased:" and our ID.
alter table messages add column content_removed_at timestamptz;

-- step: transaction
-- The same: content is {} then, and the profile name is null. For an erased person, sent_by and sent_by_user_id are null.
alter table inbound_messages add column content_removed_at timestamptz;

-- step: transaction
-- The same: response is {} then.
alter table flow_responses add column content_removed_at timestamptz;

-- step: transaction
-- How far the removal of old contents is. Our IDs begin with the time, so each run continues where the last one ended.
create table content_removals (
  direction text primary key check (direction in ('sent', 'received')),
  -- The last message that was looked at.
  position uuid not null,
  -- When the first message was looked at. If the database's clock has jumped since, older messages may have been added.
  began_at timestamptz not null
);

-- People whose data are erased, in steps that a process takes for all. What identifies the person is in the row only until
-- the erasure has ended.
create table erasures (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  -- Who asked for it: an email address, or the command line.
  asked_by text not null,
  asked_at timestamptz not null,
  -- The number or user ID that was named; null at the end.
  number text,
  user_id text,
  -- All that are known of the person; null before they were looked up, and at the end.
  numbers text[],
  user_ids text[],
  step_at timestamptz not null,
  ended_at timestamptz,
  -- How many rows were changed or removed so far, by kind.
  removed json not null default '{}'
);
create index erasures_open on erasures (step_at) where ended_at is null;
create index erasures_by_workspace on erasures (workspace_id, asked_at desc, id desc);
select isolate_workspace('erasures', 'workspace_id');
