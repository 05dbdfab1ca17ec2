-- Messages are found by WhatsApp's ID by the unique index for it.
--
-- A statement is planned while the table is almost empty, and then an index on the sender alone seems just as good. It made
-- each status read all messages of its sender, until PostgreSQL had analyzed the table. An index that begins with the
-- workspace cannot be chosen for that.
--
-- While a process of the version before runs, its page of senders is slower.
--
-- Locks: none that stop reading or writing.

-- step: concurrently
create index concurrently messages_of_sender on messages (workspace_id, sender_id, created_at, id);

-- step: concurrently
drop index concurrently messages_by_sender;
