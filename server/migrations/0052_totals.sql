-- Lists count their items up to 10,000, in indexes. The blocks that counted inbound messages are gone.
--
-- contract: needs 23
--
-- Locks: none on tables in use. The indexes are built concurrently.

-- step: concurrently
-- The types that an inbound message rarely has, for the filter by type.
create index concurrently inbound_messages_by_type on inbound_messages (workspace_id, type, recorded_at, id)
  where type <> 'text';

-- step: concurrently
drop index concurrently inbound_messages_by_rare_type;

-- step: concurrently
-- Lists are in the order of recording. This has the messages that were recorded long after they were sent, or before, so that a range
-- of received_at is also a range of recorded_at for all others.
create index concurrently inbound_messages_untimely on inbound_messages (workspace_id, recorded_at, id)
  where not (recorded_at - received_at between interval '-1 hour' and interval '1 hour');

-- step: transaction
drop table inbound_blocks;
