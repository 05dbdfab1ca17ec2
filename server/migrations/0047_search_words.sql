-- The words of messages, orders and forms, for the console's search.
--
-- Locks: messages and inbound_messages against writing, for a moment each (a new trigger).
--
-- While a process of the version before runs, it searches the newest rows, as before. The triggers work for it too: what it removes
-- or erases is also removed from these tables.

-- step: transaction
-- A block has the words of up to 4,000 objects of one kind in one workspace. Maintenance fills it. An object's key is the first
-- half of its ID, which begins with the time, so keys are in the order of time.
create table search_blocks (
  workspace_id uuid not null references workspaces on delete cascade,
  block int not null,
  kind text not null check (kind in ('message', 'inbound', 'order', 'form')),
  -- How many objects were added. It does not become less when some are removed.
  objects int not null,
  first_key bigint not null,
  last_key bigint not null,
  primary key (workspace_id, block)
) with (fillfactor = 50);
create index search_blocks_by_key on search_blocks (workspace_id, kind, last_key);
select isolate_workspace('search_blocks', 'workspace_id');

-- The objects of a block that have a word. In the order of bytes, so that a range of words has a beginning in common; a
-- comparison reveals nothing, so PostgreSQL uses the index with row-level security.
create table search_words (
  workspace_id uuid not null references workspaces on delete cascade,
  block int not null,
  -- In lower case, without accents. Words of profile names begin with "=".
  word text collate "C" not null,
  objects bigint[] not null,
  primary key (workspace_id, block, word)
) with (fillfactor = 90);
select isolate_workspace('search_words', 'workspace_id');

-- Each phone number that messages were sent to or received from, once; also backwards, to find its last digits.
create table search_numbers (
  workspace_id uuid not null references workspaces on delete cascade,
  number text collate "C" not null,
  reversed text collate "C" not null,
  primary key (workspace_id, number)
);
create index search_numbers_by_end on search_numbers (workspace_id, reversed);
select isolate_workspace('search_numbers', 'workspace_id');

-- How far it is, for all workspaces together.
create table search_progress (
  kind text primary key check (kind in ('message', 'inbound', 'order', 'form')),
  -- New objects up to this ID have been added.
  newest_id uuid not null,
  -- Up to this one, it was looked for objects that were committed late.
  checked_id uuid not null,
  -- Objects from before are added down from this ID. Null when all are.
  oldest_id uuid,
  -- If the database's clock has jumped since, objects may have older IDs.
  began_at timestamptz not null
);

-- Messages whose words are to be removed, because their contents were. The number only if the person was erased.
create table search_removals (
  workspace_id uuid not null references workspaces on delete cascade,
  kind text not null check (kind in ('message', 'inbound')),
  object_id uuid not null,
  number text
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
select isolate_workspace('search_removals', 'workspace_id');

-- step: transaction
create function remove_words_of_sent() returns trigger language plpgsql as $$
begin
  insert into search_removals (workspace_id, kind, object_id, number)
  values (old.workspace_id, 'message', old.id,
    case when old.recipient ~ '^[0-9]' and new.recipient <> old.recipient then old.recipient end);
  return null;
end $$;
-- Statuses do not set this column, so they do not call it.
create trigger remove_words_of_sent after update of content_removed_at on messages
  for each row execute function remove_words_of_sent();

-- step: transaction
-- For each statement, because a trigger for each row would not be called for the tables of older messages, which inherit.
create function remove_words_of_received() returns trigger language plpgsql as $$
begin
  insert into search_removals (workspace_id, kind, object_id, number)
  select workspace_id, 'inbound', id, case when bool_or(is_new and sent_by is null) then max(sent_by) end
  from (
    select workspace_id, id, sent_by, true as is_new from changed_to where content_removed_at is not null
    union all
    select workspace_id, id, sent_by, false from changed_from
  ) as each group by workspace_id, id having bool_or(is_new);
  return null;
end $$;
create trigger remove_words_of_received after update on inbound_messages
  referencing old table as changed_from new table as changed_to
  for each statement execute function remove_words_of_received();
