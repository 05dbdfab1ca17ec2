-- Statuses become cheaper: indexes of messages that do not contain the status. A later migration drops those that do.
--
-- Locks: messages and message_statuses exclusively, for a moment.

-- step: transaction
-- A status is inserted by the statement that changes its message, and messages are never deleted. The check took a lock
-- of its own on the message for each status.
-- In this order, because a transaction that inserts a status has changed its message before.
lock table messages, message_statuses in access exclusive mode;
alter table message_statuses drop constraint message_statuses_message_id_fkey;
-- Space in each page for the next versions of its messages. It applies to new pages.
alter table messages set (fillfactor = 70);

-- step: concurrently
create index concurrently messages_by_time on messages (workspace_id, created_at, id);

-- step: concurrently
-- A message is queued until the network has given it an ID or it has failed.
create index concurrently messages_queued on messages (workspace_id, created_at, id)
  where wa_message_id is null and failed_at is null;

-- step: concurrently
-- A few of these were delivered after all.
create index concurrently messages_failed on messages (workspace_id, created_at, id) where failed_at is not null;
